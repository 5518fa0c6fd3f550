//! Two recordings side by side, against figures that are added up here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use report::analyze::diff::curves::Shown;
use report::analyze::diff::figures::Quantity;
use report::analyze::diff::snapshot::LiveDiff;
use report::analyze::diff::snapshot::groups::{By, Key, Match};
use report::analyze::diff::{Cannot, Comparison, Side, Status, Which, align};
use report::analyze::snapshot::Instant;
use report::analyze::snapshot::flame::Direction;
use report::model::Rank;
use report::model::snapshot::{Action, FrameId};

use super::fixtures::{load, snapshot, truth};
use super::make;
use crate::random::config;

fn compare(a: Rank, b: Rank) -> Comparison {
    Comparison::of(Side::of(Arc::new(a)), Side::of(Arc::new(b)))
}

fn fixture_pair(a: &str, b: &str) -> Comparison {
    let file = "snapshot.pickle.xz";
    compare(load(a, file), load(b, file))
}

/// Bytes of what lives at the peak, by the text of something of its stack, walked from the events
/// alone.
fn walked(rank: &Rank, key: impl Fn(&Rank, &[FrameId]) -> String) -> BTreeMap<String, (u64, u64)> {
    let s = snapshot(rank);
    let mut live: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    let (mut sum, mut best, mut at_peak) = (0, 0, BTreeMap::new());
    for i in s.trace(s.main_device().unwrap()) {
        let row = s.events.row(i);
        match row.action {
            Action::Alloc => {
                live.insert(row.address, (row.size, i as u32));
                sum += row.size;
                if sum > best {
                    best = sum;
                    at_peak = live.clone();
                }
            }
            Action::FreeCompleted => sum -= live.remove(&row.address).map_or(0, |l| l.0),
            _ => {}
        }
    }
    let mut out: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (size, i) in at_peak.values() {
        let stack = s.events.row(*i as usize).stack.unwrap();
        let slot = out.entry(key(rank, s.stacks.get(stack))).or_default();
        slot.0 += size;
        slot.1 += 1;
    }
    out
}

/// `function@file:line` of every frame.
fn whole(rank: &Rank, frames: &[FrameId]) -> String {
    let text = |&f: &FrameId| {
        let frame = snapshot(rank).frames.get(f);
        let (name, file) = (rank.strings.get(frame.name), rank.strings.get(frame.file));
        format!("{name}@{file}:{}", frame.line)
    };
    frames.iter().map(text).collect::<Vec<_>>().join(";")
}

/// `file:line` of the first frame that is neither a package's nor native.
fn user_line(rank: &Rank, frames: &[FrameId]) -> String {
    let place = frames.iter().find_map(|&f| {
        let frame = snapshot(rank).frames.get(f);
        let file = rank.strings.get(frame.file);
        let own =
            file.ends_with(".py") && !file.contains("/lib/python") && !file.contains("-packages/");
        own.then(|| format!("{file}:{}", frame.line))
    });
    place.unwrap_or_default()
}

fn sums(live: &LiveDiff) {
    let total = i128::from(live.total.b.unwrap()) - i128::from(live.total.a.unwrap());
    for by in By::ALL {
        let rows = live.groups(by);
        let (mut a, mut b, mut delta) = (0, 0, 0i128);
        for r in &rows {
            a += r.a.bytes;
            b += r.b.bytes;
            delta += i128::from(r.delta());
            let expected = match (r.a.count, r.b.count) {
                (0, _) => Status::New,
                (_, 0) => Status::Gone,
                _ if r.b.bytes > r.a.bytes => Status::Grown,
                _ if r.b.bytes < r.a.bytes => Status::Shrunk,
                _ => Status::Same,
            };
            assert_eq!(r.status(), expected);
        }
        assert_eq!((Some(a), Some(b)), (live.total.a, live.total.b), "{by:?}");
        assert_eq!(delta, total, "{by:?}");
        let counts = |f: fn(&report::analyze::diff::snapshot::groups::Row) -> u64| {
            rows.iter().map(f).sum::<u64>()
        };
        assert_eq!(counts(|r| r.a.count), live.ids(Which::A).len() as u64);
        assert_eq!(counts(|r| r.b.count), live.ids(Which::B).len() as u64);
        let by_size = rows.iter().map(|r| r.delta().unsigned_abs());
        assert!(by_size.is_sorted_by(|x, y| x >= y), "{by:?}");
    }
    for direction in [Direction::RootFirst, Direction::LeafFirst] {
        for fold in [false, true] {
            let tree = live.flame(direction, fold);
            let root = tree.nodes[0];
            assert_eq!((Some(root.a), Some(root.b)), (live.total.a, live.total.b));
            let own = tree
                .nodes
                .iter()
                .map(|n| i128::from(n.own_b) - i128::from(n.own_a));
            assert_eq!(own.sum::<i128>(), total);
            let starts = tree.starts();
            for (i, n) in tree.nodes.iter().enumerate() {
                let Some(parent) = n.parent.map(|p| p.0 as usize) else {
                    continue;
                };
                assert!(parent < i);
                assert!(n.width >= n.a.max(n.b), "both sides fit");
                let end = starts[parent] + tree.nodes[parent].width;
                assert!(starts[i] >= starts[parent] && starts[i] + n.width <= end);
            }
        }
    }
}

