//! The allocator's state at any instant, against a plain walk over the file's own rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use report::analyze::snapshot::state::{
    Fragmentation, State, fragmentation, fragmentation_of, pinning_lines, pins, pools, untold,
};
use report::analyze::snapshot::{Analysis, Instant};
use report::model::Rank;
use report::model::snapshot::{Action, BlockState, PoolId, Snapshot, TraceId};

use super::fixtures::{SNAPSHOTS, load};
use super::properties::history;
use crate::random::config;

fn analysis(rank: Rank) -> Analysis {
    Analysis::of(Arc::new(rank)).unwrap()
}

/// By address: requested bytes, and whether the block waits for another stream.
type Blocks = BTreeMap<u64, (u64, bool)>;

/// Blocks and reserved bytes before the first event and after each, walked backwards from the end.
fn walked(a: &Analysis) -> Vec<(Blocks, u64)> {
    let s: &Snapshot = a.snapshot();
    let segments: Vec<_> = s.segments.iter().filter(|g| g.device == a.device).collect();
    let mut reserved: u64 = segments.iter().map(|g| g.total_size).sum();
    let mut blocks: Blocks = segments
        .iter()
        .flat_map(|g| s.blocks.of(g))
        .filter(|b| b.is_active())
        .map(|b| {
            let pending = b.state == BlockState::PendingFree;
            (b.address, (b.requested.unwrap(), pending))
        })
        .collect();
    let mut out = vec![(blocks.clone(), reserved)];
    for i in a.replay.events().rev() {
        let row = s.events.row(i);
        match row.action {
            Action::Alloc => assert!(blocks.remove(&row.address).is_some()),
            Action::FreeRequested => blocks.get_mut(&row.address).unwrap().1 = false,
            Action::FreeCompleted => {
                assert!(blocks.insert(row.address, (row.size, true)).is_none());
            }
            Action::SegmentAlloc | Action::SegmentMap => reserved -= row.size,
            Action::SegmentFree | Action::SegmentUnmap => reserved += row.size,
            _ => {}
        }
        out.push((blocks.clone(), reserved));
    }
    out.reverse();
    out
}

fn blocks_of(a: &Analysis, state: &State) -> Blocks {
    let blocks = state.spans.iter().flat_map(|h| &h.blocks);
    blocks
        .filter_map(|b| {
            let id = b.allocation?;
            let pending = b.state == BlockState::PendingFree;
            Some((b.address, (a.replay.allocations.size(id), pending)))
        })
        .collect()
}

/// What must hold of any state; `i` counts from before the first event.
fn check(a: &Analysis, i: usize, blocks: &Blocks, reserved: u64, what: &str) -> Fragmentation {
    let at = i
        .checked_sub(1)
        .map(|n| TraceId((a.replay.events().start + n) as u32));
    let instant = at.map_or(Instant::Start, Instant::Event);
    let state = a.state_at(instant);
    let f = fragmentation(&a.replay, &state);
    assert!(state.outside.is_empty(), "{what} {i}");
    assert_eq!(&blocks_of(a, &state), blocks, "{what} {i}");
    assert_eq!(f.reserved, reserved, "{what} {i}: reserved");
    assert_eq!(
        a.replay.value(&a.replay.reserved, at),
        reserved,
        "{what} {i}"
    );
    // The end is the snapshot's own, and the blocks of made histories are not an allocator's.
    if what != "made" || at != a.replay.last_event() {
        let allocated = a.replay.value(&a.replay.allocated, at);
        assert_eq!(f.allocated, allocated, "{what} {i}: allocated");
    }
    let requested: u64 = blocks.values().map(|b| b.0).sum();
    assert_eq!(
        a.replay.value(&a.replay.requested, at),
        requested,
        "{what} {i}"
    );
    assert_eq!(f.active() - f.rounding, requested, "{what} {i}: active");
    assert_eq!(f.active() + f.free(), reserved, "{what} {i}: free");
    // Blocks lie side by side and fill their ranges.
    for here in &state.spans {
        let span = a.replay.spans.get(here.span).unwrap();
        let mut next = span.address;
        for b in &here.blocks {
            assert_eq!((b.address, b.size > 0), (next, true), "{what} {i}");
            for address in [b.address, b.address + b.size - 1] {
                let found = state.block_at(&a.replay, address).map(|(_, b)| b);
                assert_eq!(found, Some(*b), "{what} {i}");
            }
            next += b.size;
        }
        assert_eq!(next, span.end(), "{what} {i}");
    }
    // Pools and ranges add up to the whole.
    let sum = |mut parts: Box<dyn Iterator<Item = Fragmentation> + '_>| {
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |x, y| Fragmentation {
            reserved: x.reserved + y.reserved,
            allocated: x.allocated + y.allocated,
            pending: x.pending + y.pending,
            free_in_used: x.free_in_used + y.free_in_used,
            free_in_unused: x.free_in_unused + y.free_in_unused,
            largest_free: x.largest_free.max(y.largest_free),
            inactive_split: x.inactive_split + y.inactive_split,
            rounding: x.rounding + y.rounding,
        })
    };
    let by_pool = pools(&a.replay, &state);
    assert_eq!(
        sum(Box::new(by_pool.iter().map(|p| p.figures))),
        f,
        "{what} {i}"
    );
    let by_range = state.spans.iter().map(|h| fragmentation_of(&a.replay, h));
    assert_eq!(sum(Box::new(by_range)), f, "{what} {i}");
    // What pins hold is free, and cannot go back.
    let held: u64 = pins(&a.replay, &state).iter().map(|p| p.held).sum();
    assert_eq!(held, f.free_in_used, "{what} {i}");
    f
}

