//! Frames of two snapshots, matched by text.
//!
//! Recordings come from different machines and from different versions of a program, so three
//! things may differ between frames that are the same to a reader:
//!
//! * **Where a file lies.** Files of packages are named by their path within the packages. Other
//!   files are the same when their paths are, else when the ends of their paths are and no other
//!   file of either side has that end.
//! * **Line numbers**, where code was added or taken out above. See [`super::lines`].
//! * **The function's name**: then it is another function, unless all that is around it says
//!   otherwise. See [`super::renamed`].

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use super::super::Which;
use super::lines::{Use, match_lines};
use super::renamed::renamed;
use crate::analyze::snapshot::Analysis;
use crate::model::StringId;
use crate::model::snapshot::{FrameId, StackId};

/// A frame of either side or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u32);

/// A function of either side or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A frame of either side or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its function.
    pub function: FunctionId,
    /// A's frame; `None` when only B has it.
    pub a: Option<FrameId>,
    /// B's frame.
    pub b: Option<FrameId>,
    /// Whether it stands on another line in B than in A.
    pub moved: bool,
    /// Whether its function has another name in B.
    pub renamed: bool,
}

/// The frames of both sides.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    /// Every place.
    pub places: Vec<Place>,
    /// Files that lie elsewhere in B: A's path and B's.
    pub elsewhere: Vec<(String, String)>,
    /// Functions that have another name in B: A's name and B's.
    pub renamed: Vec<(String, String)>,
    others: HashSet<FunctionId>,
    of_a: Vec<PlaceId>,
    of_b: Vec<PlaceId>,
    files: Vec<u32>,
}

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// Most ends of a path that are tried.
const DEPTH: usize = 8;

impl Frames {
    pub(super) fn of(a: &Analysis, b: &Analysis) -> Self {
        let mut this = Self::default();
        let (files_a, files_b) = this.files(a, b);
        let mut functions = Functions::default();
        let (of_a, mut of_b) = (functions.of(a, &files_a), functions.of(b, &files_b));
        this.files = functions.files;
        this.rename(a, b, &of_a, &mut of_b, &nameless(a, &files_a));
        // The lines of each function on both sides, with the frames that stand on them.
        let n = this.files.len();
        let (mut lines_a, mut lines_b) = (lines(a, &of_a, n), lines(b, &of_b, n));
        let differ: Vec<bool> = lines_a
            .iter()
            .zip(&lines_b)
            .map(|(x, y)| {
                let both = !x.is_empty() && !y.is_empty();
                both && !x.iter().map(|l| l.line).eq(y.iter().map(|l| l.line))
            })
            .collect();
        calls(a, &of_a, &differ, &mut lines_a);
        calls(b, &of_b, &differ, &mut lines_b);
        this.of_a = vec![PlaceId(0); of_a.len()];
        this.of_b = vec![PlaceId(0); of_b.len()];
        for (f, (x, y)) in lines_a.iter().zip(&lines_b).enumerate() {
            this.place(FunctionId(f as u32), x, y);
        }
        this
    }

    /// Finds the functions with other names.
    fn rename(
        &mut self,
        a: &Analysis,
        b: &Analysis,
        of_a: &[FunctionId],
        of_b: &mut [FunctionId],
        nameless: &HashSet<u32>,
    ) {
        let name = |side: &Analysis, of: &[FunctionId], function: FunctionId| {
            let at = of.iter().position(|&f| f == function)?;
            let frame = side.snapshot().frames.get(FrameId(at as u32));
            Some(side.strings().get(frame.name).to_owned())
        };
        let before = of_b.to_vec();
        let files = &self.files;
        let file = |f: FunctionId| {
            let number = files.get(f.0 as usize).copied();
            number.filter(|n| *n != u32::MAX && !nameless.contains(n))
        };
        for (was, is) in renamed(a, b, of_a, of_b, file) {
            self.others.insert(was);
            self.renamed
                .extend(name(a, of_a, was).zip(name(b, &before, is)));
        }
    }

    /// The places of one function.
    fn place(&mut self, function: FunctionId, a: &[Use], b: &[Use]) {
        let pairs = match_lines(a, b);
        let mut taken: Vec<Option<PlaceId>> = vec![None; b.len()];
        for (line, partner) in a.iter().zip(pairs) {
            let other = partner.and_then(|j| b.get(j));
            let id = self.push(Place {
                function,
                a: line.frames.first().copied(),
                b: other.and_then(|o| o.frames.first().copied()),
                moved: other.is_some_and(|o| o.line != line.line),
                renamed: other.is_some() && self.others.contains(&function),
            });
            if let Some(slot) = partner.and_then(|j| taken.get_mut(j)) {
                *slot = Some(id);
            }
            assign(&mut self.of_a, &line.frames, id);
        }
        for (line, taken) in b.iter().zip(taken) {
            let id = taken.unwrap_or_else(|| {
                self.push(Place {
                    function,
                    a: None,
                    b: line.frames.first().copied(),
                    moved: false,
                    renamed: false,
                })
            });
            assign(&mut self.of_b, &line.frames, id);
        }
    }

