//! Groups of both sides, matched.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::{Pair, Status, Which};
use super::LiveDiff;
use super::frames::{Frames, Place, PlaceId};
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
    /// A function has another name; its file, and what is around it in the stacks, are the same.
    Renamed,
    /// The same stack but for torch's own and native frames.
    Folded,
    /// The same innermost frames of the program, called from elsewhere.
    Inner,
    /// Nothing of the stacks says so, but sizes, in their order, and purpose are the same.
    Alike,
}

impl Match {
    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
            Self::Folded => "folded",
            Self::Inner => "inner",
            Self::Alike => "alike",
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

/// A row with what is summed in it.
struct Held {
    row: Row,
    owns: Vec<(Which, Own)>,
}

impl Held {
    /// The side that has it, where only one does.
    fn lone(&self) -> Option<Which> {
        match (self.row.a.count > 0, self.row.b.count > 0) {
            (true, false) => Some(Which::A),
            (false, true) => Some(Which::B),
            _ => None,
        }
    }

    fn merge(&mut self, other: Self) {
        add(&mut self.row, Which::A, other.row.a);
        add(&mut self.row, Which::B, other.row.b);
        self.row.key = join(self.row.key, other.row.key);
        self.owns.extend(other.owns);
    }
}

pub(super) fn groups(live: &LiveDiff, by: By) -> Vec<Row> {
    let mut rows: Vec<Held> = Vec::new();
    let mut place: HashMap<Shared, usize, FxBuildHasher> = HashMap::default();
    for which in [Which::A, Which::B] {
        let sums = sums(live, which, by);
        for (own, part) in sums {
            let (shared, key, how) = shared(live, which, by, own);
            let at = *place.entry(shared).or_insert_with(|| {
                rows.push(Held {
                    row: Row {
                        key,
                        a: Part::default(),
                        b: Part::default(),
                        how: Match::Exact,
                    },
                    owns: Vec::new(),
                });
                rows.len() - 1
            });
            if let Some(held) = rows.get_mut(at) {
                add(&mut held.row, which, part);
                held.row.key = join(held.row.key, key);
                held.row.how = held.row.how.max(how);
                held.owns.push((which, own));
            }
        }
    }
    for held in &mut rows {
        // A line that moved is no news where only one side has the group.
        if held.lone().is_some() {
            held.row.how = Match::Exact;
        }
    }
    if by == By::Stack {
        rows = again(rows, Match::Folded, |h| folded(live, h));
        rows = inner(live, rows);
    }
    if by != By::Category {
        rows = alike(live, rows);
    }
    let mut rows: Vec<Row> = rows.into_iter().map(|h| h.row).collect();
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

fn shared(live: &LiveDiff, which: Which, by: By, own: Own) -> (Shared, Key, Match) {
    let stack = match own {
        Own::Category(c) => return (Shared::Category(c), Key::Category(c), Match::Exact),
        Own::Unrecorded => return (Shared::Unrecorded, Key::Unrecorded, Match::Exact),
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
                return (Shared::Unrecorded, Key::Unrecorded, Match::Exact);
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
            (shared, Key::Line(a, b), how(&place))
        }
        By::Function => {
            let Some((frame, place)) = side.sites().function(stack).and_then(found) else {
                return (Shared::Unrecorded, Key::Unrecorded, Match::Exact);
            };
            let (a, b) = one(frame);
            (
                Shared::Function(place.function.0),
                Key::Function(a, b),
                match place.renamed {
                    true => Match::Renamed,
                    false => Match::Exact,
                },
            )
        }
        By::Stack | By::Category => {
            let path = path(side, frames, which, stack, false);
            let of = path.iter().filter_map(|&p| frames.get(p)).map(how);
            let how = of.max().unwrap_or(Match::Exact);
            let (a, b) = match which {
                Which::A => (Some(stack), None),
                Which::B => (None, Some(stack)),
            };
            (Shared::Stack(path), Key::Stack(a, b), how)
        }
    }
}

/// How the frames of a place were matched.
fn how(place: &Place) -> Match {
    match (place.renamed, place.moved) {
        (true, _) => Match::Renamed,
        (false, true) => Match::Moved,
        (false, false) => Match::Exact,
    }
}

/// The places of a stack, innermost first. With `fold`, native frames and torch's are left out of stacks that have others.
fn path(
    side: &Analysis,
    frames: &Frames,
    which: Which,
    stack: StackId,
    fold: bool,
) -> Box<[PlaceId]> {
    let own = side.snapshot().stacks.get(stack);
    let keep = |f: &FrameId| side.sites().owner(*f) <= Owner::Library;
    let folds = fold && own.iter().any(keep);
    let kept = own.iter().filter(|f| !folds || keep(f));
    kept.filter_map(|&f| frames.of_frame(which, f)).collect()
}

/// Rows of one side only are put together again where `key` is the same for rows of both.
fn again<K: Clone + Eq + std::hash::Hash>(
    rows: Vec<Held>,
    how: Match,
    key: impl Fn(&Held) -> Option<K>,
) -> Vec<Held> {
    let mut out: Vec<Held> = Vec::with_capacity(rows.len());
    let mut lone: HashMap<K, Vec<Held>, FxBuildHasher> = HashMap::default();
    let mut order: Vec<K> = Vec::new();
    for held in rows {
        let Some(key) = held.lone().and_then(|_| key(&held)) else {
            out.push(held);
            continue;
        };
        let list = lone.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        list.push(held);
    }
    for key in order {
        let rows = lone.remove(&key).unwrap_or_default();
        let has = |which| rows.iter().any(|h| h.lone() == Some(which));
        if !has(Which::A) || !has(Which::B) {
            out.extend(rows);
            continue;
        }
        let mut rows = rows.into_iter();
        let Some(mut all) = rows.next() else { continue };
        for held in rows {
            all.merge(held);
        }
        all.row.how = how;
        out.push(all);
    }
    out
}

/// A lone stack without torch's own and native frames: these change with the version and with what
/// is switched on, the program's own frames say the same.
fn folded(live: &LiveDiff, held: &Held) -> Option<Box<[PlaceId]>> {
    let (which, stack) = match held.row.key {
        Key::Stack(Some(stack), None) => (Which::A, stack),
        Key::Stack(None, Some(stack)) => (Which::B, stack),
        _ => return None,
    };
    let frames = live.diff.frames();
    Some(path(live.diff.side(which), frames, which, stack, true))
}

/// Frames of a stack that are left out from the outside, at most half of them; the deepest agreement
/// first.
fn inner(live: &LiveDiff, mut rows: Vec<Held>) -> Vec<Held> {
    let lone = |rows: &[Held]| {
        let both = |which| rows.iter().any(|h| h.lone() == Some(which));
        both(Which::A) && both(Which::B)
    };
    let deepest = rows.iter().filter(|h| h.lone().is_some());
    let deepest = deepest.filter_map(|h| folded(live, h)).map(|p| p.len());
    let deepest = deepest.max().unwrap_or(0).min(DEEPEST);
    for depth in (2..deepest).rev() {
        if !lone(&rows) {
            break;
        }
        rows = again(rows, Match::Inner, |h| {
            let path = folded(live, h)?;
            let kept = path.get(..depth)?;
            (2 * depth >= path.len()).then(|| Box::<[PlaceId]>::from(kept))
        });
    }
    rows
}

/// Frames that stacks are compared by from the inside, at most.
const DEEPEST: usize = 64;
/// Allocations that make a row recognisable by their sizes; fewer may be alike by chance.
const RECOGNISABLE: usize = 4;

/// Rows of one side only that hold the same sizes in the same order for the same purpose as one row
/// of the other.
fn alike(live: &LiveDiff, rows: Vec<Held>) -> Vec<Held> {
    let mut signs: HashMap<usize, Vec<(Category, u64)>, FxBuildHasher> = HashMap::default();
    for which in [Which::A, Which::B] {
        let mut row_of: HashMap<Own, usize, FxBuildHasher> = HashMap::default();
        for (i, held) in rows.iter().enumerate() {
            if held.lone() == Some(which) {
                row_of.extend(held.owns.iter().map(|&(_, own)| (own, i)));
            }
        }
        let side = live.diff.side(which);
        let mut ids = live.ids(which).to_vec();
        ids.sort_unstable();
        for id in ids {
            let stack = side.replay.allocations.stack(id);
            if let Some(&row) = stack.and_then(|s| row_of.get(&Own::Stack(s))) {
                let category = side.categories().get(id).0;
                let sign = (category, side.replay.allocations.size(id));
                signs.entry(row).or_default().push(sign);
            }
        }
    }
    // Only what one row of each side has says which is which.
    type Key<'a> = (Which, &'a [(Category, u64)]);
    let mut count: HashMap<Key<'_>, usize, FxBuildHasher> = HashMap::default();
    for (&row, sign) in &signs {
        if let Some(which) = rows.get(row).and_then(Held::lone) {
            *count.entry((which, sign.as_slice())).or_default() += 1;
        }
    }
    let one = |sign: &[(Category, u64)]| {
        let of = |which| count.get(&(which, sign)).copied() == Some(1);
        sign.len() >= RECOGNISABLE && of(Which::A) && of(Which::B)
    };
    let known: HashMap<(Which, Own), Vec<(Category, u64)>, FxBuildHasher> = signs
        .iter()
        .filter(|(_, sign)| one(sign))
        .filter_map(|(&row, sign)| {
            let own = rows.get(row)?.owns.first()?;
            Some((*own, sign.clone()))
        })
        .collect();
    again(rows, Match::Alike, |h| {
        h.owns.first().and_then(|own| known.get(own)).cloned()
    })
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
