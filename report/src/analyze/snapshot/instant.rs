//! Moments of a history, and the names of what is in it. What one command or view prints, every
//! other accepts.
//!
//! | name | what |
//! |---|---|
//! | `peak`, `oom`, `oom2`, `start`, `end` | an instant |
//! | `t412` | the 412th entry of the trace (all devices counted), and the instant after it |
//! | `b7f3c40000000_2` | an allocation: the third use of that address, as `memory_viz` names it |
//! | `k12` | a stack |
//! | `g3` | a reserved range: a segment, or a mapped part of an expandable one |

use std::fmt;
use std::str::FromStr;

use super::allocations::{AllocationId, SpanId};
use super::analysis::Analysis;
use crate::model::snapshot::{StackId, TraceId};

/// A moment of a device's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instant {
    /// Before the first event.
    Start,
    /// The peak of requested bytes.
    Peak,
    /// After the last event.
    End,
    /// When the allocator gave up: the first time is 0. After the last event when it never did.
    Oom(u32),
    /// After an event.
    Event(TraceId),
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Peak => f.write_str("peak"),
            Self::End => f.write_str("end"),
            Self::Oom(0) => f.write_str("oom"),
            Self::Oom(n) => write!(f, "oom{}", u64::from(*n) + 1),
            Self::Event(t) => write!(f, "t{}", t.0),
        }
    }
}

/// Not the name of an instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected peak, oom, oom2, start, end or an entry of the trace such as t412; found {0:?}")]
pub struct NoInstant(pub String);

impl FromStr for Instant {
    type Err = NoInstant;

    fn from_str(text: &str) -> Result<Self, NoInstant> {
        let no = || NoInstant(text.to_owned());
        Ok(match text {
            "start" => Self::Start,
            "peak" => Self::Peak,
            "end" => Self::End,
            "oom" => Self::Oom(0),
            _ => {
                if let Some(n) = text.strip_prefix("oom") {
                    let n: u32 = n.parse().map_err(|_| no())?;
                    return n.checked_sub(1).map(Self::Oom).ok_or_else(no);
                }
                let row = text.strip_prefix('t').ok_or_else(no)?;
                Self::Event(TraceId(row.parse().map_err(|_| no())?))
            }
        })
    }
}

/// Something of a history that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Named {
    /// An entry of the trace.
    Event(TraceId),
    /// An allocation.
    Allocation(AllocationId),
    /// A stack.
    Stack(StackId),
    /// A reserved range.
    Span(SpanId),
}

impl Analysis {
    /// The name of something.
    #[must_use]
    pub fn name(&self, named: Named) -> String {
        match named {
            Named::Event(t) => format!("t{}", t.0),
            Named::Stack(s) => format!("k{}", s.0),
            Named::Span(s) => format!("g{}", s.0),
            Named::Allocation(id) => {
                let address = self.replay.allocations.get(id).map_or(0, |a| a.address);
                format!("b{address:x}_{}", self.sequence(id))
            }
        }
    }

    /// What a name means here; `None` when nothing has it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Named> {
        let (kind, rest) = name.split_at_checked(1)?;
        let number = || rest.parse::<u32>().ok();
        match kind {
            "t" => {
                let row = number()?;
                let known = self.replay.events().contains(&(row as usize));
                known.then_some(Named::Event(TraceId(row)))
            }
            "k" => {
                let stack = number()?;
                let known = (stack as usize) < self.snapshot().stacks.len();
                known.then_some(Named::Stack(StackId(stack)))
            }
            "g" => {
                let span = SpanId(number()?);
                self.replay.spans.get(span).map(|_| Named::Span(span))
            }
            "b" => {
                let (address, n) = rest.split_once('_').unwrap_or((rest, "0"));
                let address = u64::from_str_radix(address, 16).ok()?;
                let n: usize = n.parse().ok()?;
                let column = &self.replay.allocations.address;
                let mut uses = column.iter().enumerate().filter(|(_, a)| **a == address);
                uses.nth(n)
                    .map(|(i, _)| Named::Allocation(AllocationId(i as u32)))
            }
            _ => None,
        }
    }
}
