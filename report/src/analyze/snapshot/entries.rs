//! Entries of the history by what they are about: which allocation, which reserved range; and the
//! entries that a filter lets through.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::{AllocationId, NEVER, SpanId};
use super::analysis::Analysis;
use super::instant::Named;
use super::replay::Replay;
use crate::model::StringTable;
use crate::model::snapshot::{Action, Snapshot, StackId, TraceId, TraceRow};

/// What every entry of a device is about.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    first: u32,
    allocation: Vec<u32>,
    /// Ranges that an entry made, and that it ended, by entry.
    made: HashMap<u32, SpanId, FxBuildHasher>,
    ended: HashMap<u32, Vec<SpanId>, FxBuildHasher>,
}

impl Entries {
    /// Looks at every allocation and range once.
    #[must_use]
    pub fn of(replay: &Replay) -> Self {
        let a = &replay.allocations;
        let mut this = Self {
            first: replay.first,
            allocation: vec![NEVER; replay.events().len()],
            ..Self::default()
        };
        // An entry that hands out a block may also end another: what it hands out comes last.
        for column in [&a.completed, &a.requested, &a.born] {
            for (id, &row) in column.iter().enumerate() {
                let row = row.checked_sub(replay.first).filter(|_| row != NEVER);
                if let Some(slot) = row.and_then(|r| this.allocation.get_mut(r as usize)) {
                    *slot = id as u32;
                }
            }
        }
        for (i, span) in replay.spans.rows.iter().enumerate() {
            let id = SpanId(i as u32);
            if let Some(at) = span.born {
                this.made.entry(at.0).or_insert(id);
            }
            if let Some(at) = span.died {
                this.ended.entry(at.0).or_default().push(id);
            }
        }
        this
    }

    /// The allocation that an entry makes or ends.
    #[must_use]
    pub fn allocation(&self, event: TraceId) -> Option<AllocationId> {
        let row = event.0.checked_sub(self.first)? as usize;
        let id = self.allocation.get(row).copied()?;
        (id != NEVER).then_some(AllocationId(id))
    }

    /// The reserved range that is there from an entry on: a segment, or a mapped range with the
    /// neighbours that it grew together with. Of an unmapped middle, what is left of it.
    #[must_use]
    pub fn made(&self, event: TraceId) -> Option<SpanId> {
        self.made.get(&event.0).copied()
    }

    /// The reserved ranges that end with an entry, those that grow into another included.
    #[must_use]
    pub fn ended(&self, event: TraceId) -> &[SpanId] {
        self.ended.get(&event.0).map_or(&[], Vec::as_slice)
    }
}

/// Which entries are asked for. What is `None` or empty lets everything through.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The first entry.
    pub from: Option<TraceId>,
    /// The last entry.
    pub to: Option<TraceId>,
    /// Actions.
    pub actions: Vec<Action>,
    /// An address that lies in the entry's block or segment.
    pub address: Option<u64>,
    /// An allocation, a range (with everything in it while it is reserved), a stack or an entry.
    pub about: Option<Named>,
    /// Fewest bytes.
    pub min_size: Option<u64>,
    /// Most bytes.
    pub max_size: Option<u64>,
    /// Text in a frame of the entry's stack or of its allocation's, as `file:line function`,
    /// upper and lower case alike.
    pub stack: Option<String>,
    /// Text in the name of a range of annotations around the entry, in its metadata, or in its
    /// compile context, upper and lower case alike.
    pub annotation: Option<String>,
}

impl Filter {
    /// The entries that pass, in order.
    #[must_use]
    pub fn rows(&self, a: &Analysis, entries: &Entries) -> Vec<TraceId> {
        let (snapshot, replay) = (a.snapshot(), &a.replay);
        let stacks = self.stack.as_ref().map(|t| stacks(a, t));
        let noted = self.annotation.as_ref().map(|t| Noted::of(a, t));
        let first = self.from.map_or(replay.first, |t| t.0.max(replay.first));
        let past = self.to.map_or(replay.past, |t| (t.0 + 1).min(replay.past));
        (first..past)
            .map(TraceId)
            .filter(|&at| {
                let row = snapshot.events.row(at.index());
                let own = row.stack;
                let made = entries.allocation(at);
                let made_at = || made.and_then(|id| replay.allocations.stack(id));
                (self.actions.is_empty() || self.actions.contains(&row.action))
                    && self.min_size.is_none_or(|m| row.size >= m)
                    && self.max_size.is_none_or(|m| row.size <= m)
                    && self.address.is_none_or(|x| holds(&row, x))
                    && self
                        .about
                        .is_none_or(|n| is_about(replay, n, at, &row, made))
                    && stacks.as_ref().is_none_or(|m| {
                        let hit = |s: StackId| m.get(s.0 as usize) == Some(&true);
                        own.is_some_and(hit) || made_at().is_some_and(hit)
                    })
                    && noted.as_ref().is_none_or(|n| n.has(at, &row))
            })
            .collect()
    }
}

