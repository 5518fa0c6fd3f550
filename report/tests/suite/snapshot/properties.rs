//! What must hold for any history.

use std::collections::BTreeMap;

use proptest::prelude::*;
use report::analyze::snapshot::replay::{Replay, replay};
use report::analyze::snapshot::{live, state};
use report::model::snapshot::{Action, Device, Snapshot, TraceId};
use report::model::{Rank, Report};

use super::fixtures::{SNAPSHOTS, load, main_replay, snapshot};
use super::make;
use crate::bodies::snapshot_answers;
use crate::random::config;

/// Requested and reserved bytes after each event, walking backwards from the final state.
fn backward(snapshot: &Snapshot, device: Device) -> (Vec<u64>, Vec<u64>, u64, u64) {
    let range = snapshot.trace(device);
    let segments: Vec<_> = snapshot
        .segments
        .iter()
        .filter(|s| s.device == device)
        .collect();
    let mut reserved: u64 = segments.iter().map(|s| s.total_size).sum();
    let blocks = segments.iter().flat_map(|s| snapshot.blocks.of(s));
    let mut live: BTreeMap<u64, u64> = blocks
        .filter(|b| b.is_active())
        .map(|b| (b.address, b.requested.unwrap()))
        .collect();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in range.rev() {
        a.push(live.values().sum());
        b.push(reserved);
        let row = snapshot.events.row(i);
        match row.action {
            Action::Alloc => assert_eq!(live.remove(&row.address), Some(row.size)),
            Action::FreeCompleted => assert_eq!(live.insert(row.address, row.size), None),
            Action::SegmentAlloc | Action::SegmentMap => reserved -= row.size,
            Action::SegmentFree | Action::SegmentUnmap => reserved += row.size,
            _ => {}
        }
    }
    a.reverse();
    b.reverse();
    (a, b, live.values().sum(), reserved)
}

fn check_both_ways(snapshot: &Snapshot, replay: &Replay) {
    let (requested, reserved, first, first_reserved) = backward(snapshot, replay.device);
    assert_eq!(replay.requested.after, requested);
    assert_eq!(replay.reserved.after, reserved);
    assert_eq!(replay.requested.start, first);
    assert_eq!(replay.reserved.start, first_reserved);
}

#[test]
fn fixtures_forward_as_backward() {
    for (fixture, file, _) in SNAPSHOTS {
        let rank = load(fixture, file);
        let (_, replay) = main_replay(&rank);
        check_both_ways(snapshot(&rank), &replay);
    }
}

#[test]
fn live_sets_and_states_as_a_walk() {
    for (fixture, file, _) in SNAPSHOTS {
        let rank = load(fixture, file);
        let (_, replay) = main_replay(&rank);
        let index = live::LiveIndex::of(&replay);
        let events = replay.events();
        for i in events.clone().step_by((events.len() / 40).max(1)) {
            let at = TraceId(i as u32);
            let found = index.after(&replay, at);
            let walked: Vec<_> = replay
                .allocations
                .iter()
                .filter(|(_, a)| a.lives_after(at))
                .map(|(id, _)| id)
                .collect();
            assert_eq!(found, walked, "{fixture} {i}");
            let bytes: u64 = found.iter().map(|&id| replay.allocations.size(id)).sum();
            assert_eq!(
                bytes,
                replay.requested.after[i - events.start],
                "{fixture} {i}"
            );
            let state = state::after(&replay, &index, at);
            let f = state::fragmentation(&replay, &state);
            assert!(state.outside.is_empty(), "{fixture} {i}");
            assert_eq!(
                f.reserved,
                replay.reserved.after[i - events.start],
                "{fixture} {i}"
            );
            if replay.coverage.whole {
                assert_eq!(
                    f.allocated,
                    replay.allocated.after[i - events.start],
                    "{fixture} {i}"
                );
            }
            let sum = f.allocated + f.pending + f.free_in_used + f.free_in_unused;
            assert_eq!(sum, f.reserved, "{fixture} {i}");
        }
    }
}

#[test]
fn fixtures_survive_the_container() {
    for (fixture, file, _) in SNAPSHOTS {
        crate::bodies::repack(&Report::of(vec![load(fixture, file)]));
    }
}

/// A history of one segment of 64 slots of 4 MiB, cut at `cut`, with its final state.
pub(super) fn history(choices: &[u8], cut: usize) -> Rank {
    const SLOT: u64 = 4 << 20;
    const BASE: u64 = 0x7000_0000_0000;
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    let mut events = vec![("segment_alloc", BASE, 64 * SLOT)];
    for (i, &c) in choices.iter().enumerate() {
        let address = BASE + u64::from(c % 64) * SLOT;
        match used.remove(&address) {
            Some(size) => {
                events.push(("free_requested", address, size));
                events.push(("free_completed", address, size));
            }
            None => {
                let size = SLOT - 512 * (i as u64 % 7) - u64::from(c);
                used.insert(address, size);
                events.push(("alloc", address, size));
            }
        }
    }
    let mut blocks = Vec::new();
    for slot in 0..64 {
        let address = BASE + slot * SLOT;
        blocks.push((address, SLOT, used.get(&address).copied().unwrap_or(0)));
    }
    let kept = events.split_off(cut.min(events.len()));
    let pickle = make::snapshot(&kept, &[(BASE, 64 * SLOT, blocks)]);
    report::read::snapshot::read_pickle("made", &pickle[..]).unwrap()
}

proptest! {
    #![proptest_config(config(200))]

    /// However much of the beginning is lost, the figures of what is left are those of the whole.
    #[test]
    fn a_lost_beginning_changes_no_figure(
        choices in proptest::collection::vec(any::<u8>(), 0..200),
        cut in 0..300usize,
    ) {
        let whole = history(&choices, 0);
        let part = history(&choices, cut);
        let (a, b) = (snapshot(&whole), snapshot(&part));
        let (x, y) = (replay(a, Device(0)), replay(b, Device(0)));
        check_both_ways(a, &x);
        check_both_ways(b, &y);
        let lost = x.requested.after.len() - y.requested.after.len();
        prop_assert_eq!(&x.requested.after[lost..], &y.requested.after[..]);
        prop_assert_eq!(&x.reserved.after[lost..], &y.reserved.after[..]);
        prop_assert!(x.findings.rows.is_empty(), "{:?}", x.findings);
        snapshot_answers(&part);
        crate::bodies::repack(&Report::of(vec![part]));
    }
}
