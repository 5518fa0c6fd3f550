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

/// Why a text names no instant of a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHere {
    /// It is no name of one.
    #[error(
        "expected peak, oom, oom2, start, end, or a name that was printed (an entry such as t412, \
         an allocation b…_2, a range g3 or a stack k12 for when it came); found {0:?}"
    )]
    Unknown(String),
    /// The allocator gave up less often.
    #[error("the history has {0} out-of-memory entries, so there is no {1}")]
    Oom(usize, Instant),
    /// The history has no such entry, or another device does.
    #[error("{0} is no entry of this device; it has {1}")]
    Event(String, String),
    /// Nothing has the name.
    #[error("nothing in this history is called {0}")]
    Nothing(String),
}

impl Analysis {
    /// The instant that a text names: see [`Instant`], or the name of an allocation or a range for
    /// the instant after it was made, or of a stack for the first entry that has it.
    ///
    /// # Errors
    /// [`NotHere`], when this history has no such instant.
    pub fn instant(&self, text: &str) -> Result<Instant, NotHere> {
        match text.parse() {
            Ok(Instant::Oom(n)) if n as usize >= self.replay.ooms.len() => {
                Err(NotHere::Oom(self.replay.ooms.len(), Instant::Oom(n)))
            }
            Ok(Instant::Event(t)) if !self.replay.events().contains(&t.index()) => {
                let has = match self.replay.last_event() {
                    Some(last) => format!("t{} to t{}", self.replay.first, last.0),
                    None => "none".to_owned(),
                };
                Err(NotHere::Event(text.to_owned(), has))
            }
            Ok(instant) => Ok(instant),
            Err(_) => {
                let born = match self.named(text) {
                    Some(Named::Allocation(id)) => self.replay.allocations.get(id).map(|a| a.born),
                    Some(Named::Span(id)) => self.replay.spans.get(id).map(|s| s.born),
                    Some(Named::Stack(stack)) => Some(self.first_with(stack)),
                    _ if text.starts_with(['b', 'g', 'k']) && text.len() > 1 => {
                        return Err(NotHere::Nothing(text.to_owned()));
                    }
                    _ => return Err(NotHere::Unknown(text.to_owned())),
                };
                Ok(born.flatten().map_or(Instant::Start, Instant::Event))
            }
        }
    }

    /// The first entry with a stack; `None` where no entry of this device has it.
    fn first_with(&self, stack: StackId) -> Option<TraceId> {
        let events = &self.snapshot().events;
        let mut rows = self.replay.events();
        rows.find(|&i| events.stack(i) == Some(stack))
            .map(|i| TraceId(i as u32))
    }

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
