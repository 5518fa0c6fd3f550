//! A runtime report and a snapshot of one rank.

use std::sync::Arc;

use report::analyze::snapshot::align;
use report::analyze::snapshot::steps::step_of;
use report::analyze::snapshot::{Analysis, Instant};
use report::container::{Container, Level, pack};
use report::merge::{Apart, apart, merge};
use report::model::snapshot::{Stage, TraceId};
use report::model::{EventRow, Events, Rank, Report};

use super::fixtures::load;
use crate::support::Random;

const FOLDER: &str = "original_with_snapshot/rank00000";

fn report() -> Rank {
    load(FOLDER, "runtime_report.json.gz")
}

fn dump() -> Rank {
    load(FOLDER, "memory_snapshot.pickle.xz")
}

#[test]
fn every_text_of_both_is_the_same_in_the_merged_rank() {
    let (a, b) = (report(), dump());
    let one = merge(b.clone(), a.clone()).unwrap();
    assert_eq!(one, merge(a.clone(), b.clone()).unwrap());
    let names: Vec<_> = one.sources().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        ["runtime_report.json.gz", "memory_snapshot.pickle.xz"]
    );
    assert_eq!(one.events, a.events);
    for (id, text) in a.strings.iter() {
        assert_eq!(one.strings.get(id), text);
    }
    let (old, new) = (b.snapshot.as_ref().unwrap(), one.snapshot.as_ref().unwrap());
    assert_eq!(old.stacks, new.stacks);
    for ((_, x), (_, y)) in old.frames.iter().zip(new.frames.iter()) {
        assert_eq!(b.strings.get(x.name), one.strings.get(y.name));
        assert_eq!(b.strings.get(x.file), one.strings.get(y.file));
        assert_eq!(x.line, y.line);
    }
    for i in 0..old.events.len() {
        let (x, y) = (old.events.row(i), new.events.row(i));
        assert_eq!((x.address, x.size, x.stack), (y.address, y.size, y.stack));
        let text = b.strings.get(x.compile_context);
        assert_eq!(text, one.strings.get(y.compile_context));
    }
    for (x, y) in old.annotations.rows.iter().zip(&new.annotations.rows) {
        assert_eq!(b.strings.get(x.name), one.strings.get(y.name));
    }
    // And through a container.
    let report = Report {
        ranks: vec![one.clone()],
    };
    let bytes = pack(&report, "test", Level(1)).unwrap();
    assert_eq!(
        Container::open("r", bytes).unwrap().report().unwrap(),
        report
    );
    // What was merged is not merged again.
    assert_eq!(apart(&one, &b), Some(Apart::Snapshots));
    assert_eq!(apart(&one, &a), Some(Apart::Events));
    assert_eq!(apart(&b, &b), Some(Apart::Snapshots));
}

#[test]
fn ranks_of_different_numbers_stay_apart() {
    let mut other = dump();
    let number = report::model::Value::Int(3);
    other.metadata.set("rank".to_owned(), number);
    assert_eq!(apart(&report(), &other), Some(Apart::Numbers));
    assert_eq!(report::merge::together(vec![report(), other]).len(), 2);
    assert_eq!(report::merge::together(vec![dump(), report()]).len(), 1);
}

