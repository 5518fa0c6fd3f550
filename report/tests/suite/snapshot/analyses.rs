//! Answers about recorded runs.

use report::analyze::snapshot::categories::{Category, categories};
use report::analyze::snapshot::flame::{Direction, flame};
use report::analyze::snapshot::group::{By, Key, group};
use report::analyze::snapshot::sites::Sites;
use report::analyze::snapshot::{figures, lifetimes, lines, live, state, steps};
use report::analyze::summary;
use report::model::snapshot::TraceId;

use super::fixtures::{SNAPSHOTS, load, main_replay, snapshot, truth};

#[test]
fn summaries_have_the_allocators_figures() {
    for (fixture, file, whole) in SNAPSHOTS {
        let rank = load(fixture, file);
        let s = summary::rank(&rank);
        let truth = truth(fixture);
        let stat = |name: &str| truth["memory_stats"][name].as_u64();
        assert_eq!(
            s.end.allocated,
            stat("allocated_bytes.all.current"),
            "{fixture}"
        );
        assert_eq!(
            s.end.reserved,
            stat("reserved_bytes.all.current"),
            "{fixture}"
        );
        assert_eq!(
            s.end.requested,
            stat("requested_bytes.all.current"),
            "{fixture}"
        );
        assert_eq!(s.end.active, stat("active_bytes.all.current"), "{fixture}");
        assert_eq!(
            s.end.inactive_split,
            stat("inactive_split_bytes.all.current"),
            "{fixture}"
        );
        if whole {
            assert_eq!(
                s.peak.allocated.bytes,
                stat("allocated_bytes.all.peak"),
                "{fixture}"
            );
            assert_eq!(
                s.peak.reserved.bytes,
                stat("reserved_bytes.all.peak"),
                "{fixture}"
            );
            assert_eq!(
                s.peak.requested.bytes,
                stat("requested_bytes.all.peak"),
                "{fixture}"
            );
        }
        println!("{fixture} steps {} growth {:?}", s.steps, s.growth);
    }
}

#[test]
fn groups_and_trees_add_up_to_the_peak() {
    for (fixture, file, _) in SNAPSHOTS {
        let rank = load(fixture, file);
        let s = snapshot(&rank);
        let (_, replay) = main_replay(&rank);
        let index = live::LiveIndex::of(&replay);
        let sites = Sites::of(&rank.strings, s);
        let categories = categories(&rank.strings, s, &replay, &sites);
        let peak = live::at_peak(&replay, &index);
        let bytes = replay.peak_requested().bytes;
        for by in [
            By::Stack,
            By::Line,
            By::Function,
            By::Category,
            By::Stream,
            By::Pool,
            By::Span,
        ] {
            let groups = group(&replay, &sites, &categories, &peak, by);
            assert_eq!(
                groups.iter().map(|g| g.bytes).sum::<u64>(),
                bytes,
                "{fixture} {by:?}"
            );
            assert_eq!(
                groups.iter().map(|g| g.count).sum::<u64>(),
                peak.len() as u64
            );
            if by == By::Category {
                for g in &groups {
                    println!("{fixture:22} {:?} {:>12} {:.3}", g.key, g.bytes, g.share);
                }
            }
        }
        for direction in [Direction::RootFirst, Direction::LeafFirst] {
            for fold in [false, true] {
                let tree = flame(s, &replay, &sites, &peak, direction, fold);
                assert_eq!(tree.nodes[0].bytes, bytes, "{fixture}");
                assert_eq!(
                    tree.nodes.iter().map(|n| n.own).sum::<u64>(),
                    bytes,
                    "{fixture}"
                );
                for (i, n) in tree.nodes.iter().enumerate() {
                    assert!(n.parent.is_none_or(|p| (p.0 as usize) < i), "{fixture}");
                }
            }
        }
        let all = lines::lines(&replay, &sites, None);
        assert_eq!(
            all.iter().map(|l| l.current).sum::<u64>(),
            replay.requested.end()
        );
        let at = replay.peak_requested().event;
        let then = lines::lines(&replay, &sites, at);
        if at.is_some() {
            assert_eq!(
                then.iter().map(|l| l.current).sum::<u64>(),
                bytes,
                "{fixture}"
            );
        }
        for l in &all {
            assert!(l.peak <= l.allocated && l.current + l.freed == l.allocated);
        }
    }
}

