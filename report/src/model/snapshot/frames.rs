//! Distinct stack frames.

use crate::model::StringId;

/// A row of [`FrameTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FrameId(pub u32);

/// One frame as the source writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// Function.
    pub name: StringId,
    /// File; `??` for C++ that was not symbolised.
    pub file: StringId,
    /// Line; 0 when unknown.
    pub line: u32,
}

/// What `augment_with_fx_traces` adds to a frame of generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FxNode {
    /// `fx_node_op`.
    pub op: StringId,
    /// `fx_node_name`.
    pub name: StringId,
    /// `fx_node_target`.
    pub target: StringId,
    /// `fx_original_trace`.
    pub original_trace: StringId,
}

/// The distinct frames of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameTable {
    /// See [`Frame::name`].
    pub name: Vec<StringId>,
    /// See [`Frame::file`].
    pub file: Vec<StringId>,
    /// See [`Frame::line`].
    pub line: Vec<u32>,
    /// Frames of generated code, ascending by frame.
    pub fx: Vec<(FrameId, FxNode)>,
}

impl FrameTable {
    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// One frame; a default one when `id` is out of range.
    #[must_use]
    pub fn get(&self, id: FrameId) -> Frame {
        let i = id.0 as usize;
        Frame {
            name: self.name.get(i).copied().unwrap_or_default(),
            file: self.file.get(i).copied().unwrap_or_default(),
            line: self.line.get(i).copied().unwrap_or_default(),
        }
    }

    /// The generated code behind a frame.
    #[must_use]
    pub fn fx(&self, id: FrameId) -> Option<&FxNode> {
        let at = self.fx.binary_search_by_key(&id, |f| f.0).ok()?;
        self.fx.get(at).map(|f| &f.1)
    }

    /// Every frame with its id.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, Frame)> + '_ {
        (0..self.len() as u32).map(|i| (FrameId(i), self.get(FrameId(i))))
    }
}