#[test]
fn states_are_those_of_a_backward_walk() {
    for (fixture, file, _) in SNAPSHOTS {
        let a = analysis(load(fixture, file));
        let all = walked(&a);
        // A step that shares no factor with the pattern of a training step.
        for i in (0..all.len()).step_by((all.len() / 37).max(1)) {
            check(&a, i, &all[i].0, all[i].1, fixture);
        }
        check(
            &a,
            all.len() - 1,
            &all[all.len() - 1].0,
            all[all.len() - 1].1,
            fixture,
        );
    }
}

#[test]
fn pending_frees_are_seen_while_another_stream_works() {
    let a = analysis(load("multi_stream", "snapshot.pickle.xz"));
    let all = walked(&a);
    let alone = |i: usize| {
        // Between a free and its completion in the next entry a block waits in any run.
        let row = |n: usize| a.snapshot().events.row(a.replay.events().start + n);
        i == 0 || i >= all.len() - 1 || row(i).action != Action::FreeCompleted
    };
    let waiting: Vec<usize> = (0..all.len())
        .filter(|&i| alone(i) && all[i].0.values().any(|b| b.1))
        .collect();
    assert!(!waiting.is_empty());
    for &i in waiting.iter().step_by((waiting.len() / 20).max(1)) {
        let f = check(&a, i, &all[i].0, all[i].1, "multi_stream");
        let asked: u64 = all[i].0.values().filter(|b| b.1).map(|b| b.0).sum();
        assert!(f.pending >= asked && asked > 0);
    }
}

#[test]
fn a_late_beginning_says_what_it_does_not_tell() {
    let a = analysis(load("ring_overflow", "snapshot.pickle.xz"));
    let (first, _) = &walked(&a)[0];
    let state = a.state_at(Instant::Start);
    let told = untold(&a.replay, &state);
    assert_eq!(told.before, first.len() as u64);
    assert_eq!(told.before_bytes, first.values().map(|b| b.0).sum::<u64>());
    // Blocks that are freed in the history have no stack: that of the free is not theirs.
    let s = a.snapshot();
    let freed = |address: &u64| {
        let mut rows = a.replay.events().map(|i| s.events.row(i));
        rows.find(|r| r.address == *address && !r.action.is_segment())
            .is_some_and(|r| r.action.is_free())
    };
    let stackless = first.keys().filter(|address| freed(address)).count() as u64;
    assert!(told.stackless >= stackless && stackless > 0);
    assert!(told.rounded >= stackless);
    let whole = analysis(load("oom_fragmentation", "snapshot.pickle"));
    let end = whole.state_at(Instant::End);
    let told = untold(&whole.replay, &end);
    assert_eq!((told.before, told.rounded), (0, 0));
    assert!(whole.state_at(Instant::Start).spans.is_empty());
}

