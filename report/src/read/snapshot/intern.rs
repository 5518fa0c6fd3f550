//! Frames and stacks, each distinct one once.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::model::StringId;
use crate::model::snapshot::{Frame, FrameId, FrameTable, FxNode, StackId, StackTable};

/// Fills a [`FrameTable`].
#[derive(Default)]
pub(crate) struct Frames {
    pub(crate) table: FrameTable,
    index: HashTable<u32>,
}

impl Frames {
    /// The id of a frame. `None` when 2^32 are there already.
    pub(crate) fn intern(&mut self, frame: &Frame, fx: Option<FxNode>) -> Option<FrameId> {
        let h = hash(&(frame, fx));
        let table = &self.table;
        let same =
            |&id: &u32| table.get(FrameId(id)) == *frame && table.fx(FrameId(id)).copied() == fx;
        if let Some(&id) = self.index.find(h, same) {
            return Some(FrameId(id));
        }
        let id = u32::try_from(self.table.len())
            .ok()
            .filter(|&i| i < u32::MAX)?;
        self.table.name.push(frame.name);
        self.table.file.push(frame.file);
        self.table.line.push(frame.line);
        if let Some(fx) = fx {
            self.table.fx.push((FrameId(id), fx));
        }
        let table = &self.table;
        self.index.insert_unique(h, id, |&id| {
            let id = FrameId(id);
            hash(&(&table.get(id), table.fx(id).copied()))
        });
        Some(FrameId(id))
    }
}

/// Fills a [`StackTable`].
#[derive(Default)]
pub(crate) struct Stacks {
    pub(crate) table: StackTable,
    index: HashTable<u32>,
}

impl Stacks {
    /// The id of a stack. `None` when the table is full.
    pub(crate) fn intern(&mut self, frames: &[FrameId]) -> Option<StackId> {
        if frames.is_empty() {
            return Some(StackId::EMPTY);
        }
        let h = hash(&frames);
        let table = &self.table;
        if let Some(&id) = self.index.find(h, |&id| table.get(StackId(id)) == frames) {
            return Some(StackId(id));
        }
        let id = u32::try_from(self.table.ends.len())
            .ok()
            .filter(|&id| id < StackId::ABSENT)?;
        let end = u32::try_from(self.table.frames.len() + frames.len()).ok()?;
        self.table.frames.extend_from_slice(frames);
        self.table.ends.push(end);
        let table = &self.table;
        self.index
            .insert_unique(h, id, |&id| hash(&table.get(StackId(id))));
        Some(StackId(id))
    }

    /// Frames over all stacks.
    pub(crate) fn total(&self) -> usize {
        self.table.frames.len()
    }
}

fn hash<T: std::hash::Hash>(value: &T) -> u64 {
    let mut h = FxHasher::default();
    value.hash(&mut h);
    h.finish()
}

/// The distinct text of a reading; see [`crate::model::Interner`].
pub(super) type Text = crate::model::Interner;

/// The empty text.
pub(super) const NO_TEXT: StringId = StringId::EMPTY;
