//! The recorder for programs in Rust: steps, phases, modules, allocations, peaks.

mod builder;
mod scope;
mod state;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use builder::Builder;
pub use scope::{Module, Phase, Step};

use crate::device::Probe;
use crate::figures::Figures;
use crate::journal::{Journal, Line, Weight, clock};
use crate::peaks::{Rose, noted};
use crate::records::{Oom, Overhead};
use state::State;

/// Records one process. Cheap to clone; every clone writes the same journal.
///
/// Nothing here fails or panics: a recorder that could not start, or whose disk is full, does nothing.
#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("on", &self.is_on())
            .finish_non_exhaustive()
    }
}

struct Inner {
    journal: Option<Journal>,
    probe: Box<dyn Probe>,
    device: Option<u64>,
    state: Mutex<State>,
    calls: AtomicU64,
    records: AtomicU64,
    native_ns: AtomicU64,
    hook_ns: AtomicU64,
}

impl Recorder {
    /// How to start one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A recorder that records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::with(None, Box::new(crate::device::NoProbe), None)
    }

    fn with(journal: Option<Journal>, probe: Box<dyn Probe>, device: Option<u64>) -> Self {
        Self(Arc::new(Inner {
            journal,
            probe,
            device,
            state: Mutex::new(State::default()),
            calls: AtomicU64::new(0),
            records: AtomicU64::new(0),
            native_ns: AtomicU64::new(0),
            hook_ns: AtomicU64::new(0),
        }))
    }

    /// Whether anything is recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.journal.as_ref().is_some_and(Journal::is_open)
    }

    /// Where the journal stands.
    #[must_use]
    pub fn journal_path(&self) -> Option<std::path::PathBuf> {
        self.0.journal.as_ref().and_then(Journal::core_path)
    }

    /// Begins the next step; it ends when the guard goes.
    #[must_use = "the step ends when this goes"]
    pub fn step(&self) -> Step<'_> {
        self.begin_step();
        Step::new(self)
    }

    /// Begins the next step. One that is still running ends here.
    pub fn begin_step(&self) {
        self.end_step();
        self.timed(|inner, journal| {
            let mut state = inner.state();
            let figures = inner.probe.figures();
            // What rose before a step rose outside of it.
            let rose = state.look(journal, "step_start", &figures);
            state.begin_step(clock::monotonic());
            inner.sample_record(journal, &state, "step_start", &figures, "", rose);
        });
    }

    /// Ends the running step; nothing happens when there is none.
    pub fn end_step(&self) {
        self.timed(|inner, journal| {
            let mut state = inner.state();
            if !state.in_step() {
                return;
            }
            let figures = inner.probe.figures();
            inner.end_forward_backward(journal, &mut state, &figures);
            inner.boundary(journal, &mut state, "step_end", &figures);
            if state.end_step(clock::monotonic()) {
                journal.clock();
                journal.overhead(&inner.overhead(&state), false);
            }
        });
    }

    /// Begins the next micro-batch of the running step (gradient accumulation).
    pub fn next_micro_batch(&self) {
        self.0.state().next_micro();
    }

    /// Enters a phase; it is left when the guard goes. `forward`, `backward` and `optimizer` give the
    /// boundaries of those names, any other name `phase_start` and `phase_end`.
    #[must_use = "the phase ends when this goes"]
    pub fn phase(&self, name: &str) -> Phase<'_> {
        self.begin_phase(name);
        Phase::new(self)
    }

    /// Enters a phase.
    pub fn begin_phase(&self, name: &str) {
        self.timed(|inner, journal| {
            let mut state = inner.state();
            let figures = inner.probe.figures();
            if name == "optimizer" {
                inner.end_forward_backward(journal, &mut state, &figures);
            }
            let rose = state.look(journal, edge(name, true), &figures);
            state.enter_phase(name);
            inner.sample_record(journal, &state, edge(name, true), &figures, "", rose);
        });
    }

    /// Leaves the phase that was entered last; nothing happens when there is none.
    pub fn end_phase(&self) {
        self.timed(|inner, journal| {
            let mut state = inner.state();
            let Some(name) = state.phase().map(str::to_owned) else {
                return;
            };
            let figures = inner.probe.figures();
            inner.boundary(journal, &mut state, edge(&name, false), &figures);
            state.leave_phase();
        });
    }

    /// Enters a module: what it allocates until the guard goes is its `delta_allocated`. Modules nest
    /// by thread.
    #[must_use = "the module ends when this goes"]
    pub fn module(&self, name: &str) -> Module<'_> {
        Module::new(self, self.begin_module(name))
    }

    /// Enters a module; gives what [`end_module`](Self::end_module) takes.
    pub fn begin_module(&self, name: &str) -> u64 {
        let call = self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.timed(|inner, journal| {
            let before = inner.probe.figures();
            let mut state = inner.state();
            state.look(journal, "module_pre", &before);
            let depth = state.enter_module(name, call, before);
            inner.module_record(journal, &state, "pre", call, depth, &before, None);
        });
        call
    }

    /// Leaves a module; nothing happens when it was left already.
    pub fn end_module(&self, call: u64) {
        self.leave_module(call, "post");
    }

    fn leave_module(&self, call: u64, edge: &str) {
        self.timed(|inner, journal| {
            let after = inner.probe.figures();
            let mut state = inner.state();
            let Some((depth, before)) = state.entered(call) else {
                return;
            };
            let rose = state.look(journal, "module_post", &after);
            inner.module_record(
                journal,
                &state,
                edge,
                call,
                depth,
                &after,
                Some((&before, rose)),
            );
            state.leave_module(call);
        });
    }

    /// Figures now, with a note.
    pub fn sample(&self, note: &str) {
        self.timed(|inner, journal| {
            let figures = inner.probe.figures();
            inner.boundary_noted(journal, &mut inner.state(), "manual", &figures, note);
        });
    }

    /// Figures that the program knows better than the probe (its own allocator's).
    pub fn sample_of(&self, figures: &Figures, note: &str) {
        self.timed(|inner, journal| {
            inner.boundary_noted(journal, &mut inner.state(), "manual", figures, note);
        });
    }

    /// The program's own allocator gave out `size` bytes at `address`, called `name`.
    pub fn allocated(&self, address: u64, size: u64, name: &str) {
        self.timed(|inner, journal| {
            let line = Line::new("user")
                .text("op", "alloc")
                .address("ptr", Some(address))
                .number("size", Some(size))
                .text("name", name);
            inner.write(journal, Weight::Event, &line);
        });
    }

    /// The program's own allocator took back what is at `address`.
    pub fn freed(&self, address: u64) {
        self.timed(|inner, journal| {
            let line = Line::new("user")
                .text("op", "free")
                .address("ptr", Some(address));
            inner.write(journal, Weight::Event, &line);
        });
    }

    /// A request of `requested` bytes failed, and what was said of it. Synced to disk.
    pub fn out_of_memory(&self, requested: Option<u64>, message: &str) {
        self.timed(|inner, journal| {
            let figures = inner.probe.figures();
            let state = inner.state();
            let used = figures.device_used.zip(figures.device_total);
            let oom = Oom {
                requested,
                device_free: used.map(|(used, total)| total.saturating_sub(used)),
                device_total: figures.device_total,
                allocated: figures.allocated,
                reserved: figures.reserved,
                message,
                stack: &[],
            };
            journal.oom("user", &oom, &state.at());
            inner.records.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// A point in the run that the program names.
    pub fn mark(&self, name: &str) {
        self.timed(|inner, journal| {
            let state = inner.state();
            journal.mark(name, &state.at());
            inner.records.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Writes the end: what recording cost, and that the program ended well. Further records are
    /// written still, should there be any.
    pub fn finish(&self) {
        self.finish_because("exit", "");
    }

    /// As [`finish`](Self::finish), for another reason: `exception`, `signal`, with what was said.
    pub fn finish_because(&self, reason: &str, error: &str) {
        self.end_step();
        if let Some(journal) = &self.0.journal {
            let mut state = self.0.state();
            if !state.finished {
                state.finished = true;
                journal.overhead(&self.0.overhead(&state), true);
                journal.footer(reason, error);
            }
        }
    }

    /// Does something with the journal, where there is one, and counts the time.
    fn timed(&self, work: impl FnOnce(&Inner, &Journal)) {
        let inner = &*self.0;
        if let Some(journal) = &inner.journal {
            let start = Instant::now();
            work(inner, journal);
            inner
                .hook_ns
                .fetch_add(nanoseconds(start), Ordering::Relaxed);
        }
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The boundary at the start or end of a phase.
fn edge(phase: &str, start: bool) -> &'static str {
    match (phase, start) {
        ("forward", true) => "forward_start",
        ("forward", false) => "forward_end",
        ("backward", true) => "backward_start",
        ("backward", false) => "backward_end",
        ("optimizer", true) => "optimizer_step_start",
        ("optimizer", false) => "optimizer_step_end",
        (_, true) => "phase_start",
        (_, false) => "phase_end",
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, journal: &Journal, weight: Weight, line: &Line) {
        let start = Instant::now();
        journal.write(weight, line);
        self.native_ns
            .fetch_add(nanoseconds(start), Ordering::Relaxed);
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// A sample at a boundary, and the peaks that rose before it.
    fn boundary(&self, journal: &Journal, state: &mut State, edge: &str, figures: &Figures) {
        self.boundary_noted(journal, state, edge, figures, "");
    }

    fn boundary_noted(
        &self,
        journal: &Journal,
        state: &mut State,
        edge: &str,
        figures: &Figures,
        note: &str,
    ) {
        let rose = state.look(journal, edge, figures);
        self.sample_record(journal, state, edge, figures, note, rose);
    }

    fn sample_record(
        &self,
        journal: &Journal,
        state: &State,
        edge: &str,
        figures: &Figures,
        note: &str,
        rose: Rose,
    ) {
        let start = Instant::now();
        let note = noted(note, rose);
        journal.sample(&state.at(), edge, self.device, figures, &note);
        self.native_ns
            .fetch_add(nanoseconds(start), Ordering::Relaxed);
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// The end of forward and backward together, once a step, where either ran.
    fn end_forward_backward(&self, journal: &Journal, state: &mut State, figures: &Figures) {
        if state.take_forward_backward() {
            self.boundary(journal, state, "forward_backward_end", figures);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn module_record(
        &self,
        journal: &Journal,
        state: &State,
        edge: &str,
        call: u64,
        depth: u64,
        now: &Figures,
        before: Option<(&Figures, Rose)>,
    ) {
        let delta = |of: fn(&Figures) -> Option<u64>| {
            let (from, to) = before.and_then(|(f, _)| of(f)).zip(of(now))?;
            Some(i64::try_from(to).ok()? - i64::try_from(from).ok()?)
        };
        let mut line = Line::new("module")
            .text("edge", edge)
            .number("call", Some(call))
            .text("name", state.name_of(call))
            .number("depth", Some(depth))
            .number("step", state.at().step)
            .text("phase", state.at().phase)
            .figures(now)
            .signed("delta_allocated", delta(|f| f.allocated))
            .signed("delta_reserved", delta(|f| f.reserved));
        if let Some((_, rose)) = before {
            line = line.flag("peak_rose", rose.allocated);
        }
        self.write(journal, Weight::Event, &line);
    }

    fn overhead(&self, state: &State) -> Overhead {
        Overhead {
            records: self.records.load(Ordering::Relaxed),
            native_ns: self.native_ns.load(Ordering::Relaxed),
            hook_ns: self.hook_ns.load(Ordering::Relaxed),
            steps: state.steps_ended(),
            step_ns: state.step_ns(),
            ..Overhead::default()
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(journal) = &self.journal else { return };
        if !state.finished {
            let reason = if std::thread::panicking() {
                "exception"
            } else {
                "exit"
            };
            let overhead = Overhead {
                records: self.records.load(Ordering::Relaxed),
                native_ns: self.native_ns.load(Ordering::Relaxed),
                hook_ns: self.hook_ns.load(Ordering::Relaxed),
                steps: state.steps_ended(),
                step_ns: state.step_ns(),
                ..Overhead::default()
            };
            journal.overhead(&overhead, true);
            journal.footer(reason, if reason == "exception" { "panic" } else { "" });
        }
    }
}

impl Recorder {
    /// Where the run stands, for tests and for the C interface.
    #[must_use]
    pub fn current_step(&self) -> Option<u64> {
        self.0.state().at().step
    }

    /// Has everything put on the disk that was recorded so far.
    pub fn sync(&self) {
        if let Some(journal) = &self.0.journal {
            journal.sync();
        }
    }

    /// States facts about the run later than at the start: they become `metadata` of the report.
    pub fn metadata(&self, pairs: &[(&str, &str)]) {
        if let Some(journal) = &self.0.journal {
            let line = Line::new("update")
                .json("metadata", &crate::records::object(pairs.iter().copied()));
            journal.write(Weight::Essential, &line);
        }
    }

    /// Where something happened, as the journal writes it. `None` before the first step.
    #[must_use]
    pub fn phase_name(&self) -> Option<String> {
        self.0.state().phase().map(str::to_owned)
    }
}
