//! Groups of both sides, matched.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::{Pair, Status, Which};
use super::LiveDiff;
use super::frames::{Frames, PlaceId};
use crate::analyze::difference;
use crate::analyze::snapshot::Analysis;
use crate::analyze::snapshot::categories::Category;
use crate::analyze::snapshot::sites::Owner;
use crate::model::snapshot::{FrameId, StackId};

/// What to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum By {
    /// The whole stack.
    Stack,
    /// File and line of the first frame of the user's.
    #[default]
    Line,
    /// The innermost function outside torch: in models mostly a module's `forward`.
    Function,
    /// What the memory is for.
    Category,
}

impl By {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Line, Self::Function, Self::Stack, Self::Category];

    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Stack => "stack",
            Self::Line => "line",
            Self::Function => "function",
            Self::Category => "category",
        }
    }

    /// From its word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| b.word() == word)
    }
}

/// What a group has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// No stack was recorded.
    Unrecorded,
    /// A stack of each side that has one.
    Stack(Option<StackId>, Option<StackId>),
    /// A frame of each side that stands for its file and line.
    Line(Option<FrameId>, Option<FrameId>),
    /// A frame of each side that stands for its file and function.
    Function(Option<FrameId>, Option<FrameId>),
    /// See [`By::Category`].
    Category(Category),
}

/// How sure it is that both sides of a row are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Same text, or only one side is there.
    Exact,
    /// Same function and file, but another line.
    Moved,
    /// The same stack but for torch's own and native frames.
    Folded,
}

impl Match {
    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Moved => "moved",
            Self::Folded => "folded",
        }
    }
}

/// One side of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Requested bytes.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
}

/// A group of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What it has in common.
    pub key: Key,
    /// A's allocations.
    pub a: Part,
    /// B's.
    pub b: Part,
    /// How it was matched.
    pub how: Match,
}

impl Row {
    /// B's bytes minus A's.
    #[must_use]
    pub fn delta(&self) -> i64 {
        difference(self.b.bytes, self.a.bytes)
    }

    /// Bytes of both.
    #[must_use]
    pub fn pair(&self) -> Pair {
        Pair {
            a: Some(self.a.bytes),
            b: Some(self.b.bytes),
        }
    }

    /// What became of it.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::of(
            self.a.count > 0,
            self.b.count > 0,
            self.b.bytes.cmp(&self.a.bytes),
        )
    }
}

/// What two groups of different sides share when they are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Shared {
    Unrecorded,
    Stack(Box<[PlaceId]>),
    /// File, line, and whose line that is.
    Line(u32, u32, bool),
    Function(u32),
    Category(Category),
}

pub(super) fn groups(live: &LiveDiff, by: By) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut place: HashMap<Shared, usize, FxBuildHasher> = HashMap::default();
    for which in [Which::A, Which::B] {
        let sums = sums(live, which, by);
        for (stack, part) in sums {
            let (shared, key, moved) = shared(live, which, by, stack);
            let at = *place.entry(shared).or_insert_with(|| {
                rows.push(Row {
                    key,
                    a: Part::default(),
                    b: Part::default(),
                    how: Match::Exact,
                });
                rows.len() - 1
            });
            if let Some(row) = rows.get_mut(at) {
                add(row, which, part);
                row.key = join(row.key, key);
                if moved {
                    row.how = row.how.max(Match::Moved);
                }
            }
        }
    }
    for row in &mut rows {
        // A line that moved is no news where only one side has the group.
        if row.a.count == 0 || row.b.count == 0 {
            row.how = Match::Exact;
        }
    }
    if by == By::Stack {
        rows = folded(live, rows);
    }
    sort(&mut rows);
    rows
}

/// Largest difference first; of equals the larger.
fn sort(rows: &mut [Row]) {
    rows.sort_by_key(|r| std::cmp::Reverse((r.delta().unsigned_abs(), r.a.bytes.max(r.b.bytes))));
}

fn add(row: &mut Row, which: Which, part: Part) {
    let side = match which {
        Which::A => &mut row.a,
        Which::B => &mut row.b,
    };
    side.bytes = side.bytes.saturating_add(part.bytes);
    side.count += part.count;
}

/// What is summed on one side: a stack, or none, or a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Own {
    Unrecorded,
    Stack(StackId),
    Category(Category),
}

fn sums(live: &LiveDiff, which: Which, by: By) -> Vec<(Own, Part)> {
    let side = live.diff.side(which);
    let mut out: HashMap<Own, Part, FxBuildHasher> = HashMap::default();
    for &id in live.ids(which) {
        let own = match by {
            By::Category => Own::Category(side.categories().get(id).0),
            _ => side
                .replay
                .allocations
                .stack(id)
                .map_or(Own::Unrecorded, Own::Stack),
        };
        let part = out.entry(own).or_default();
        part.bytes = part.bytes.saturating_add(side.replay.allocations.size(id));
        part.count += 1;
    }
    let mut out: Vec<_> = out.into_iter().collect();
    // The largest first, so that it stands for its group.
    out.sort_unstable_by_key(|&(own, p)| (std::cmp::Reverse(p.bytes), own));
    out
}