#[test]
fn a_run_with_and_without_autocast() {
    let c = fixture_pair("gpt2_adamw_amp", "gpt2_adamw_fp32");
    let stat = |f: &str, name: &str| truth(f)["memory_stats"][name].as_u64();
    for (quantity, name) in [
        (Quantity::PeakRequested, "requested_bytes.all.peak"),
        (Quantity::PeakAllocated, "allocated_bytes.all.peak"),
        (Quantity::PeakReserved, "reserved_bytes.all.peak"),
        (Quantity::EndAllocated, "allocated_bytes.all.current"),
        (Quantity::EndReserved, "reserved_bytes.all.current"),
        (Quantity::EndRequested, "requested_bytes.all.current"),
    ] {
        let found = c.figures.iter().find(|f| f.quantity == quantity).unwrap();
        assert_eq!(found.pair.a, stat("gpt2_adamw_amp", name));
        assert_eq!(found.pair.b, stat("gpt2_adamw_fp32", name));
    }
    let diff = c.snapshot.clone().unwrap();
    let live = diff.at(Instant::Peak, Instant::Peak);
    assert_eq!(
        live.total.a,
        stat("gpt2_adamw_amp", "requested_bytes.all.peak")
    );
    sums(&live);
    sums(&diff.at(Instant::Start, Instant::End));

    // The same program but for the function that makes the model and calls `train`: it has another
    // name and stands eleven lines below. Written as A's, B's stacks match by their text.
    let as_a = |text: &str| {
        text.replace("gpt2_adamw_fp32", "gpt2_adamw_amp")
            .replace("record.py:121", "record.py:110")
            .replace("record.py:124", "record.py:113")
    };
    let b_line = |rank: &Rank, frames: &[FrameId]| as_a(&user_line(rank, frames));
    let b_whole = |rank: &Rank, frames: &[FrameId]| as_a(&whole(rank, frames));
    assert_eq!(diff.frames().moved(), 2);
    let names = ("gpt2_adamw_amp".to_owned(), "gpt2_adamw_fp32".to_owned());
    assert_eq!(diff.frames().renamed, [names]);
    assert!(diff.frames().elsewhere.is_empty());
    let (a, b) = (walked(&c.a.rank, user_line), walked(&c.b.rank, b_line));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let zero = (0, 0);
    let at = |m: &BTreeMap<String, (u64, u64)>, n: &String| *m.get(n).unwrap_or(&zero);
    let expected: BTreeMap<String, _> = names
        .into_iter()
        .filter(|n| !n.is_empty())
        .map(|n| (n.clone(), (at(&a, n), at(&b, n))))
        .collect();
    let mut found = BTreeMap::new();
    for row in live.groups(By::Line) {
        let Key::Line(x, y) = row.key else { continue };
        let (rank, frame) = x.map_or_else(|| (&c.b.rank, y), |x| (&c.a.rank, Some(x)));
        let name = b_line(rank, &[frame.unwrap()]);
        if !name.is_empty() {
            let sides = ((row.a.bytes, row.a.count), (row.b.bytes, row.b.count));
            assert!(found.insert(name, sides).is_none());
        }
    }
    assert!(expected.len() > 3, "{expected:?}");
    assert_eq!(found, expected);
    // The parameters, made where the name differs, are the same bytes.
    let made = expected.iter().find(|(n, _)| n.ends_with("record.py:110"));
    assert_eq!(made.unwrap().1.0, made.unwrap().1.1);

    // Stacks of equal text on both sides are one row with the bytes of each.
    let (a, b) = (walked(&c.a.rank, whole), walked(&c.b.rank, b_whole));
    let rows = live.groups(By::Stack);
    let exact: Vec<_> = rows
        .iter()
        .filter(|r| r.how <= Match::Renamed && r.a.count > 0 && r.b.count > 0)
        .collect();
    assert!(exact.len() > 20);
    assert_eq!(exact.len(), a.keys().filter(|k| b.contains_key(*k)).count());
    for row in exact {
        let text = match row.key {
            Key::Stack(Some(x), Some(y)) => {
                let text = whole(&c.a.rank, snapshot(&c.a.rank).stacks.get(x));
                let other = b_whole(&c.b.rank, snapshot(&c.b.rank).stacks.get(y));
                assert_eq!(text, other);
                text
            }
            // A context without frames.
            _ => String::new(),
        };
        assert_eq!((row.a.bytes, row.a.count), a[&text]);
        assert_eq!((row.b.bytes, row.b.count), b[&text]);
    }
}

