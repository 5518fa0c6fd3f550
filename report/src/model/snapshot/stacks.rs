//! Distinct stacks.

use super::FrameId;

/// A row of [`StackTable`]. Stack 0 is the empty one: a context without frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames.
    pub const EMPTY: Self = Self(0);
    /// Marks "no stack" in columns.
    pub(crate) const ABSENT: u32 = u32::MAX;
}

/// The distinct stacks of a snapshot: lists of frames, innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackTable {
    /// End of stack `i` in `frames`; its start is the end of `i - 1`.
    pub(crate) ends: Vec<u32>,
    pub(crate) frames: Vec<FrameId>,
}

impl Default for StackTable {
    fn default() -> Self {
        Self {
            ends: vec![0],
            frames: Vec::new(),
        }
    }
}

impl StackTable {
    /// The frames of a stack, innermost first; none when `id` is out of range.
    #[must_use]
    pub fn get(&self, id: StackId) -> &[FrameId] {
        let i = id.0 as usize;
        let start = i
            .checked_sub(1)
            .and_then(|p| self.ends.get(p))
            .copied()
            .unwrap_or(0);
        let end = self.ends.get(i).copied().unwrap_or(start);
        self.frames
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// Number of stacks, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty stack is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
