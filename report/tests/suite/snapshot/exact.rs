//! The allocator's own figures, to the byte.

use report::model::snapshot::{BlockState, Size};

use super::fixtures::{SNAPSHOTS, load, main_replay, snapshot, truth};

#[test]
fn end_and_peak_equal_the_allocators_own() {
    let mut wrong = Vec::new();
    for (fixture, file, whole) in SNAPSHOTS {
        let rank = load(fixture, file);
        let (_, replay) = main_replay(&rank);
        let truth = truth(fixture);
        let stat = |name: &str| truth["memory_stats"][name].as_u64().unwrap();
        let mut check = |what: &str, mine: u64, its: u64| {
            println!("{fixture:24} {what:20} {mine:>14} {its:>14}");
            if mine != its {
                wrong.push(format!(
                    "{fixture} {what}: replayed {mine}, allocator {its}"
                ));
            }
        };
        check(
            "requested end",
            replay.requested.end(),
            stat("requested_bytes.all.current"),
        );
        check(
            "reserved end",
            replay.reserved.end(),
            stat("reserved_bytes.all.current"),
        );
        if whole {
            check(
                "requested peak",
                replay.peak_requested().bytes,
                stat("requested_bytes.all.peak"),
            );
            check(
                "reserved peak",
                replay.peak_reserved().bytes,
                stat("reserved_bytes.all.peak"),
            );
            check(
                "allocated end",
                replay.allocated.end(),
                stat("allocated_bytes.all.current"),
            );
            check(
                "allocated peak",
                replay.peak_allocated().bytes,
                stat("allocated_bytes.all.peak"),
            );
            check(
                "active end",
                replay.active_end,
                stat("active_bytes.all.current"),
            );
            check(
                "active peak",
                replay.active_peak,
                stat("active_bytes.all.peak"),
            );
        }
        println!(
            "{fixture:24} {:?} {:?}",
            replay.coverage, replay.findings.rows
        );
        println!("{fixture:24} skipped {:?}", rank.skipped);
        assert_eq!(replay.coverage.whole, whole, "{fixture}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_final_state_equals_memory_stats() {
    for (fixture, file, _) in SNAPSHOTS {
        let rank = load(fixture, file);
        let snapshot = snapshot(&rank);
        let truth = truth(fixture);
        let device = snapshot.main_device().unwrap();
        for (pool, size) in [
            ("all", None),
            ("small_pool", Some(Size::Small)),
            ("large_pool", Some(Size::Large)),
        ] {
            let stat =
                |name: &str| truth["memory_stats"][format!("{name}.{pool}.current")].as_u64();
            let segments: Vec<_> = snapshot
                .segments
                .iter()
                .filter(|s| s.device == device && size.is_none_or(|z| z == s.size))
                .collect();
            let sum = |f: &dyn Fn(&report::model::snapshot::BlockRow) -> u64| -> u64 {
                let blocks = segments.iter().flat_map(|s| snapshot.blocks.of(s));
                blocks.map(|b| f(&b)).sum()
            };
            let state = |wanted: &'static [BlockState]| {
                sum(&|b| if wanted.contains(&b.state) { b.size } else { 0 })
            };
            let in_use = &[BlockState::Allocated, BlockState::PendingFree];
            assert_eq!(
                Some(state(&[BlockState::Allocated])),
                stat("allocated_bytes"),
                "{fixture} {pool}"
            );
            assert_eq!(
                Some(state(in_use)),
                stat("active_bytes"),
                "{fixture} {pool}"
            );
            let requested = sum(&|b| {
                if b.is_active() {
                    b.requested.unwrap()
                } else {
                    0
                }
            });
            assert_eq!(Some(requested), stat("requested_bytes"), "{fixture} {pool}");
            let reserved: u64 = segments.iter().map(|s| s.total_size).sum();
            assert_eq!(Some(reserved), stat("reserved_bytes"), "{fixture} {pool}");
            let split: u64 = segments
                .iter()
                .filter(|s| s.blocks > 1 && s.expandable != Some(true))
                .flat_map(|s| snapshot.blocks.of(s))
                .filter(|b| !b.is_active())
                .map(|b| b.size)
                .sum();
            assert_eq!(
                Some(split),
                stat("inactive_split_bytes"),
                "{fixture} {pool}"
            );
        }
    }
}
