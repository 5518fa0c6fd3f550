//! What lives at an instant, grouped in every way, is what the curve says.

use std::sync::Arc;

use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::flame::{self, Direction};
use report::analyze::snapshot::group::{self, By};
use report::analyze::snapshot::nested::nested;
use report::analyze::snapshot::{Analysis, Instant, lines};

use super::fixtures::{SNAPSHOTS, load};

const GROUPINGS: [By; 7] = [
    By::Stack,
    By::Line,
    By::Function,
    By::Category,
    By::Stream,
    By::Pool,
    By::Span,
];

fn analysis(fixture: &str, file: &str) -> Analysis {
    Analysis::of(Arc::new(load(fixture, file))).unwrap()
}

/// The instants that the page offers, and some in between.
fn instants(a: &Analysis) -> Vec<Instant> {
    let mut all = vec![Instant::Start, Instant::Peak, Instant::End];
    all.extend((0..a.replay.ooms.len() as u32).map(Instant::Oom));
    let events = a.replay.events();
    let third = (events.len() / 3).max(1);
    all.extend(
        events
            .step_by(third)
            .map(|row| Instant::Event(report::model::snapshot::TraceId(row as u32))),
    );
    all
}

#[test]
fn every_grouping_of_every_instant_sums_to_the_curve() {
    for (fixture, file, _) in SNAPSHOTS {
        let a = analysis(fixture, file);
        for instant in instants(&a) {
            let m = a.moment(instant);
            let said = format!("{fixture} at {instant}");
            let sizes = m.ids.iter().map(|&id| a.replay.allocations.size(id));
            assert_eq!(sizes.sum::<u64>(), m.requested, "{said}");
            assert!(m.ids.is_sorted(), "{said}");
            for by in GROUPINGS {
                let groups = group::group(&a.replay, a.sites(), a.categories(), &m.ids, by);
                let sum: u64 = groups.iter().map(|g| g.bytes).sum();
                assert_eq!(sum, m.requested, "{said} {by:?}");
                assert_eq!(group::total(&groups), (sum, m.ids.len() as u64), "{said}");
                for g in &groups {
                    assert_eq!(g.categories.iter().sum::<u64>(), g.bytes, "{said}");
                    let key = |id| group::key(&a.replay, a.sites(), a.categories(), id, by);
                    assert_eq!(key(g.largest), g.key, "{said}");
                    let of = m.ids.iter().filter(|&&id| key(id) == g.key);
                    assert_eq!(of.count() as u64, g.count, "{said} {by:?}");
                }
                if by == By::Category {
                    let sure: u64 = group::certainties(&groups).iter().map(|c| c.1).sum();
                    assert_eq!(sure, m.requested, "{said}");
                }
            }
            for (outer, inner) in [
                (None, By::Line),
                (None, By::Function),
                (None, By::Stack),
                (Some(By::Category), By::Line),
            ] {
                let nests = nested(&a, &m.ids, outer, inner);
                let sum: u64 = nests.iter().map(|n| n.bytes).sum();
                assert_eq!(sum, m.requested, "{said} {outer:?}");
                for n in &nests {
                    assert_eq!(n.groups.iter().map(|g| g.bytes).sum::<u64>(), n.bytes);
                }
                assert!(nests.is_sorted_by_key(|n| std::cmp::Reverse(n.bytes)));
            }
            let by_line: u64 = lines::at(&a, instant).iter().map(|l| l.current).sum();
            let by_file: u64 = lines::files_at(&a, instant).iter().map(|l| l.current).sum();
            assert_eq!((by_line, by_file), (m.requested, m.requested), "{said}");
        }
    }
}

#[test]
fn a_file_peaks_at_least_as_high_as_each_of_its_lines() {
    for (fixture, file, _) in SNAPSHOTS {
        let a = analysis(fixture, file);
        let name = |l: &lines::Line| l.frame.map(|f| a.snapshot().frames.get(f).file);
        let lines = lines::at(&a, Instant::End);
        for whole in lines::files_at(&a, Instant::End) {
            let of = || lines.iter().filter(|l| name(l) == name(&whole));
            assert!(of().all(|l| l.peak <= whole.peak), "{fixture}");
            assert!(whole.peak <= of().map(|l| l.peak).sum::<u64>(), "{fixture}");
            assert_eq!(whole.count, of().map(|l| l.count).sum::<u64>(), "{fixture}");
        }
    }
}

#[test]
fn boxes_of_a_flame_graph_lie_within_their_callers() {
    for (fixture, file, _) in SNAPSHOTS {
        let a = analysis(fixture, file);
        let ids = a.live_at(Instant::Peak);
        for direction in [Direction::RootFirst, Direction::LeafFirst] {
            for fold in [false, true] {
                let tree = flame::flame(a.snapshot(), &a.replay, a.sites(), &ids, direction, fold);
                let starts = tree.starts();
                let mut last: Vec<u64> = starts.clone();
                for (i, n) in tree.nodes.iter().enumerate().skip(1) {
                    let p = n.parent.unwrap().0 as usize;
                    assert_eq!(starts[i], last[p], "{fixture}: siblings leave no gap");
                    last[p] += n.bytes;
                    assert!(last[p] <= starts[p] + tree.nodes[p].bytes, "{fixture}");
                }
                let categories = flame::by_category(&a, &tree, &ids, direction, fold);
                for (n, of) in tree.nodes.iter().zip(&categories) {
                    assert_eq!(of.iter().sum::<u64>(), n.bytes, "{fixture} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn the_main_category_is_the_one_with_most_bytes() {
    let mut bytes = [0; Category::ALL.len()];
    assert_eq!(group::main_category(&bytes), Category::Unknown);
    bytes[Category::Activation as usize] = 5;
    bytes[Category::Parameter as usize] = 5;
    assert_eq!(group::main_category(&bytes), Category::Parameter);
    bytes[Category::Temporary as usize] = 6;
    assert_eq!(group::main_category(&bytes), Category::Temporary);
    for (i, category) in Category::ALL.into_iter().enumerate() {
        assert_eq!(category as usize, i);
    }
}

#[test]
fn ages_count_events_and_ends_of_steps() {
    let a = analysis("gpt2_adamw_amp", "snapshot.pickle.xz");
    let m = a.moment(Instant::End);
    let at = m.event.unwrap();
    for &id in &m.ids {
        let born = a.replay.allocations.get(id).unwrap().born.unwrap();
        assert_eq!(a.age(id, m.event), Some(u64::from(at.0 - born.0)));
        let ends = a.steps().iter().filter(|s| born < s.end && s.end <= at);
        assert_eq!(a.age_in_steps(id, m.event), Some(ends.count() as u64));
    }
    let old = analysis("kv_cache_generate", "snapshot.pickle.xz");
    let before = old.live_at(Instant::Start);
    assert!(!before.is_empty());
    let end = old.event_of(Instant::End);
    assert!(before.iter().all(|&id| old.age(id, end).is_none()));
}