#[test]
fn two_ranks_of_which_one_leaks() {
    let c = fixture_pair("ddp/rank00000", "ddp/rank00001");
    let diff = c.snapshot.clone().unwrap();
    let live = diff.at(Instant::End, Instant::End);
    sums(&live);
    // 64 MiB a step are kept by rank 1 alone.
    let row = live.groups(By::Line)[0];
    assert_eq!(row.status(), Status::New);
    assert_eq!(row.b.bytes % (64 << 20), 0);
    assert_eq!(row.b.bytes / row.b.count, 64 << 20);
    assert_eq!(c.curves.shown, Shown::Requested);
    // Both curves reach their stated peak where it is said to be, and nowhere above it.
    for which in [Which::A, Which::B] {
        let line = c.curves.line(which);
        let (position, bytes) = line.peak.unwrap();
        assert_eq!(line.values.get(position), Some(bytes));
        let all = c.curves.span(which, 0.0, c.curves.align.length()).unwrap();
        assert_eq!(all.max, bytes);
        let x = c.curves.align.to_axis(which, position).unwrap();
        assert_eq!(c.curves.span(which, x, x + 0.01).unwrap().max, bytes);
    }
}

#[test]
fn a_recording_against_itself() {
    let c = fixture_pair("annotated", "annotated");
    let diff = c.snapshot.clone().unwrap();
    let live = diff.at(Instant::Peak, Instant::Peak);
    for by in By::ALL {
        for row in live.groups(by) {
            assert_eq!(
                (row.a, row.how, row.status()),
                (row.b, Match::Exact, Status::Same)
            );
        }
    }
    let steps = c.a.snapshot.as_ref().unwrap().steps().len();
    assert_eq!(
        c.curves.align.matched,
        align::Matched::Steps {
            shared: steps,
            only: (0, 0)
        }
    );
    assert!(steps > 1);
}

/// A runtime report and a snapshot have their peaks in common, and it is said what is not.
#[test]
fn a_snapshot_against_a_runtime_report() {
    let runtime = crate::support::load("original_memscope/rank00000").0;
    let peak = runtime.events.max_allocated.iter().flatten().max().unwrap();
    let c = compare(load("gpt2_adamw_amp", "snapshot.pickle.xz"), runtime);
    assert_eq!(
        c.cannot,
        [Cannot::Allocations(Which::A), Cannot::Events(Which::B)]
    );
    assert!(c.snapshot.is_none() && c.runtime.is_none());
    let figure = |q| c.figures.iter().find(|f| f.quantity == q).unwrap().pair;
    assert_eq!(figure(Quantity::PeakAllocated).b, Some(peak));
    assert!(figure(Quantity::PeakAllocated).delta().is_some());
    assert_eq!(figure(Quantity::PeakRequested).b, None);
    assert_eq!(figure(Quantity::HighestSample).a, None);
    assert_eq!(c.curves.shown, Shown::Allocated);
}

/// A JSON snapshot of allocations, each with a stack of (function, file, line), innermost first.
type Stack<'a> = &'a [(&'a str, &'a str, u32)];