#[test]
fn the_final_state_is_the_snapshots_own() {
    for (fixture, file, whole) in SNAPSHOTS {
        let rank = load(fixture, file);
        let s = snapshot(&rank);
        let (device, replay) = main_replay(&rank);
        let Some(last) = replay.last_event().filter(|_| whole) else {
            continue;
        };
        let index = live::LiveIndex::of(&replay);
        let state = state::after(&replay, &index, last);
        let mine: Vec<_> = state
            .spans
            .iter()
            .flat_map(|h| &h.blocks)
            .map(|b| (b.address, b.size, b.state))
            .collect();
        let mut its: Vec<_> = s
            .segments
            .iter()
            .filter(|g| g.device == device)
            .flat_map(|g| s.blocks.of(g))
            .map(|b| (b.address, b.size, b.state))
            .collect();
        its.sort_unstable_by_key(|b| b.0);
        assert_eq!(mine, its, "{fixture}");
        let figures = figures::figures(&rank).unwrap();
        assert_eq!(
            figures.end,
            state::fragmentation(&replay, &state),
            "{fixture}"
        );
    }
}

#[test]
fn small_survivors_pin_the_segments_of_a_fragmented_run() {
    let rank = load("oom_fragmentation", "snapshot.pickle");
    let (_, replay) = main_replay(&rank);
    let index = live::LiveIndex::of(&replay);
    let state = state::after(&replay, &index, replay.last_event().unwrap());
    let pins = state::pins(&replay, &state);
    assert!(pins.len() >= 20, "{}", pins.len());
    assert!(
        pins.iter()
            .all(|p| p.live == 40 << 20 && p.held == 80 << 20)
    );
    assert_eq!(replay.ooms.len(), 1);
}

#[test]
fn steps_by_annotations() {
    for (fixture, file, count) in [
        ("gpt2_adamw_amp", "snapshot.pickle.xz", 3),
        ("annotated", "snapshot.pickle.xz", 2),
        ("cuda_graphs", "snapshot.pickle", 0),
    ] {
        let rank = load(fixture, file);
        let s = snapshot(&rank);
        let steps = steps::steps(&rank.strings, s, s.main_device().unwrap());
        assert_eq!(steps.len(), count, "{fixture}");
        for pair in steps.windows(2) {
            assert!(pair[0].end <= pair[1].start);
        }
        for step in &steps {
            assert!(step.start < step.end);
            assert_eq!(steps::step_of(&steps, step.start), Some(step));
        }
        assert_eq!(steps::step_of(&steps, TraceId(u32::MAX)), None);
    }
}

#[test]
fn a_leak_is_found_where_one_is() {
    let leak = load("ddp/rank00001", "snapshot.pickle.xz");
    let figures = figures::figures(&leak).unwrap();
    let worst = &figures.growth[0].survivors;
    assert_eq!(worst.bytes_per_step, 64 << 20);
    for fixture in ["ddp/rank00000", "eval_accumulates"] {
        let rank = load(fixture, "snapshot.pickle.xz");
        let figures = figures::figures(&rank).unwrap();
        let grown: u64 = figures
            .growth
            .iter()
            .map(|g| g.survivors.bytes_per_step)
            .sum();
        assert!(grown < 1 << 20, "{fixture}: {:?}", figures.growth);
    }
}

#[test]
fn waiting_blocks_and_brief_ones() {
    let rank = load("multi_stream", "snapshot.pickle.xz");
    let (_, replay) = main_replay(&rank);
    let waiting = lifetimes::pending(&replay, 1000);
    assert_eq!(waiting.iter().filter(|p| p.open).count(), 20);
    let rank = load("gpt2_adamw_amp", "snapshot.pickle.xz");
    let (_, replay) = main_replay(&rank);
    assert!(!lifetimes::brief(&replay, 200).is_empty());
}

#[test]
fn categories_of_a_training_step() {
    let rank = load("gpt2_adamw_fp32", "snapshot.pickle.xz");
    let s = snapshot(&rank);
    let (_, replay) = main_replay(&rank);
    let sites = Sites::of(&rank.strings, s);
    let categories = categories(&rank.strings, s, &replay, &sites);
    let index = live::LiveIndex::of(&replay);
    let end = live::at_end(&replay, &index);
    let groups = group(&replay, &sites, &categories, &end, By::Category);
    let bytes = |wanted: Category| -> u64 {
        let of = groups
            .iter()
            .filter(|g| matches!(g.key, Key::Category(c, _) if c == wanted));
        of.map(|g| g.bytes).sum()
    };
    // AdamW keeps two moments of each parameter, and a step counter.
    let (weights, state) = (bytes(Category::Parameter), bytes(Category::OptimizerState));
    assert!(weights > 100 << 20, "{groups:?}");
    assert!(
        state.abs_diff(2 * weights) < weights / 20,
        "{weights} {state} {groups:?}"
    );
}