#[test]
fn every_event_is_where_both_figures_are_equal() {
    let rank = merge(report(), dump()).unwrap();
    let analysis = Analysis::of(Arc::new(rank)).unwrap();
    let aligned = align::align(&analysis);
    let (events, replay) = (&analysis.rank.events, &analysis.replay);
    let mut last = TraceId(0);
    let mut count = 0;
    for (event, at) in aligned.iter().enumerate() {
        let Some(at) = *at else { continue };
        count += 1;
        let i = at.index() - replay.first as usize;
        assert_eq!(
            events.allocated_after.get(event),
            Some(replay.allocated.after[i])
        );
        assert_eq!(
            events.reserved_after.get(event),
            Some(replay.reserved.after[i])
        );
        assert!(last <= at, "event {event}");
        // The mark was reset when the recorder started, so it says how high memory stood since.
        let since = aligned[0].unwrap().index() - replay.first as usize;
        let mark = replay.allocated.after[since..=i].iter().max().copied();
        assert_eq!(events.max_allocated.get(event), mark, "event {event}");
        last = at;
    }
    println!("{count} of {} events have an entry", aligned.len());
    assert_eq!((count, aligned.len()), (549, 549));
    // A witness that the alignment did not see: the optimizer's hooks, by the clock.
    let strings = &analysis.rank.strings;
    let snapshot = analysis.snapshot();
    let at = |phase: &str| -> Vec<TraceId> {
        let id = strings.find(phase).unwrap();
        let all = (0..events.len()).filter(|&e| events.phase[e] == id);
        all.map(|e| aligned[e].unwrap()).collect()
    };
    let hooks: Vec<_> = snapshot
        .annotations
        .rows
        .iter()
        .filter(|a| strings.get(a.name).starts_with("Optimizer.step"))
        .collect();
    let (starts, ends) = (at("optimizer_step_start"), at("optimizer_step_end"));
    assert_eq!((starts.len(), ends.len(), hooks.len()), (3, 3, 6));
    let time = |t: TraceId| snapshot.events.time_ns.get(t.index()).unwrap();
    for (i, hook) in hooks.iter().enumerate() {
        let when = hook.time_ns.unwrap();
        match hook.stage {
            Stage::Start => assert!(time(starts[i / 2]) <= when, "hook {i}"),
            // The entry after which the optimizer was done, and the next one.
            Stage::End => assert!(
                time(ends[i / 2]) <= when && when <= time(TraceId(ends[i / 2].0 + 1)),
                "hook {i}"
            ),
        }
    }
}

#[test]
fn steps_and_phases_lie_on_the_trace() {
    let rank = merge(report(), dump()).unwrap();
    let analysis = Analysis::of(Arc::new(rank)).unwrap();
    let steps = analysis.steps();
    let numbers: Vec<_> = steps.iter().map(|s| s.number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert!(steps.windows(2).all(|s| s[0].end <= s[1].start));
    // The report says that the high-water mark is of step 1; so does the replay.
    let peak = analysis.replay.peak_allocated();
    assert_eq!(peak.bytes, 2_371_916_288);
    assert_eq!(step_of(steps, peak.event.unwrap()).unwrap().number, 1);
    let names: Vec<_> = analysis
        .ranges()
        .iter()
        .map(|r| analysis.strings().get(r.name))
        .filter(|n| !n.contains('#'))
        .collect();
    assert_eq!(names, ["forward_backward", "optimizer_step"].repeat(3));
    for range in analysis.ranges() {
        assert!(range.start < range.end && range.end_ns.is_some());
    }
    assert!(!analysis.live_at(Instant::Event(steps[1].start)).is_empty());
}

/// A history that lost its beginning, and a report that has more than the history: what can be
/// found is found, monotone and equal.
#[test]
fn parts_of_a_history_align_with_parts_of_a_report() {
    let whole = merge(report(), dump()).unwrap();
    let analysis = Analysis::of(Arc::new(whole.clone())).unwrap();
    let aligned = analysis.aligned();
    let mut random = Random(7);
    for _ in 0..8 {
        // The ring buffer lost its first entries.
        let mut replay = analysis.replay.clone();
        let lost = 1 + random.below(replay.events().len() - 1);
        replay.first = lost as u32;
        for curve in [&mut replay.allocated, &mut replay.reserved] {
            curve.start = curve.after[lost - 1];
            curve.after.drain(..lost);
        }
        let part = align::entries(&whole, &replay);
        let there = |t: &&Option<TraceId>| t.is_some_and(|t| t.index() >= lost);
        let expected = aligned.iter().filter(there).count();
        let found = part.iter().flatten().count();
        assert!(found >= expected, "{found} of {expected} after {lost}");
        // Those of the last step are where they were.
        let last = part.iter().zip(aligned).rev().take(expected);
        let moved = last.filter(|(a, b)| a != b).count();
        println!("lost {lost}: {found} found, {expected} expected, {moved} elsewhere");
        assert!(moved * 20 <= expected, "lost {lost}");
        for (event, at) in part.iter().enumerate() {
            let Some(at) = at else { continue };
            let i = at.index() - lost;
            assert_eq!(
                whole.events.allocated_after.get(event),
                Some(replay.allocated.after[i])
            );
        }
    }
    // Figures that no entry has.
    let mut odd = Events::default();
    odd.push(&EventRow {
        allocated_after: Some(1),
        reserved_after: Some(2),
        ..EventRow::default()
    });
    odd.push(&EventRow::default());
    let odd = Rank {
        events: odd,
        ..Rank::default()
    };
    assert_eq!(align::entries(&odd, &analysis.replay), [None, None]);
}
