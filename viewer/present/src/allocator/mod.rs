//! What is said about the allocator's state at an instant.

mod says;

use report::analyze::snapshot::allocations::{AllocationId, SpanId};
use report::analyze::snapshot::state::{Fragmentation, Pool, State, fragmentation};
use report::analyze::snapshot::{Analysis, Named};

pub use says::{block, reason, segments, untold};

use crate::names::Names;
use crate::units::{bytes, percent};
use crate::words::{Lang, Word};

/// The name of a reserved range: `g3`.
#[must_use]
pub fn span_name(analysis: &Analysis, id: SpanId) -> String {
    analysis.name(Named::Span(id))
}

/// The name of an allocation: `b7f3c40000000_2`.
#[must_use]
pub fn allocation_name(analysis: &Analysis, id: AllocationId) -> String {
    analysis.name(Named::Allocation(id))
}

/// The heading of a pool and stream: its name, and its figures.
#[must_use]
pub fn pool_heading(names: &Names, pool: &Pool, lang: Lang) -> (String, String) {
    let own = names.pool(pool.pool, lang);
    let name = format!("{own} · {}", names.stream(pool.stream, lang));
    (name, figures(pool.spans.len(), &pool.figures, lang))
}

/// The heading of all pools and streams together.
#[must_use]
pub fn all_heading(analysis: &Analysis, state: &State, lang: Lang) -> (String, String) {
    let f = fragmentation(&analysis.replay, state);
    (
        Word::AllPools.text(lang).to_owned(),
        figures(state.spans.len(), &f, lang),
    )
}

fn figures(spans: usize, f: &Fragmentation, lang: Lang) -> String {
    let share = f.allocated as f64 / f.reserved.max(1) as f64;
    let (used, reserved, percent) = (bytes(f.allocated), bytes(f.reserved), percent(share));
    let mut parts = vec![
        match lang {
            Lang::En => format!("{used} of {reserved} allocated ({percent})"),
            Lang::Zh => format!("{reserved} 中已分配 {used}（{percent}）"),
        },
        format!("{} {}", bytes(f.free()), Word::Free.text(lang)),
        format!("{} {}", Word::LargestFree.text(lang), bytes(f.largest_free)),
        segments(spans as u64, lang),
    ];
    if f.pending > 0 {
        let pending = format!("{} {}", bytes(f.pending), Word::PendingFree.text(lang));
        parts.insert(1, pending);
    }
    parts.join(" · ")
}

/// The figures of a state with their names, bytes; each with what it means.
#[must_use]
pub fn figure_list(f: &Fragmentation, requested: u64) -> [(Word, u64, Word); 9] {
    [
        (Word::Reserved, f.reserved, Word::ReservedMeans),
        (Word::InUse, f.allocated, Word::InUseMeans),
        (Word::PendingFree, f.pending, Word::PendingMeans),
        (Word::Requested, requested, Word::RequestedMeans),
        (Word::RoundingLoss, f.rounding, Word::RoundingMeans),
        (Word::FreeKept, f.free_in_used, Word::FreeKeptMeans),
        (
            Word::FreeReturnable,
            f.free_in_unused,
            Word::FreeReturnableMeans,
        ),
        (Word::LargestFree, f.largest_free, Word::LargestFreeMeans),
        (
            Word::InactiveSplit,
            f.inactive_split,
            Word::InactiveSplitMeans,
        ),
    ]
}