    fn push(&mut self, place: Place) -> PlaceId {
        self.places.push(place);
        PlaceId(self.places.len() as u32 - 1)
    }

    /// The place of a side's frame.
    #[must_use]
    pub fn of_frame(&self, which: Which, frame: FrameId) -> Option<PlaceId> {
        let of = match which {
            Which::A => &self.of_a,
            Which::B => &self.of_b,
        };
        of.get(frame.0 as usize).copied()
    }

    /// A place; `None` when there is no such row.
    #[must_use]
    pub fn get(&self, id: PlaceId) -> Option<&Place> {
        self.places.get(id.0 as usize)
    }

    /// The number of the file that a place's function is in, the same for both sides.
    #[must_use]
    pub(super) fn file(&self, place: &Place) -> u32 {
        self.files
            .get(place.function.0 as usize)
            .copied()
            .unwrap_or(0)
    }

    /// How many frames stand on other lines in B.
    #[must_use]
    pub fn moved(&self) -> usize {
        self.places.iter().filter(|p| p.moved).count()
    }

    /// Numbers of the files of both sides, by string.
    fn files(&mut self, a: &Analysis, b: &Analysis) -> (Map<StringId, u32>, Map<StringId, u32>) {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of = |side: &Analysis| -> Map<StringId, u32> {
            let mut out = Map::default();
            for &file in &side.snapshot().frames.file {
                out.entry(file).or_insert_with(|| {
                    let next = numbers.len() as u32;
                    *numbers
                        .entry(within(side.strings().get(file)))
                        .or_insert(next)
                });
            }
            out
        };
        let (x, mut y) = (of(a), of(b));
        let names = |side: &Analysis, own: &Map<StringId, u32>, other: &Map<StringId, u32>| {
            let known: HashSet<u32> = other.values().copied().collect();
            let lone = own.iter().filter(|(_, n)| !known.contains(*n));
            let mut lone: Vec<(Vec<String>, StringId, u32)> = lone
                .map(|(&id, &n)| (ends(&within(side.strings().get(id))), id, n))
                .filter(|(ends, ..)| !ends.is_empty())
                .collect();
            lone.sort();
            lone
        };
        let (mut lone_a, mut lone_b) = (names(a, &x, &y), names(b, &y, &x));
        for depth in (1..=DEPTH).rev() {
            let count = |lone: &[(Vec<String>, StringId, u32)]| {
                let mut out: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
                for (i, (ends, ..)) in lone.iter().enumerate() {
                    if let Some(end) = ends.get(..depth) {
                        out.entry(end.to_vec()).or_default().push(i);
                    }
                }
                out
            };
            let (ends_a, ends_b) = (count(&lone_a), count(&lone_b));
            let (mut done_a, mut done_b) = (HashSet::new(), HashSet::new());
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            for (end, i) in &ends_a {
                if let ([i], Some([j])) = (i.as_slice(), ends_b.get(end).map(Vec::as_slice)) {
                    pairs.push((*i, *j));
                }
            }
            pairs.sort_unstable();
            for (i, j) in pairs {
                let (Some(p), Some(q)) = (lone_a.get(i), lone_b.get(j)) else {
                    continue;
                };
                y.insert(q.1, p.2);
                self.elsewhere.push((
                    a.strings().get(p.1).to_owned(),
                    b.strings().get(q.1).to_owned(),
                ));
                done_a.insert(i);
                done_b.insert(j);
            }
            let mut n = 0..;
            lone_a.retain(|_| n.next().is_none_or(|i| !done_a.contains(&i)));
            let mut n = 0..;
            lone_b.retain(|_| n.next().is_none_or(|i| !done_b.contains(&i)));
        }
        (x, y)
    }
}

/// The numbers of files that are none: native code without a file.
fn nameless(side: &Analysis, files: &Map<StringId, u32>) -> HashSet<u32> {
    let none = |id: &StringId| matches!(side.strings().get(*id), "" | "??");
    let all = files.iter().filter(|(id, _)| none(id));
    all.map(|(_, &n)| n).collect()
}

/// A file's path from where it means the same on every machine.
fn within(file: &str) -> String {
    let file = file.replace('\\', "/");
    for mark in ["site-packages/", "dist-packages/"] {
        if let Some((_, rest)) = file.split_once(mark) {
            return rest.to_owned();
        }
    }
    // Python's own library: `.../lib/python3.12/threading.py`.
    if let Some((_, rest)) = file.split_once("/lib/python")
        && let Some((_, rest)) = rest.split_once('/')
    {
        return format!("python/{rest}");
    }
    file
}

