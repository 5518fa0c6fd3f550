//! What does not fit together in a snapshot, and what its history does not know.

use crate::model::snapshot::TraceId;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// The device has segments but no history: recording was not enabled.
    NoHistory,
    /// Memory was there before the first event: the ring buffer lost the beginning, or recording
    /// began late.
    StartsLate,
    /// The source says that its ring buffer overflowed.
    Overflowed,
    /// A block was handed out at an address that was in use.
    AllocatedTwice,
    /// A free of an address that was not in use, though the history is whole.
    FreeOfUnknown,
    /// A block was freed twice.
    FreedTwice,
    /// A block was handed out where nothing was reserved.
    OutsideSegments,
    /// A segment was reserved over another, or released where none was.
    SegmentMismatch,
    /// A block that lives at the end of the history is not among the blocks of the snapshot.
    NotInSnapshot,
    /// A block of the snapshot has another size than its allocation.
    SizeMismatch,
    /// A block of the snapshot is in use, but the history never handed it out.
    NotInHistory,
    /// The history leads to another sum of requested bytes than the snapshot's blocks have.
    RequestedMismatch,
    /// The history leads to another sum of reserved bytes than the snapshot's segments have.
    ReservedMismatch,
    /// Blocks were still waiting for another stream at the end.
    PendingAtEnd,
    /// The blocks of a segment do not add up to its size.
    BlocksMismatch,
}

/// One kind of finding with its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// How often.
    pub count: u64,
    /// The first event that shows it; `None` when it is about the snapshot's state.
    pub first: Option<TraceId>,
    /// Bytes that it is about.
    pub bytes: u64,
}

/// Findings by kind, in order of first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The rows.
    pub rows: Vec<Finding>,
}

impl Findings {
    pub(super) fn add(&mut self, kind: FindingKind, first: Option<TraceId>, bytes: u64) {
        match self.rows.iter_mut().find(|f| f.kind == kind) {
            Some(row) => {
                row.count += 1;
                row.bytes = row.bytes.saturating_add(bytes);
            }
            None => self.rows.push(Finding {
                kind,
                count: 1,
                first,
                bytes,
            }),
        }
    }

    /// The finding of a kind.
    #[must_use]
    pub fn get(&self, kind: FindingKind) -> Option<&Finding> {
        self.rows.iter().find(|f| f.kind == kind)
    }
}