#[test]
fn private_pools_stand_apart() {
    let a = analysis(load("cuda_graphs", "snapshot.pickle"));
    let state = a.state_at(Instant::End);
    let s = a.snapshot();
    let mut reserved: BTreeMap<PoolId, u64> = BTreeMap::new();
    for g in s.segments.iter() {
        *reserved
            .entry(s.pools[g.pool.unwrap().0 as usize])
            .or_default() += g.total_size;
    }
    assert!(reserved.len() > 1);
    // torch 2.11 has no pools in its events: they are those of the segments that the events made.
    for at in [Instant::End, Instant::Event(TraceId(a.replay.past - 2))] {
        let mut mine: BTreeMap<PoolId, u64> = BTreeMap::new();
        for p in pools(&a.replay, &a.state_at(at)) {
            let id = s.pools[p.pool.unwrap().0 as usize];
            *mine.entry(id).or_default() += p.figures.reserved;
        }
        assert_eq!(mine, reserved);
    }
    assert_eq!(
        fragmentation(&a.replay, &state).reserved,
        reserved.values().sum::<u64>()
    );
}

#[test]
fn one_line_pins_a_fragmented_run() {
    let a = analysis(load("oom_fragmentation", "snapshot.pickle"));
    let state = a.state_at(Instant::Oom(0));
    let held = pins(&a.replay, &state);
    let lines = pinning_lines(&a.replay, a.sites(), &held);
    let f = fragmentation(&a.replay, &state);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = lines[0];
    assert_eq!(
        (line.spans, line.blocks),
        (held.len() as u64, held.len() as u64)
    );
    assert_eq!((line.live, line.held), (f.allocated, f.free_in_used));
    assert_eq!(line.live, line.blocks * (40 << 20));
    assert!(line.line.is_some());
    // The request failed though more than it asked for is free.
    let oom = a.event_of(Instant::Oom(0)).unwrap();
    let asked = a.snapshot().events.row(oom.index()).size;
    assert!(f.free() > asked && f.largest_free < asked);
}

#[test]
fn what_empty_cache_unmaps_was_said_to_go_back() {
    let a = analysis(load("expandable_same_work", "snapshot.pickle"));
    let all = walked(&a);
    let s = a.snapshot();
    let start = a.replay.events().start;
    let unmap = |n: usize| {
        a.replay.events().contains(&(start + n))
            && s.events.row(start + n).action == Action::SegmentUnmap
    };
    let mut runs = 0;
    for (i, at) in all.iter().enumerate().take(all.len() - 1) {
        if !unmap(i) || (i > 0 && unmap(i - 1)) {
            continue;
        }
        let f = check(&a, i, &at.0, at.1, "before unmapping");
        let run = (i..).take_while(|&n| unmap(n));
        let gone: u64 = run.map(|n| s.events.row(start + n).size).sum();
        assert!(gone <= f.free_in_unused, "{i}: {gone} {f:?}");
        runs += 1;
    }
    assert!(runs > 0);
}

#[test]
fn segment_events_are_found_both_ways() {
    for fixture in ["expandable_same_work", "cuda_graphs"] {
        let a = analysis(load(fixture, "snapshot.pickle"));
        let rows: Vec<TraceId> = a
            .replay
            .events()
            .filter(|&i| {
                a.snapshot()
                    .events
                    .row(i)
                    .action
                    .word()
                    .starts_with("segment_")
            })
            .map(|i| TraceId(i as u32))
            .collect();
        assert!(rows.len() > 2);
        assert_eq!(a.segment_event_after(None), rows.first().copied());
        assert_eq!(a.segment_event_before(None), None);
        for pair in rows.windows(2) {
            assert_eq!(a.segment_event_after(Some(pair[0])), Some(pair[1]));
            assert_eq!(a.segment_event_before(Some(pair[1])), Some(pair[0]));
        }
        assert_eq!(a.segment_event_after(rows.last().copied()), None);
    }
}

proptest! {
    #![proptest_config(config(100))]

    /// Any history, with or without its beginning, at any instant.
    #[test]
    fn any_state_is_that_of_a_backward_walk(
        choices in proptest::collection::vec(any::<u8>(), 1..120),
        cut in 0..120usize,
        at in any::<prop::sample::Index>(),
    ) {
        let Some(a) = Analysis::of(Arc::new(history(&choices, cut))) else {
            return Ok(());
        };
        let all = walked(&a);
        let i = at.index(all.len());
        check(&a, i, &all[i].0, all[i].1, "made");
    }
}