/// Whether an address lies in what an entry is about.
fn holds(row: &TraceRow, address: u64) -> bool {
    let past = row.address.saturating_add(row.size.max(1));
    row.address != 0 && row.address <= address && address < past
}

fn is_about(
    replay: &Replay,
    named: Named,
    at: TraceId,
    row: &TraceRow,
    made: Option<AllocationId>,
) -> bool {
    match named {
        Named::Event(t) => t == at,
        Named::Allocation(id) => {
            made == Some(id)
                || replay.allocations.get(id).is_some_and(|a| {
                    a.lives_after(at) && row.action == Action::Annotate && a.address == row.address
                })
        }
        Named::Stack(s) => {
            row.stack == Some(s) || made.is_some_and(|id| replay.allocations.stack(id) == Some(s))
        }
        Named::Span(id) => replay.spans.get(id).is_some_and(|s| {
            let there = s.born.is_none_or(|b| b <= at) && s.died.is_none_or(|d| at <= d);
            there && row.address != 0 && s.address <= row.address && row.address < s.end()
        }),
    }
}

/// For each stack whether a frame has the text.
fn stacks(a: &Analysis, text: &str) -> Vec<bool> {
    let text = text.to_lowercase();
    let snapshot = a.snapshot();
    let frames: Vec<bool> = snapshot
        .frames
        .iter()
        .map(|(_, f)| {
            let (file, name) = (a.strings().get(f.file), a.strings().get(f.name));
            format!("{file}:{} {name}", f.line)
                .to_lowercase()
                .contains(&text)
        })
        .collect();
    (0..snapshot.stacks.len() as u32)
        .map(|s| {
            let stack = snapshot.stacks.get(StackId(s));
            stack
                .iter()
                .any(|f| frames.get(f.0 as usize) == Some(&true))
        })
        .collect()
}

/// Entries with a text around them.
struct Noted<'a> {
    snapshot: &'a Snapshot,
    strings: &'a StringTable,
    text: String,
    /// Entries from the first up to the second, without overlaps, ascending.
    within: Vec<(u32, u32)>,
}

impl<'a> Noted<'a> {
    fn of(a: &'a Analysis, text: &str) -> Self {
        let text = text.to_lowercase();
        let mut within: Vec<(u32, u32)> = Vec::new();
        for range in a.ranges() {
            if !a.strings().get(range.name).to_lowercase().contains(&text) {
                continue;
            }
            match within.last_mut() {
                Some(last) if range.start.0 <= last.1 => last.1 = last.1.max(range.end.0),
                _ => within.push((range.start.0, range.end.0)),
            }
        }
        Self {
            snapshot: a.snapshot(),
            strings: a.strings(),
            text,
            within,
        }
    }

    fn has(&self, at: TraceId, row: &TraceRow) -> bool {
        let n = self.within.partition_point(|&(_, past)| past <= at.0);
        if self.within.get(n).is_some_and(|&(start, _)| start <= at.0) {
            return true;
        }
        let internal = &self.snapshot.events.internal_metadata;
        let internal = internal.binary_search_by_key(&at, |r| r.0).ok();
        let internal = internal.and_then(|i| self.snapshot.events.internal_metadata.get(i));
        [
            Some(row.user_metadata),
            Some(row.compile_context),
            internal.map(|r| r.1),
        ]
        .into_iter()
        .flatten()
        .map(|id| self.strings.get(id))
        .any(|t| !t.is_empty() && t.to_lowercase().contains(&self.text))
    }
}