fn shared(live: &LiveDiff, which: Which, by: By, own: Own) -> (Shared, Key, bool) {
    let stack = match own {
        Own::Category(c) => return (Shared::Category(c), Key::Category(c), false),
        Own::Unrecorded => return (Shared::Unrecorded, Key::Unrecorded, false),
        Own::Stack(stack) => stack,
    };
    let side = live.diff.side(which);
    let frames = live.diff.frames();
    let one = |frame: FrameId| match which {
        Which::A => (Some(frame), None),
        Which::B => (None, Some(frame)),
    };
    let found = |frame: FrameId| Some((frame, *frames.get(frames.of_frame(which, frame)?)?));
    match by {
        By::Line => {
            let at = side.sites().place(stack).and_then(found);
            let Some((frame, place)) = at else {
                return (Shared::Unrecorded, Key::Unrecorded, false);
            };
            let line = |side: &Analysis, frame: FrameId| side.snapshot().frames.get(frame).line;
            // A's line where A has one, so that both sides say the same.
            let (number, of_b) = match (place.a, place.b) {
                (Some(f), _) => (line(&live.diff.a, f), false),
                (None, Some(f)) => (line(&live.diff.b, f), true),
                (None, None) => (0, false),
            };
            let (a, b) = one(frame);
            let shared = Shared::Line(frames.file(&place), number, of_b);
            (shared, Key::Line(a, b), place.moved)
        }
        By::Function => {
            let Some((frame, place)) = side.sites().function(stack).and_then(found) else {
                return (Shared::Unrecorded, Key::Unrecorded, false);
            };
            let (a, b) = one(frame);
            (
                Shared::Function(place.function.0),
                Key::Function(a, b),
                false,
            )
        }
        By::Stack | By::Category => {
            let (path, moved) = path(side, frames, which, stack, false);
            let (a, b) = match which {
                Which::A => (Some(stack), None),
                Which::B => (None, Some(stack)),
            };
            (Shared::Stack(path), Key::Stack(a, b), moved)
        }
    }
}

/// The places of a stack, and whether any stands on another line on the other side. With `fold`,
/// native frames and torch's are left out of stacks that have others.
fn path(
    side: &Analysis,
    frames: &Frames,
    which: Which,
    stack: StackId,
    fold: bool,
) -> (Box<[PlaceId]>, bool) {
    let own = side.snapshot().stacks.get(stack);
    let keep = |f: &FrameId| side.sites().owner(*f) <= Owner::Library;
    let folds = fold && own.iter().any(keep);
    let kept = own.iter().filter(|f| !folds || keep(f));
    let places: Box<[PlaceId]> = kept.filter_map(|&f| frames.of_frame(which, f)).collect();
    let moved = places
        .iter()
        .any(|&p| frames.get(p).is_some_and(|p| p.moved));
    (places, moved)
}

/// Stacks of one side only are matched again without torch's own and native frames: these change
/// with the version and with what is switched on, the program's own frames say the same.
fn folded(live: &LiveDiff, rows: Vec<Row>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::with_capacity(rows.len());
    let mut lone: HashMap<Box<[PlaceId]>, Vec<Row>, FxBuildHasher> = HashMap::default();
    let frames = live.diff.frames();
    let mut order: Vec<Box<[PlaceId]>> = Vec::new();
    for row in rows {
        let (which, stack) = match row.key {
            Key::Stack(Some(stack), None) => (Which::A, stack),
            Key::Stack(None, Some(stack)) => (Which::B, stack),
            _ => {
                out.push(row);
                continue;
            }
        };
        let (key, _) = path(live.diff.side(which), frames, which, stack, true);
        let list = lone.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        list.push(row);
    }
    for key in order {
        let rows = lone.remove(&key).unwrap_or_default();
        let both = rows.iter().any(|r| r.a.count > 0) && rows.iter().any(|r| r.b.count > 0);
        if !both {
            out.extend(rows);
            continue;
        }
        let mut rows = rows.into_iter();
        let Some(mut all) = rows.next() else { continue };
        for row in rows {
            add(&mut all, Which::A, row.a);
            add(&mut all, Which::B, row.b);
            all.key = join(all.key, row.key);
        }
        all.how = Match::Folded;
        out.push(all);
    }
    out
}

/// What stands for a group on each side: what came first, as that is the largest.
fn join(a: Key, b: Key) -> Key {
    match (a, b) {
        (Key::Stack(x, y), Key::Stack(p, q)) => Key::Stack(x.or(p), y.or(q)),
        (Key::Line(x, y), Key::Line(p, q)) => Key::Line(x.or(p), y.or(q)),
        (Key::Function(x, y), Key::Function(p, q)) => Key::Function(x.or(p), y.or(q)),
        (a, _) => a,
    }
}