fn written(allocations: &[(u64, Stack<'_>)]) -> Rank {
    let mut events = vec![
        serde_json::json!({"action": "segment_alloc", "addr": 4096, "size": 1u64 << 30, "stream": 0}),
    ];
    let mut address = 4096;
    for (size, stack) in allocations {
        let frames: Vec<_> = stack
            .iter()
            .map(|(name, file, line)| serde_json::json!({"name": name, "filename": file, "line": line}))
            .collect();
        events.push(serde_json::json!({"action": "alloc", "addr": address, "size": size, "stream": 0, "frames": frames}));
        address += 1 << 20;
    }
    let text = serde_json::json!({"segments": [], "device_traces": [events]}).to_string();
    report::read::snapshot::read_json("made", text.as_bytes()).unwrap()
}

#[test]
fn code_that_moved_and_files_that_lie_elsewhere() {
    let torch = "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py";
    let venv = "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py";
    let (m, n) = ("/home/a/proj/model.py", "/work/b/proj/model.py");
    let a = written(&[
        (100, &[("forward", torch, 125), ("block", m, 10)]),
        (200, &[("forward", torch, 125), ("block", m, 11)]),
        (300, &[("forward", torch, 125), ("block", m, 12)]),
        (50, &[("old", m, 40)]),
    ]);
    // Two lines were added above; torch is another version; `old` went and `new` came.
    let b = written(&[
        (110, &[("forward", venv, 130), ("block", n, 12)]),
        (200, &[("forward", venv, 130), ("block", n, 13)]),
        (250, &[("forward", venv, 130), ("block", n, 14)]),
        (70, &[("new", n, 50)]),
    ]);
    let c = compare(a, b);
    let diff = c.snapshot.clone().unwrap();
    assert_eq!(diff.frames().elsewhere, [(m.to_owned(), n.to_owned())]);
    assert_eq!(
        diff.frames().moved(),
        4,
        "three lines of block and torch's one"
    );
    let live = diff.at(Instant::Peak, Instant::Peak);
    sums(&live);
    for by in [By::Line, By::Stack] {
        let rows: Vec<_> = live
            .groups(by)
            .iter()
            .map(|r| (r.a.bytes, r.b.bytes, r.how, r.status()))
            .collect();
        assert_eq!(
            rows,
            [
                (0, 70, Match::Exact, Status::New),
                (300, 250, Match::Moved, Status::Shrunk),
                (50, 0, Match::Exact, Status::Gone),
                (100, 110, Match::Moved, Status::Grown),
                (200, 200, Match::Moved, Status::Same),
            ],
            "{by:?}"
        );
    }
    let functions: Vec<_> = live
        .groups(By::Function)
        .iter()
        .map(|r| (r.a.bytes, r.b.bytes))
        .collect();
    assert_eq!(functions, [(0, 70), (50, 0), (600, 560)]);
}

#[test]
fn native_frames_of_another_build_do_not_part_equal_stacks() {
    let (m, cpp) = ("/p/model.py", "/pytorch/aten/Ops.cpp");
    let a = written(&[
        (100, &[("at::mm", cpp, 5), ("f", m, 1)]),
        (30, &[("at::mm", cpp, 5), ("g", m, 9)]),
    ]);
    let b = written(&[
        (
            60,
            &[("at::mm", cpp, 5), ("at::autocast", cpp, 9), ("f", m, 1)],
        ),
        (20, &[("at::addmm", cpp, 7), ("f", m, 1)]),
        (30, &[("at::mm", cpp, 5), ("g", m, 9)]),
    ]);
    let c = compare(a, b);
    let live = c.snapshot.unwrap().at(Instant::Peak, Instant::Peak);
    sums(&live);
    let rows: Vec<_> = live
        .groups(By::Stack)
        .iter()
        .map(|r| (r.a, r.b, r.how))
        .map(|(a, b, how)| (a.bytes, b.bytes, how))
        .collect();
    assert_eq!(rows, [(100, 80, Match::Folded), (30, 30, Match::Exact)]);
}

proptest! {
    #![proptest_config(config(100))]

    /// Whatever lives on either side, differences sum to the difference of the totals.
    #[test]
    fn differences_sum_to_the_difference(
        a in proptest::collection::vec((0..5u32, 0..4u32, 1..1u64 << 40), 0..30),
        b in proptest::collection::vec((0..5u32, 0..4u32, 1..1u64 << 40), 0..30),
        shift in 0..3u32,
    ) {
        let names = ["f", "g", "h", "forward", "backward"];
        let make = |rows: &[(u32, u32, u64)], shift: u32| {
            let stacks: Vec<[(&str, &str, u32); 2]> = rows
                .iter()
                .map(|&(name, line, _)| [("at::empty", "e.cpp", line), (names[name as usize], "m.py", 10 * name + line + shift)])
                .collect();
            let rows: Vec<(u64, Stack<'_>)> = rows.iter().zip(&stacks).map(|(r, s)| (r.2, &s[..])).collect();
            written(&rows)
        };
        let c = compare(make(&a, 0), make(&b, shift));
        let diff = c.snapshot.unwrap();
        let live = diff.at(Instant::Peak, Instant::Peak);
        prop_assert_eq!(live.total.a, Some(a.iter().map(|r| r.2).sum()));
        prop_assert_eq!(live.total.b, Some(b.iter().map(|r| r.2).sum()));
        sums(&live);
        sums(&diff.at(Instant::Start, Instant::End));
    }
}

/// What no side has recorded is its own row, never a stack's.
#[test]
fn blocks_from_before_the_history() {
    let with = |requested: u64| {
        let pickle = make::snapshot(
            &[("alloc", 0x20_0000, 512)],
            &[(
                0x10_0000,
                4 << 20,
                vec![(0x10_0000, 1 << 20, requested), (0x20_0000, 3 << 20, 512)],
            )],
        );
        report::read::snapshot::read_pickle("made", &pickle[..]).unwrap()
    };
    let c = compare(with(1000), with(1500));
    let live = c.snapshot.unwrap().at(Instant::End, Instant::End);
    let rows = live.groups(By::Line);
    let before = rows.iter().find(|r| r.key == Key::Unrecorded).unwrap();
    assert!(before.a.bytes >= 1000 && before.delta() == 500, "{rows:?}");
}

/// What one row of a grouping says of both sides.
fn rows_of(a: &[(u64, Stack<'_>)], b: &[(u64, Stack<'_>)], by: By) -> Vec<(u64, u64, Match)> {
    let c = compare(written(a), written(b));
    let live = c.snapshot.clone().unwrap().at(Instant::Peak, Instant::Peak);
    sums(&live);
    let rows = live.groups(by);
    rows.iter().map(|r| (r.a.bytes, r.b.bytes, r.how)).collect()
}

#[test]
fn stacks_that_are_called_from_elsewhere() {
    let (m, n) = ("/p/model.py", "/p/run.py");
    let inner = [("attend", m, 7), ("block", m, 20), ("forward", m, 31)];
    let with = |outer: &[(&'static str, &'static str, u32)]| [&inner[..], outer].concat();
    let a = with(&[("train", n, 5), ("main", n, 90)]);
    let b = with(&[("evaluate", "/p/other.py", 77), ("start", "/p/other.py", 8)]);
    // Another stack of the same innermost function, which goes another way.
    let (c, d) = (
        [("attend", m, 7), ("sample", m, 50)],
        [("attend", m, 7), ("draw", "/p/other.py", 60)],
    );
    assert_eq!(
        rows_of(&[(100, &a), (40, &c)], &[(130, &b), (10, &d)], By::Stack),
        [
            (40, 0, Match::Exact),
            (100, 130, Match::Inner),
            (0, 10, Match::Exact),
        ]
    );
}

#[test]
fn what_has_nothing_in_common_but_its_sizes() {
    let (x, y) = ([("load", "/p/a.py", 3)], [("build", "/q/b.py", 9)]);
    let sizes = [512u64, 1024, 512, 4096];
    let of = |stack: Stack<'static>, sizes: &[u64]| -> Vec<(u64, Stack<'static>)> {
        sizes.iter().map(|&s| (s, stack)).collect()
    };
    let (x, y): (Stack<'static>, Stack<'static>) = (x.to_vec().leak(), y.to_vec().leak());
    let sum: u64 = sizes.iter().sum();
    for by in [By::Stack, By::Line, By::Function] {
        assert_eq!(
            rows_of(&of(x, &sizes), &of(y, &sizes), by),
            [(sum, sum, Match::Alike)],
            "{by:?}"
        );
        // In another order, or fewer: no.
        for other in [&[1024u64, 512, 512, 4096][..], &[512, 1024, 512]] {
            let rows = rows_of(&of(x, &sizes), &of(y, other), by);
            assert_eq!(rows.len(), 2, "{by:?}");
        }
        let few = &sizes[..3];
        assert_eq!(rows_of(&of(x, few), &of(y, few), by).len(), 2);
        // Two that are alike on one side: nothing says which.
        let z: Stack<'static> = vec![("third", "/p/c.py", 4)].leak();
        let both = [of(x, &sizes), of(z, &sizes)].concat();
        assert_eq!(rows_of(&both, &of(y, &sizes), by).len(), 3);
    }
}
