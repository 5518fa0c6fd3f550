//! What is missing where memory has no stack.

use super::analysis::Analysis;
use crate::model::snapshot::{StackId, TraceId};

/// Why a block, a range or a group has no place in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missing {
    /// No stack was recorded: it is from before the history, or recording was off.
    Stack,
    /// It was made while stacks were recorded, but no frame was: by a thread of C++ (autograd's, a
    /// communication's) where only Python's frames are taken.
    Frames,
    /// Of a group, some are the one and some the other.
    Either,
}

impl Analysis {
    /// What is missing of something without a stack that was made by entry `born`.
    #[must_use]
    pub fn missing_since(&self, born: Option<TraceId>) -> Missing {
        let stack = born.and_then(|t| self.snapshot().events.stack(t.index()));
        match stack {
            Some(StackId::EMPTY) => Missing::Frames,
            _ => Missing::Stack,
        }
    }

    /// What is missing of all allocations of the device without a stack.
    #[must_use]
    pub fn missing(&self) -> Missing {
        *self.missing.get_or_init(|| {
            let all = &self.replay.allocations;
            let without = (0..all.len() as u32)
                .map(super::allocations::AllocationId)
                .filter(|&id| all.stack(id).is_none());
            let mut found = None;
            for id in without {
                let own = self.missing_since(all.get(id).and_then(|a| a.born));
                match found {
                    None => found = Some(own),
                    Some(known) if known == own => {}
                    Some(_) => return Missing::Either,
                }
            }
            found.unwrap_or(Missing::Stack)
        })
    }
}
