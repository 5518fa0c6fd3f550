//! Groups within groups: lines within files, lines within categories.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::AllocationId;
use super::analysis::Analysis;
use super::group::{By, Group, Key, group, key};
use crate::model::StringId;

/// What the outer groups have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outer {
    /// The file of the first frame of the user's; `None` is "not recorded".
    File(Option<StringId>),
    /// As in a flat grouping.
    Key(Key),
}

/// One outer group.
#[derive(Debug, Clone, PartialEq)]
pub struct Nest {
    /// What it has in common.
    pub outer: Outer,
    /// Requested bytes.
    pub bytes: u64,
    /// Its groups, largest first; shares are parts of this nest.
    pub groups: Vec<Group>,
}

/// Groups `ids` twice, largest first: by file, or with `outer` by that, and inside by `inner`.
#[must_use]
pub fn nested(
    analysis: &Analysis,
    ids: &[AllocationId],
    outer: Option<By>,
    inner: By,
) -> Vec<Nest> {
    let (replay, sites) = (&analysis.replay, analysis.sites());
    let categories = analysis.categories();
    let mut parts: HashMap<Outer, Vec<AllocationId>, FxBuildHasher> = HashMap::default();
    let mut order: Vec<Outer> = Vec::new();
    for &id in ids {
        let of = match outer {
            Some(by) => Outer::Key(key(replay, sites, categories, id, by)),
            None => {
                let frame = match key(replay, sites, categories, id, inner) {
                    Key::Line(frame) | Key::Function(frame) => frame,
                    _ => replay.allocations.stack(id).and_then(|s| sites.place(s)),
                };
                Outer::File(frame.map(|f| analysis.snapshot().frames.get(f).file))
            }
        };
        let part = parts.entry(of).or_insert_with(|| {
            order.push(of);
            Vec::new()
        });
        part.push(id);
    }
    let mut out: Vec<Nest> = order
        .into_iter()
        .map(|outer| {
            let ids = parts.remove(&outer).unwrap_or_default();
            let groups = group(replay, sites, categories, &ids, inner);
            let bytes = groups.iter().map(|g| g.bytes).fold(0, u64::saturating_add);
            Nest {
                outer,
                bytes,
                groups,
            }
        })
        .collect();
    // Stable, so that equals keep the order in which they came.
    out.sort_by_key(|n| std::cmp::Reverse(n.bytes));
    out
}