/// The names of a path from its end on; none for what is no path of a file that a name tells.
fn ends(file: &str) -> Vec<String> {
    let names: Vec<String> = file.rsplit('/').map(str::to_owned).collect();
    match names.first().map(String::as_str) {
        None | Some("" | "??" | "__init__.py") => Vec::new(),
        Some(name) if name.starts_with('<') => Vec::new(),
        _ => names,
    }
}

/// Numbers functions by file and name.
#[derive(Default)]
struct Functions {
    names: HashMap<String, u32>,
    ids: Map<(u32, u32), FunctionId>,
    /// File of each function.
    files: Vec<u32>,
}

impl Functions {
    /// The function of each frame of a side.
    fn of(&mut self, side: &Analysis, files: &Map<StringId, u32>) -> Vec<FunctionId> {
        let mut names: Map<StringId, u32> = Map::default();
        let frames = side.snapshot().frames.iter();
        frames
            .map(|(_, frame)| {
                let name = *names.entry(frame.name).or_insert_with(|| {
                    let next = self.names.len() as u32;
                    let text = side.strings().get(frame.name).to_owned();
                    *self.names.entry(text).or_insert(next)
                });
                let file = files.get(&frame.file).copied().unwrap_or(u32::MAX);
                let next = FunctionId(self.files.len() as u32);
                let id = *self.ids.entry((file, name)).or_insert(next);
                if id == next {
                    self.files.push(file);
                }
                id
            })
            .collect()
    }
}

/// The lines of each of `n` functions, ascending, with the frames on them.
fn lines(side: &Analysis, of: &[FunctionId], n: usize) -> Vec<Vec<Use>> {
    let mut out: Vec<Vec<Use>> = vec![Vec::new(); n];
    let mut frames: Vec<(FunctionId, u32, FrameId)> = side
        .snapshot()
        .frames
        .iter()
        .zip(of)
        .map(|((id, frame), &f)| (f, frame.line, id))
        .collect();
    frames.sort_unstable();
    for (f, line, id) in frames {
        let Some(lines) = out.get_mut(f.0 as usize) else {
            continue;
        };
        match lines.last_mut().filter(|l| l.line == line) {
            Some(last) => last.frames.push(id),
            None => lines.push(Use {
                line,
                frames: vec![id],
                calls: Vec::new(),
            }),
        }
    }
    out
}

/// What the lines of functions that `differ` call: looked up in the stacks.
fn calls(side: &Analysis, of: &[FunctionId], differ: &[bool], lines: &mut [Vec<Use>]) {
    if !differ.contains(&true) {
        return;
    }
    let mut seen: HashSet<(FrameId, Option<FunctionId>), FxBuildHasher> = HashSet::default();
    let function = |f: FrameId| of.get(f.0 as usize).copied();
    let snapshot = side.snapshot();
    for stack in 0..snapshot.stacks.len() as u32 {
        let mut callee = None;
        for &frame in snapshot.stacks.get(StackId(stack)) {
            let own = function(frame);
            if own.is_some_and(|f| differ.get(f.0 as usize) == Some(&true)) {
                seen.insert((frame, callee));
            }
            callee = own;
        }
    }
    for (frame, callee) in seen {
        let line = snapshot.frames.get(frame).line;
        let Some(lines) = function(frame).and_then(|f| lines.get_mut(f.0 as usize)) else {
            continue;
        };
        if let Ok(at) = lines.binary_search_by_key(&line, |l| l.line)
            && let Some(found) = lines.get_mut(at)
        {
            found.calls.push(callee.map_or(u32::MAX, |f| f.0));
        }
    }
    for line in lines.iter_mut().flatten() {
        line.calls.sort_unstable();
        line.calls.dedup();
    }
}

fn assign(of: &mut [PlaceId], frames: &[FrameId], id: PlaceId) {
    for frame in frames {
        if let Some(slot) = of.get_mut(frame.0 as usize) {
            *slot = id;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_mean_the_same_on_every_machine() {
        for (file, expected) in [
            (
                "/a/lib/python3.12/site-packages/torch/optim/adam.py",
                "torch/optim/adam.py",
            ),
            (
                "C:\\env\\Lib\\site-packages\\torch\\optim\\adam.py",
                "torch/optim/adam.py",
            ),
            ("/usr/lib/python3.10/threading.py", "python/threading.py"),
            ("/home/u/train.py", "/home/u/train.py"),
        ] {
            assert_eq!(within(file), expected);
        }
        assert!(ends("??").is_empty() && ends("<string>").is_empty() && ends("").is_empty());
        assert_eq!(ends("/home/train.py"), ["train.py", "home", ""]);
    }
}
