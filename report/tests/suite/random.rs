//! Random reports.

use proptest::collection::vec;
use proptest::prelude::*;
use report::model::{
    EventRow, Interner, Metadata, Rank, RecordedPeak, Report, Skipped, Source, StringId, Tensor,
    TensorInterner, TensorListId, Value,
};

/// Settings that make every run the same.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: proptest::test_runner::RngSeed::Fixed(0x4d65_6d53_636f_7065),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What the figures of a report are like.
#[derive(Debug, Clone, Copy)]
pub enum Figures {
    /// All that the tables hold.
    Any,
    /// Such that no sum leaves 64 bits.
    Small,
}

fn bytes(figures: Figures) -> BoxedStrategy<Option<u64>> {
    match figures {
        Figures::Any => prop_oneof![
            1 => Just(None),
            1 => Just(Some(0)),
            1 => Just(Some((1 << 63) - 1)),
            4 => (0..1u64 << 63).prop_map(Some),
            4 => (0..1u64 << 34).prop_map(Some),
        ]
        .boxed(),
        Figures::Small => {
            prop_oneof![1 => Just(None), 20 => (0..1u64 << 34).prop_map(Some)].boxed()
        }
    }
}

fn signed(figures: Figures) -> BoxedStrategy<Option<i64>> {
    let most = match figures {
        Figures::Any => i64::MAX,
        Figures::Small => 1 << 34,
    };
    prop_oneof![1 => Just(None), 1 => Just(Some(most)), 1 => Just(Some(-most)), 5 => (-most..=most).prop_map(Some)].boxed()
}

const KINDS: [&str; 3] = ["module", "tensor_grad", "step"];
const MODULES: [&str; 9] = [
    "",
    "a",
    "a.b",
    "a.b.0.c",
    "a.b.1.c",
    "param::a.b.weight",
    "a.b.output[0]",
    "模型.层",
    "train_step",
];
const PHASES: [&str; 7] = [
    "forward_pre",
    "forward",
    "backward",
    "step_start",
    "step_end",
    "optimizer_step_end",
    "forward_pre_pre",
];

/// Indices into the lists above and the figures of an event.
type Row = (
    (usize, usize, usize, usize),
    i64,
    [Option<u64>; 6],
    [Option<i64>; 2],
    [usize; 3],
);

fn row(figures: Figures) -> impl Strategy<Value = Row> {
    (
        (0..KINDS.len(), 0..MODULES.len(), 0..PHASES.len(), 0..4usize),
        -1..2i64,
        [(); 6].map(|()| bytes(figures)),
        [(); 2].map(|()| signed(figures)),
        [0..6usize, 0..6, 0..6],
    )
}

fn tensor(figures: Figures) -> impl Strategy<Value = (usize, Vec<i64>, Option<bool>, Option<u64>)> {
    (
        0..4usize,
        vec(prop_oneof![0..5000i64, Just(-1), Just(i64::MAX)], 0..5),
        any::<Option<bool>>(),
        bytes(figures),
    )
}

fn fact() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        proptest::num::f64::NORMAL.prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
        Just(Value::Json("[1, {}]".to_owned())),
    ]
}

/// One rank with up to `most` events.
pub fn rank(figures: Figures, most: usize) -> impl Strategy<Value = Rank> {
    (
        vec(row(figures), 0..most),
        vec(row(figures), 0..4),
        vec(tensor(figures), 1..8),
        vec(vec(0..8usize, 0..4), 6),
        vec(any::<String>(), 4),
        vec((any::<String>(), fact()), 0..5),
        proptest::option::of((any::<Option<String>>(), signed(figures), bytes(figures))),
        vec((any::<String>(), 1..1000u64, any::<u64>()), 0..3),
    )
        .prop_map(|(rows, top, tensors, lists, notes, facts, peak, skips)| {
            build(&rows, &top, &tensors, &lists, &notes, facts, peak, skips)
        })
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn build(
    rows: &[Row],
    top: &[Row],
    tensors: &[(usize, Vec<i64>, Option<bool>, Option<u64>)],
    lists: &[Vec<usize>],
    notes: &[String],
    facts: Vec<(String, Value)>,
    peak: Option<(Option<String>, Option<i64>, Option<u64>)>,
    skips: Vec<(String, u64, u64)>,
) -> Rank {
    let mut strings = Interner::default();
    let mut interned = TensorInterner::default();
    let mut ids = |texts: &[&str]| -> Vec<StringId> {
        texts.iter().map(|t| strings.intern(t).unwrap()).collect()
    };
    let (kinds, modules, phases) = (ids(&KINDS), ids(&MODULES), ids(&PHASES));
    let notes = ids(&notes.iter().map(String::as_str).collect::<Vec<_>>());
    let tensors: Vec<_> = tensors
        .iter()
        .map(|(name, shape, requires_grad, bytes)| {
            let tensor = Tensor {
                name: notes[*name],
                shape: shape.clone(),
                dtype: notes[0],
                device: notes[1],
                requires_grad: *requires_grad,
                bytes: *bytes,
            };
            interned.tensor(&tensor).unwrap()
        })
        .collect();
    let lists: Vec<TensorListId> = lists
        .iter()
        .map(|l| {
            let items: Vec<_> = l.iter().map(|&i| tensors[i % tensors.len()]).collect();
            interned.list(&items).unwrap()
        })
        .collect();
    let mut rank = Rank::default();
    for (table, rows) in [(&mut rank.events, rows), (&mut rank.recorded_top, top)] {
        let mut step = 0;
        for ((kind, module, phase, note), advance, b, d, l) in rows {
            step += advance;
            table.push(&EventRow {
                kind: kinds[*kind],
                module: modules[*module],
                phase: phases[*phase],
                notes: notes[*note],
                step: (step != 3).then_some(step),
                allocated_before: b[0],
                allocated_after: b[1],
                reserved_before: b[2],
                reserved_after: b[3],
                max_allocated: b[4],
                max_reserved: b[5],
                delta_allocated: d[0],
                delta_reserved: d[1],
                inputs: lists[l[0]],
                outputs: lists[l[1]],
                grads: lists[l[2]],
            });
        }
    }
    let mut metadata = Metadata::default();
    for (key, value) in facts {
        metadata.set(key, value);
    }
    let mut skipped = Skipped::default();
    for (what, count, offset) in skips {
        skipped.count_many(&what, count, offset);
    }
    Rank {
        source: Source {
            name: "random".to_owned(),
            format: "random".to_owned(),
            bytes: 7,
            crc32: u32::MAX,
        },
        comparisons: metadata.clone(),
        metadata,
        recorded_peak: peak.map(|(text, step, bytes)| RecordedPeak {
            phase: text.clone(),
            module: text,
            step,
            memory_bytes: bytes,
            reserved_bytes: bytes,
        }),
        strings: strings.finish(),
        tensors: interned.finish(),
        skipped,
        ..rank
    }
}

/// A report of up to three ranks.
pub fn report(figures: Figures, most: usize) -> impl Strategy<Value = Report> {
    vec(rank(figures, most), 0..3).prop_map(Report::of)
}
