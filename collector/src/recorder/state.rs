//! Where a run stands: step, micro-batch, phases, modules.

use std::thread::{self, ThreadId};

use crate::figures::Figures;
use crate::journal::Journal;
use crate::peaks::{Peaks, Rose};
use crate::records::At;

/// How far apart the records are that repeat themselves, ns.
const EVERY: u64 = 10_000_000_000;

/// A module that was entered and not left.
#[derive(Debug)]
struct Entered {
    thread: ThreadId,
    call: u64,
    name: String,
    before: Figures,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Steps begun so far; the running one is the last of them.
    begun: u64,
    ended: u64,
    started: Option<u64>,
    step_ns: u64,
    told: Option<u64>,
    micro: u64,
    phases: Vec<String>,
    /// Whether a forward or backward ran since `forward_backward_end` was last written.
    computed: bool,
    modules: Vec<Entered>,
    peaks: Peaks,
    pub(super) finished: bool,
}

impl State {
    pub(super) fn begin_step(&mut self, now: u64) {
        self.begun += 1;
        self.micro = 0;
        self.started = Some(now);
        self.told.get_or_insert(now);
    }

    pub(super) fn in_step(&self) -> bool {
        self.started.is_some()
    }

    /// Ends the step; whether it is time for the records that repeat themselves.
    pub(super) fn end_step(&mut self, now: u64) -> bool {
        if let Some(started) = self.started.take() {
            self.ended += 1;
            self.step_ns += now.saturating_sub(started);
        }
        let due = self
            .told
            .is_some_and(|told| now.saturating_sub(told) >= EVERY);
        if due {
            self.told = Some(now);
        }
        due
    }

    pub(super) fn steps_ended(&self) -> u64 {
        self.ended
    }

    pub(super) fn step_ns(&self) -> u64 {
        self.step_ns
    }

    pub(super) fn next_micro(&mut self) {
        self.micro += 1;
    }

    pub(super) fn enter_phase(&mut self, name: &str) {
        self.computed |= matches!(name, "forward" | "backward");
        self.phases.push(name.to_owned());
    }

    pub(super) fn leave_phase(&mut self) {
        self.phases.pop();
    }

    pub(super) fn phase(&self) -> Option<&str> {
        self.phases.last().map(String::as_str)
    }

    pub(super) fn take_forward_backward(&mut self) -> bool {
        std::mem::take(&mut self.computed)
    }

    /// Enters a module on this thread; how deep it lies there.
    pub(super) fn enter_module(&mut self, name: &str, call: u64, before: Figures) -> u64 {
        let thread = thread::current().id();
        let depth = self.modules.iter().filter(|m| m.thread == thread).count();
        self.modules.push(Entered {
            thread,
            call,
            name: name.to_owned(),
            before,
        });
        depth as u64
    }

    pub(super) fn leave_module(&mut self, call: u64) {
        self.modules.retain(|m| m.call != call);
    }

    /// How deep a module lies, and the figures when it was entered.
    pub(super) fn entered(&self, call: u64) -> Option<(u64, Figures)> {
        let at = self.modules.iter().position(|m| m.call == call)?;
        let module = &self.modules[at];
        let above = self.modules[..at].iter();
        let depth = above.filter(|m| m.thread == module.thread).count();
        Some((depth as u64, module.before))
    }

    pub(super) fn name_of(&self, call: u64) -> &str {
        let found = self.modules.iter().find(|m| m.call == call);
        found.map_or("", |m| m.name.as_str())
    }

    /// Where this thread is.
    pub(super) fn at(&self) -> At<'_> {
        let thread = thread::current().id();
        let module = self.modules.iter().rev().find(|m| m.thread == thread);
        At {
            step: self.begun.checked_sub(1),
            micro: (self.micro > 0).then_some(self.micro),
            phase: self.phase().unwrap_or(""),
            module: module.map_or("", |m| m.name.as_str()),
        }
    }

    pub(super) fn look(&mut self, journal: &Journal, edge: &str, figures: &Figures) -> Rose {
        let mut peaks = std::mem::take(&mut self.peaks);
        let rose = peaks.look(journal, &self.at(), edge, figures);
        self.peaks = peaks;
        rose
    }
}
