//! Two snapshots for scripts.

use serde::Serialize;

use super::super::answer::{Answer, Most, PairAnswer};
use super::super::{Comparison, Which};
use super::LiveDiff;
use super::groups::{By, Key, Part, Row};
use crate::analyze::snapshot::Named;
use crate::model::snapshot::{FrameId, StackId};

/// Two snapshots.
#[derive(Debug, Clone, Serialize)]
pub struct SnapshotAnswer {
    /// The instants that are compared, as every other verb names them.
    pub at: At,
    /// Requested bytes then.
    pub requested: PairAnswer,
    /// Frames that stand on another line in B.
    pub moved_frames: usize,
    /// Files that lie elsewhere in B: A's path and B's.
    pub files_elsewhere: Vec<(String, String)>,
    /// Functions that have another name in B: A's name and B's.
    pub renamed_functions: Vec<(String, String)>,
    /// Groups.
    pub by: Vec<Grouping>,
}

/// The instants.
#[derive(Debug, Clone, Serialize)]
pub struct At {
    /// A's.
    pub a: String,
    /// B's.
    pub b: String,
}

/// Groups of one kind. Their differences sum to that of `requested`.
#[derive(Debug, Clone, Serialize)]
pub struct Grouping {
    /// `line`, `function`, `stack` or `category`.
    pub by: &'static str,
    /// Largest difference first.
    pub rows: Vec<Group>,
    /// What is not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

/// The sum of the groups that are not listed.
#[derive(Debug, Clone, Serialize)]
pub struct Others {
    /// How many there are.
    pub groups: usize,
    /// B's bytes minus A's.
    pub delta: i64,
}

/// A group.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// What became of it.
    pub status: &'static str,
    /// `exact`, `moved` (another line), `renamed` (a function has another name), `folded` (torch's
    /// own or native frames differ), `inner` (the same innermost frames of the program) or `alike`
    /// (sizes, their order and category agree, stacks do not).
    pub matched: &'static str,
    /// The category, when grouped by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<&'static str>,
    /// A's allocations.
    pub a: GroupSide,
    /// B's.
    pub b: GroupSide,
    /// B's bytes minus A's.
    pub delta: i64,
}

/// One side of a group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupSide {
    /// Requested bytes.
    pub bytes: u64,
    /// Allocations.
    pub count: u64,
    /// The stack's name in this snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// File of the first frame of the user's, or of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// The whole answer; `by` are the groupings that are wanted.
#[must_use]
pub fn answer(of: &Comparison, live: Option<&LiveDiff>, by: &[By], most: Most) -> Answer {
    let mut out = super::super::answer::answer(of, most);
    out.snapshot = live.map(|live| {
        let frames = live.diff.frames();
        SnapshotAnswer {
            at: At {
                a: live.at.0.to_string(),
                b: live.at.1.to_string(),
            },
            requested: live.total.into(),
            moved_frames: frames.moved(),
            files_elsewhere: frames.elsewhere.clone(),
            renamed_functions: frames.renamed.clone(),
            by: by.iter().map(|&by| grouping(live, by, most)).collect(),
        }
    });
    out
}

fn grouping(live: &LiveDiff, by: By, most: Most) -> Grouping {
    let rows = live.groups(by);
    let n = most.rows.unwrap_or(usize::MAX).min(rows.len());
    let rest = rows.get(n..).unwrap_or_default();
    let delta = rest.iter().map(|r| i128::from(r.delta())).sum();
    Grouping {
        by: by.word(),
        others: (!rest.is_empty()).then(|| Others {
            groups: rest.len(),
            delta: crate::analyze::narrow(delta),
        }),
        rows: rows.iter().take(n).map(|r| group(live, r)).collect(),
    }
}

fn group(live: &LiveDiff, row: &Row) -> Group {
    let category = match row.key {
        Key::Category(c) => Some(c.word()),
        _ => None,
    };
    Group {
        status: row.status().word(),
        matched: row.how.word(),
        category,
        a: side(live, Which::A, row.key, row.a),
        b: side(live, Which::B, row.key, row.b),
        delta: row.delta(),
    }
}

fn side(live: &LiveDiff, which: Which, key: Key, part: Part) -> GroupSide {
    let analysis = live.diff.side(which);
    let (stack, frame) = place(live, which, key);
    let frame = frame.map(|f| analysis.snapshot().frames.get(f));
    let text = |id| analysis.strings().get(id).to_owned();
    let line = !matches!(key, Key::Function(..));
    GroupSide {
        bytes: part.bytes,
        count: part.count,
        stack: stack.map(|s| analysis.name(Named::Stack(s))),
        file: frame.map(|f| text(f.file)),
        line: frame.filter(|_| line).map(|f| f.line),
        function: frame.map(|f| text(f.name)),
    }
}

/// The stack of a side and the frame that stands for a group.
#[must_use]
pub fn place(live: &LiveDiff, which: Which, key: Key) -> (Option<StackId>, Option<FrameId>) {
    let one = |a, b| match which {
        Which::A => a,
        Which::B => b,
    };
    match key {
        Key::Unrecorded | Key::Category(_) => (None, None),
        Key::Line(a, b) | Key::Function(a, b) => (None, one(a, b)),
        Key::Stack(a, b) => {
            let stack = match which {
                Which::A => a,
                Which::B => b,
            };
            let sites = live.diff.side(which).sites();
            (stack, stack.and_then(|s| sites.place(s)))
        }
    }
}
