//! The short way for lists of frames.
//!
//! Three quarters of a snapshot's bytes name frames that are in the memo: `BINGET` and
//! `LONG_BINGET` up to `APPENDS`. The memo never changes under a writer's hands, so the same bytes
//! are the same stack. They are looked up whole; most often they are those that followed the
//! stack before the last time, and then one comparison settles it.

use std::hash::Hasher as _;
use std::io::Read;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::memo::Memo;
use super::opcode as op;
use super::walk::Walk;
use crate::error::Result;
use crate::model::snapshot::{FrameId, StackId};
use crate::read::snapshot::builder::{Built, Val};

/// Bytes that are kept to be recognised.
const MAX_KEPT: usize = 16 << 20;
/// Bytes that a list may take to be looked at here.
pub(super) const LONGEST: usize = 8 << 10;

/// One run of bytes that names the frames of a stack, with `APPENDS` at its end.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    length: usize,
    stack: StackId,
    /// The run that came after this one the last time.
    next: usize,
}

/// The runs seen so far.
#[derive(Default)]
pub(super) struct Runs {
    bytes: Vec<u8>,
    runs: Vec<Run>,
    index: HashTable<usize>,
    last: usize,
    scratch: Vec<FrameId>,
}

impl Runs {
    /// Forgets everything, because the memo changed.
    pub(super) fn forget(&mut self) {
        self.bytes.clear();
        self.runs.clear();
        self.index.clear();
        self.last = 0;
    }

    fn bytes_of(&self, run: &Run) -> &[u8] {
        self.bytes
            .get(run.start..run.start + run.length)
            .unwrap_or_default()
    }

    /// The stack whose run is next in `bytes`, and the run's length.
    #[inline]
    fn known(&mut self, bytes: &[u8]) -> Option<(StackId, usize)> {
        let guess = self.runs.get(self.last)?.next;
        let run = self.runs.get(guess)?;
        if bytes.starts_with(self.bytes_of(run)) {
            let found = (run.stack, run.length);
            self.last = guess;
            return Some(found);
        }
        None
    }

    fn look_up(&mut self, bytes: &[u8]) -> Option<StackId> {
        let at = *self.index.find(hash(bytes), |&i| {
            self.runs.get(i).is_some_and(|r| self.bytes_of(r) == bytes)
        })?;
        self.follow(at);
        self.runs.get(at).map(|r| r.stack)
    }

    fn follow(&mut self, at: usize) {
        if let Some(last) = self.runs.get_mut(self.last) {
            last.next = at;
        }
        self.last = at;
    }

    fn keep(&mut self, bytes: &[u8], stack: StackId) {
        if self.bytes.len() + bytes.len() > MAX_KEPT {
            return;
        }
        let at = self.runs.len();
        self.runs.push(Run {
            start: self.bytes.len(),
            length: bytes.len(),
            stack,
            next: at,
        });
        self.bytes.extend_from_slice(bytes);
        let (runs, kept) = (&self.runs, &self.bytes);
        self.index.insert_unique(hash(bytes), at, |&i| {
            let run = runs.get(i);
            hash(
                run.and_then(|r| kept.get(r.start..r.start + r.length))
                    .unwrap_or_default(),
            )
        });
        self.follow(at);
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(bytes);
    h.finish()
}

/// Where the run of memo look-ups at the front of `bytes` ends, `APPENDS` included.
fn run_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            op::LONG_BINGET => at += 5,
            op::BINGET => at += 2,
            op::APPENDS if at > 0 => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The stack that `bytes`, right after `MARK`, names, and the bytes that it takes.
#[inline]
pub(super) fn stack(
    runs: &mut Runs,
    bytes: &[u8],
    memo: &Memo,
    build: &mut crate::read::snapshot::builder::Builder,
) -> Built<Option<(StackId, usize)>> {
    if let Some(known) = runs.known(bytes) {
        return Ok(Some(known));
    }
    let Some(length) = run_length(bytes) else {
        return Ok(None);
    };
    let run = bytes.get(..length).unwrap_or_default();
    if let Some(stack) = runs.look_up(run) {
        return Ok(Some((stack, length)));
    }
    let mut frames = std::mem::take(&mut runs.scratch);
    frames.clear();
    let mut rest = run;
    let mut whole = true;
    loop {
        let (slot, tail) = match rest {
            [op::LONG_BINGET, a, b, c, d, tail @ ..] => {
                (u32::from_le_bytes([*a, *b, *c, *d]) as usize, tail)
            }
            [op::BINGET, a, tail @ ..] => (usize::from(*a), tail),
            _ => break,
        };
        rest = tail;
        match memo.get(slot).map(|v| build.resolve(v)) {
            Some(Val::Frame(frame)) => frames.push(frame),
            _ => {
                whole = false;
                break;
            }
        }
    }
    let stack = if whole {
        Some(build.stack(&frames)?)
    } else {
        None
    };
    runs.scratch = frames;
    Ok(stack.map(|stack| {
        runs.keep(run, stack);
        (stack, length)
    }))
}

impl<R: Read> Walk<'_, R> {
    /// At `EMPTY_LIST`: reads a list of frames of the memo, or leaves all as it is.
    pub(super) fn frame_list(&mut self) -> Result<bool> {
        self.window.want(LONGEST)?;
        let rest = self.window.rest();
        // The list itself is mostly put into the memo, as the free names it again.
        let (memoise, head) = match rest {
            [op::EMPTY_LIST, op::MEMOIZE, op::MARK, ..] => (true, 3),
            [op::EMPTY_LIST, op::MARK, ..] => (false, 2),
            _ => return Ok(false),
        };
        if memoise && self.memoised != self.memo.len() {
            return Ok(false);
        }
        self.build.offset = self.window.offset();
        let bytes = self.window.rest().get(head..).unwrap_or_default();
        let found = stack(&mut self.runs, bytes, &self.memo, &mut self.build);
        let Some((stack, length)) = self.built(found)? else {
            return Ok(false);
        };
        if memoise {
            self.memo.push(Val::Stack(stack));
            self.memoised += 1;
        }
        self.window.at += head + length;
        self.push(Val::Stack(stack))?;
        Ok(true)
    }
}
