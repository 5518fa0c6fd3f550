//! Categories of a snapshot against those of the profiler, of the same run.
//!
//! The profiler sees every tensor and every gradient; a snapshot has places and lifetimes only. What
//! was measured on this run (ResNet-50, SGD with momentum): parameters, gradients, optimizer state and
//! inputs agree to the byte at the peak and at the end of every optimizer step, activations but for
//! the 512 bytes of the loss, which the program keeps and the profiler calls an activation.

use std::sync::Arc;

use report::analyze::series::{self, Moment};
use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::{Analysis, Instant};
use report::model::SeriesCategory as S;
use report::model::snapshot::TraceId;

use super::fixtures::load;

const RUN: &str = "resnet50_profiler";
/// `num_batches_tracked` of 53 layers: buffers to us, unknown to the profiler.
const COUNTERS: u64 = 53 * 8;
/// One small block.
const LOSS: u64 = 512;

/// Bytes of a category: as requested, and of blocks.
fn bytes(a: &Analysis, at: Instant, category: Category) -> (u64, u64) {
    let ids = a.live_at(at).into_iter();
    let of = ids.filter(|&id| a.categories().get(id).0 == category);
    of.fold((0, 0), |(requested, blocks), id| {
        let a = a.replay.allocations.get(id).unwrap();
        (requested + a.size, blocks + a.rounded)
    })
}

#[track_caller]
fn agree(a: &Analysis, name: &str, at: Instant, its: &Moment) {
    let mine = |c| bytes(a, at, c);
    println!("{name}: {its:?}");
    for c in Category::ALL {
        println!("  {:>16} {:?}", c.word(), mine(c));
    }
    // The profiler has the sizes of tensors for what was there before it began, and of blocks else.
    assert_eq!(
        mine(Category::Parameter).0 - COUNTERS,
        its.of(S::Parameter),
        "{name}"
    );
    assert_eq!(mine(Category::Input).0, its.of(S::Input), "{name}");
    assert_eq!(mine(Category::Gradient).1, its.of(S::Gradient), "{name}");
    assert_eq!(
        mine(Category::OptimizerState).1,
        its.of(S::OptimizerState),
        "{name}"
    );
    let activations = mine(Category::Activation).1.abs_diff(its.of(S::Activation));
    assert!(activations <= LOSS, "{name}: {activations}");
    // What autograd works with is temporary; so are the workspaces of convolutions, which the
    // profiler cannot tell and which a snapshot with native frames can.
    let rest = [Category::Temporary, Category::Unknown].map(|c| mine(c).1);
    let its_rest = its.of(S::AutogradDetail) + its.of(S::Temporary) + its.of(S::Unknown);
    let rest = (rest[0] + rest[1]).abs_diff(its_rest - COUNTERS);
    assert!(rest <= LOSS, "{name}: {rest}");
}

#[test]
fn categories_agree_with_the_profilers() {
    let a = Analysis::of(Arc::new(load(RUN, "snapshot.pickle.xz"))).unwrap();
    let timeline = load(RUN, "memory_timeline.raw.json.gz").series.unwrap();
    let peak = series::peak(&timeline).unwrap();
    assert_eq!(
        peak.total,
        timeline.bytes.iter().map(|b| b[peak.row]).sum::<u64>()
    );
    agree(&a, "peak", Instant::Peak, &peak);
    let mut ends = 0;
    for range in a.ranges() {
        let name = a.strings().get(range.name);
        if name.starts_with("Optimizer.") || name.contains("forward") {
            ends += 1;
            let its = series::at(&timeline, range.end_ns.unwrap()).unwrap();
            let at = Instant::Event(TraceId(range.end.0 - 1));
            agree(&a, &format!("{name} {ends}"), at, &its);
        }
    }
    assert_eq!(ends, 6);
    // The trace of the same run has operators for native frames, and the same answer where it has
    // the history: gradients, state and activations of its second step.
    let trace = Analysis::of(Arc::new(load(RUN, "trace.json.xz"))).unwrap();
    let (mine, its) = (Instant::Peak, &peak);
    assert_eq!(
        trace.replay.peak_allocated().bytes,
        a.replay.peak_allocated().bytes
    );
    assert_eq!(
        bytes(&trace, mine, Category::OptimizerState).1,
        its.of(S::OptimizerState)
    );
    println!(
        "{:?}",
        Category::ALL.map(|c| (c.word(), bytes(&trace, mine, c).1))
    );
}
