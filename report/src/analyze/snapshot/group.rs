//! A set of allocations, grouped.

use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::{AllocationId, SpanId};
use super::categories::{Categories, Category, Certainty};
use super::replay::Replay;
use super::sites::Sites;
use crate::model::snapshot::{FrameId, PoolIndex, StackId, StreamIndex};

/// What to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// The whole stack.
    Stack,
    /// File and line of the first frame of the user's.
    Line,
    /// The innermost function outside torch.
    Function,
    /// What the memory is for.
    Category,
    /// Stream.
    Stream,
    /// Memory pool.
    Pool,
    /// Reserved range.
    Span,
}

/// What a group has in common. `None` is "not recorded".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// See [`By::Stack`].
    Stack(Option<StackId>),
    /// A frame that stands for its file and line.
    Line(Option<FrameId>),
    /// A frame that stands for its file and function.
    Function(Option<FrameId>),
    /// See [`By::Category`].
    Category(Category, Certainty),
    /// See [`By::Stream`].
    Stream(StreamIndex),
    /// See [`By::Pool`].
    Pool(Option<PoolIndex>),
    /// See [`By::Span`].
    Span(Option<SpanId>),
}

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What it has in common.
    pub key: Key,
    /// Requested bytes.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
    /// Part of the whole set's bytes, 0 to 1.
    pub share: f64,
    /// The largest allocation of the group.
    pub largest: AllocationId,
    /// [`Self::bytes`] by category, in the order of [`Category::ALL`].
    pub categories: [u64; Category::ALL.len()],
}

impl Group {
    /// The category of most of its bytes; the first of equals.
    #[must_use]
    pub fn main_category(&self) -> Category {
        main_category(&self.categories)
    }
}

/// The category with most bytes; the first of equals, and unknown when there are none.
#[must_use]
pub fn main_category(bytes: &[u64; Category::ALL.len()]) -> Category {
    let all = Category::ALL.into_iter().zip(bytes);
    all.rev()
        .max_by_key(|(_, bytes)| **bytes)
        .filter(|(_, bytes)| **bytes > 0)
        .map_or(Category::Unknown, |(c, _)| c)
}

/// Bytes and number of allocations of all groups together.
#[must_use]
pub fn total(groups: &[Group]) -> (u64, u64) {
    groups.iter().fold((0, 0), |(bytes, count), g| {
        (bytes.saturating_add(g.bytes), count + g.count)
    })
}

/// Bytes by how sure their category is, in the order of [`Certainty`]. `groups` are those of
/// [`By::Category`].
#[must_use]
pub fn certainties(groups: &[Group]) -> [(Certainty, u64); 5] {
    let all = [
        Certainty::Recorded,
        Certainty::Stated,
        Certainty::Likely,
        Certainty::Possible,
        Certainty::None,
    ];
    all.map(|certainty| {
        let of = |g: &&Group| matches!(g.key, Key::Category(_, c) if c == certainty);
        let bytes = groups.iter().filter(of).map(|g| g.bytes);
        (certainty, bytes.fold(0, u64::saturating_add))
    })
}

/// What an allocation has in common with its group.
#[must_use]
pub fn key(
    replay: &Replay,
    sites: &Sites,
    categories: &Categories,
    id: AllocationId,
    by: By,
) -> Key {
    let a = &replay.allocations;
    match by {
        By::Stack => Key::Stack(a.stack(id)),
        By::Line => Key::Line(a.stack(id).and_then(|s| sites.line(s))),
        By::Function => Key::Function(a.stack(id).and_then(|s| sites.function(s))),
        By::Category => {
            let (category, certainty) = categories.get(id);
            Key::Category(category, certainty)
        }
        By::Stream => Key::Stream(a.stream.get(id.index()).copied().unwrap_or_default()),
        By::Pool => Key::Pool(a.get(id).and_then(|a| a.pool)),
        By::Span => Key::Span(a.get(id).and_then(|a| a.span)),
    }
}

/// Groups `ids`, largest first. The groups' bytes add up to those of the set.
#[must_use]
pub fn group(
    replay: &Replay,
    sites: &Sites,
    categories: &Categories,
    ids: &[AllocationId],
    by: By,
) -> Vec<Group> {
    let a = &replay.allocations;
    let mut groups = sums(ids.iter().map(|&id| {
        let key = key(replay, sites, categories, id, by);
        (key, id, a.size(id), categories.get(id).0)
    }));
    let total = groups
        .iter()
        .fold(0, |sum: u64, g| sum.saturating_add(g.bytes));
    for group in &mut groups {
        if total > 0 {
            group.share = group.bytes as f64 / total as f64;
        }
    }
    groups
}

fn sums(rows: impl Iterator<Item = (Key, AllocationId, u64, Category)>) -> Vec<Group> {
    let mut place: HashMap<Key, usize, FxBuildHasher> = HashMap::default();
    let mut out: Vec<(Group, u64)> = Vec::new();
    for (key, id, bytes, category) in rows {
        let at = *place.entry(key).or_insert_with(|| {
            let group = Group {
                key,
                bytes: 0,
                count: 0,
                share: 0.0,
                largest: id,
                categories: [0; Category::ALL.len()],
            };
            out.push((group, 0));
            out.len() - 1
        });
        if let Some((group, largest)) = out.get_mut(at) {
            group.bytes = group.bytes.saturating_add(bytes);
            group.count += 1;
            if let Some(sum) = group.categories.get_mut(category as usize) {
                *sum = sum.saturating_add(bytes);
            }
            if bytes > *largest {
                *largest = bytes;
                group.largest = id;
            }
        }
    }
    // Stable, so that equal groups keep the order in which they came.
    out.sort_by_key(|(g, _)| std::cmp::Reverse((g.bytes, g.count)));
    out.into_iter().map(|(g, _)| g).collect()
}