#[test]
fn what_is_named_is_found_again() {
    use report::analyze::snapshot::{Analysis, Instant, Named};
    let rank = std::sync::Arc::new(load("gpt2_adamw_amp", "snapshot.pickle.xz"));
    let a = Analysis::of(rank).unwrap();
    for id in a.replay.allocations.ids().step_by(97) {
        let name = a.name(Named::Allocation(id));
        assert_eq!(a.named(&name), Some(Named::Allocation(id)), "{name}");
    }
    for text in ["peak", "oom", "oom3", "start", "end", "t17"] {
        assert_eq!(text.parse::<Instant>().unwrap().to_string(), text);
    }
    for text in ["", "p", "oom0", "oomx", "t-1", "t99999999999", "peak "] {
        assert!(text.parse::<Instant>().is_err(), "{text}");
    }
    for name in [
        "",
        "b",
        "bzz_0",
        "t999999999",
        "k999999",
        "x1",
        "b0_99",
        "ß1",
    ] {
        assert_eq!(a.named(name), None, "{name}");
    }
    // The stacked picture and the curve are the same figures.
    let stacked = a.stacked();
    for event in (0..stacked.events()).step_by(101) {
        assert_eq!(
            stacked.total().get(event),
            a.replay.requested.after.get(event).copied()
        );
    }
}

/// The file's own blocks and the played history lead to the same state, and every byte that is
/// reserved is counted once.
#[test]
fn states_and_their_parts_fit_together() {
    use report::analyze::snapshot::pages::{PAGE, Page, pages, parts};
    use report::analyze::snapshot::{Analysis, Instant};
    for (fixture, file, whole) in SNAPSHOTS {
        let a = Analysis::of(std::sync::Arc::new(load(fixture, file))).unwrap();
        let own = a.state_at(Instant::End);
        if whole {
            let last = a.replay.last_event().unwrap();
            assert_eq!(own, state::after(&a.replay, a.live(), last), "{fixture}");
        }
        let half = TraceId(a.replay.first + a.replay.events().len() as u32 / 2);
        for at in [
            Instant::Start,
            Instant::Event(half),
            Instant::Peak,
            Instant::End,
        ] {
            let now = a.state_at(at);
            let curve = |c: &report::analyze::snapshot::replay::Curve| match a.event_of(at) {
                None => c.start,
                Some(t) => c.after[(t.0 - a.replay.first) as usize],
            };
            let parts = parts(&a.replay, &now);
            let sum = |f: &dyn Fn(&report::analyze::snapshot::pages::Use) -> u64| -> u64 {
                parts.iter().map(|p| f(&p.used)).sum()
            };
            assert_eq!(
                sum(&|u| u.reserved),
                curve(&a.replay.reserved),
                "{fixture} {at}"
            );
            assert_eq!(
                sum(&|u| u.allocated() + u.pending + u.free()),
                sum(&|u| u.reserved),
                "{fixture} {at}"
            );
            if whole {
                assert_eq!(
                    sum(&|u| u.allocated()),
                    curve(&a.replay.allocated),
                    "{fixture} {at}"
                );
            }
            for here in &now.spans {
                let map = pages(&a.replay, here, PAGE);
                let size = a.replay.spans.get(here.span).unwrap().size;
                assert_eq!(map.len() as u64, size.div_ceil(PAGE));
                let used = here
                    .blocks
                    .iter()
                    .any(|b| b.state == report::model::snapshot::BlockState::Allocated);
                assert_eq!(map.iter().any(|p| *p != Page::Free), used, "{fixture} {at}");
            }
        }
    }
}

#[test]
fn pages_say_how_full_they_are() {
    use report::analyze::snapshot::pages::{Page, pages};
    use report::analyze::snapshot::{Analysis, Instant};
    let json = br#"{"segments": [], "device_traces": [[
        {"action": "segment_alloc", "addr": 4096, "size": 20971520, "stream": 0},
        {"action": "alloc", "addr": 4096, "size": 5242880, "stream": 0},
        {"action": "alloc", "addr": 5246976, "size": 2621440, "stream": 0},
        {"action": "alloc", "addr": 7868416, "size": 7864320, "stream": 0}]]}"#;
    let rank = report::read::snapshot::read_json("a.json", &json[..]).unwrap();
    let a = Analysis::of(std::sync::Arc::new(rank)).unwrap();
    let now = a.state_at(Instant::End);
    // 5 MiB, 2.5 MiB and 7.5 MiB, one behind the other, in 20 MiB.
    for (page, map) in [
        (20 << 20, vec![Page::Part(7)]),
        (15 << 20, vec![Page::Full, Page::Free]),
        (
            5 << 20,
            vec![Page::One(0), Page::Full, Page::One(2), Page::Free],
        ),
    ] {
        assert_eq!(pages(&a.replay, &now.spans[0], page), map, "{page}");
    }
}
