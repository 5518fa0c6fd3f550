//! The class `Recorder`: journal records from Python.
//!
//! A record costs two to three microseconds, most of it the `write`. Whatever goes wrong inside is said
//! once on stderr and ends recording, not the program: a panic would reach Python as an exception that
//! `except Exception` does not catch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use memscope::Figures;
use memscope::journal::{Journal, Limits, Line, Weight, clock};
use memscope::peaks::noted;
use memscope::place::Place;
use memscope::records::{At, Cost, Oom};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::figures::{figures, read};
use crate::state::State;

const WRITER: &str = "python";

/// Writes the journal of this process. Its methods never raise once it stands.
#[pyclass(frozen, module = "memscope._native")]
pub struct Recorder {
    journal: Journal,
    place: Place,
    state: Mutex<State>,
    /// The backend leaves zeros where it does not count.
    partial: AtomicBool,
    broken: AtomicBool,
}

impl Recorder {
    /// Does `work` (the writing of a record), counts its time, and keeps panics from Python.
    fn guard<T: Default>(&self, kind: Kind, work: impl FnOnce(&mut State) -> T) -> T {
        if self.broken.load(Ordering::Relaxed) {
            return T::default();
        }
        let done = catch_unwind(AssertUnwindSafe(|| {
            let began = clock::monotonic();
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let value = work(&mut state);
            let ended = clock::monotonic();
            let spent = ended.saturating_sub(began);
            let overhead = &mut state.overhead;
            overhead.records += u64::from(kind != Kind::Nothing);
            overhead.native_ns += spent;
            let kept = match kind {
                Kind::Sample => overhead.samples.as_mut(),
                Kind::Module(_) => overhead.modules.as_mut(),
                Kind::Other | Kind::Nothing => None,
            };
            if let Some(Cost { records, ns }) = kept {
                *records += 1;
                *ns += spent;
            }
            if let Kind::Module(Some(since)) = kind {
                overhead.hook_ns += ended.saturating_sub(since);
            }
            if state.ticks(ended) {
                self.journal.clock();
                self.journal.overhead(&state.overhead, false);
            }
            value
        }));
        done.unwrap_or_else(|_| {
            self.broken.store(true, Ordering::Relaxed);
            eprintln!(
                "memscope: the recorder failed (see above). Recording stops; the program goes on"
            );
            T::default()
        })
    }
}

/// What a call from Python writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sample,
    /// A module, and when its hook began (`CLOCK_MONOTONIC`, ns) where the hook does not count its
    /// time itself.
    Module(Option<u64>),
    Other,
    Nothing,
}

/// The four figures that modules and gradients carry.
fn four(line: Line, f: &Figures) -> Line {
    line.number("allocated", f.allocated)
        .number("reserved", f.reserved)
        .number("max_allocated", f.max_allocated)
        .number("max_reserved", f.max_reserved)
}

fn list(line: Line, key: &str, json: Option<&str>) -> Line {
    match json {
        Some(json) => line.json(key, json),
        None => line,
    }
}

fn difference(after: Option<u64>, before: Option<u64>) -> Option<i64> {
    let sum = i128::from(after?) - i128::from(before?);
    i64::try_from(sum).ok()
}

#[pymethods]
impl Recorder {
    /// Begins a journal in `directory` (else MEMSCOPE_DIR, else memscope_outputs) and writes its header.
    /// Raises OSError where that cannot be made.
    #[new]
    #[pyo3(signature = (directory=None, rank=None))]
    fn new(directory: Option<PathBuf>, rank: Option<u32>) -> PyResult<Self> {
        let made = catch_unwind(|| {
            let place = Place::resolve(directory.as_deref(), rank);
            let journal = Journal::create(&place, WRITER, Limits::default())?;
            journal.header(&place, WRITER);
            Ok((journal, place))
        });
        let failed = |text: String| PyOSError::new_err(text);
        let (journal, place) = made
            .map_err(|_| failed("memscope: the recorder failed while it began".to_owned()))?
            .map_err(|e: memscope::Error| failed(e.to_string()))?;
        Ok(Self {
            journal,
            place,
            state: Mutex::new(State::new()),
            partial: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        })
    }

    /// The rank's folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.place.folder.clone()
    }

    /// The rank.
    #[getter]
    fn rank(&self) -> u32 {
        self.place.rank.rank
    }

    /// The journal's file that holds the boundaries; None where nothing is written any more.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.journal.core_path()
    }

    /// Whether records are still written: not in a forked child, not after a failed write.
    #[getter]
    fn is_open(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && self.journal.is_open()
    }

    /// Says that the backend leaves zeros where it does not count.
    fn partial(&self, partial: bool) {
        self.partial.store(partial, Ordering::Relaxed);
    }

    /// Keys of the header that became known later: a JSON object.
    fn update(&self, json: &str) {
        self.guard(Kind::Other, |_| {
            let Ok(keys) = serde_json::from_str::<serde_json::Map<_, _>>(json) else {
                return;
            };
            let mut line = Line::new("update");
            for (key, value) in &keys {
                line = line.json(key, &value.to_string());
            }
            self.journal.write(Weight::Essential, &line);
        });
    }

    /// Figures at a boundary. `phase` is what the boundary belongs to, `next_phase` what comes after.
    #[pyo3(signature = (stats, edge, step, micro, phase, next_phase, dev=None, used=None, total=None, note=""))]
    #[allow(clippy::too_many_arguments)]
    fn sample(
        &self,
        stats: Option<&Bound<'_, PyAny>>,
        edge: &str,
        step: Option<u64>,
        micro: Option<u64>,
        phase: &str,
        next_phase: &str,
        dev: Option<u64>,
        used: Option<u64>,
        total: Option<u64>,
        note: &str,
    ) {
        let f = Figures {
            device_used: used,
            device_total: total,
            ..figures(stats, self.partial.load(Ordering::Relaxed))
        };
        self.guard(Kind::Sample, |state| {
            let rose = state.look(&self.journal, edge, &f);
            state.step = step;
            state.micro = micro;
            let at = At {
                step,
                micro,
                phase,
                module: "",
            };
            self.journal.sample(&at, edge, dev, &f, &noted(note, rose));
            if state.phase != next_phase {
                state.phase.clear();
                state.phase.push_str(next_phase);
            }
            state.count_step(edge);
        });
    }

    /// A module's call begins; its number. `raw` is `torch._C._cuda_memoryStats`, asked here of
    /// `device`. `began` is when the hook began, for hooks that do nothing else (see `spent`).
    #[pyo3(signature = (raw, device, name, class_name, depth, phase, began=None, inputs=None))]
    #[allow(clippy::too_many_arguments)]
    fn module_pre(
        &self,
        raw: Option<&Bound<'_, PyAny>>,
        device: Option<i64>,
        name: &str,
        class_name: &str,
        depth: u64,
        phase: &str,
        began: Option<u64>,
        inputs: Option<&str>,
    ) -> u64 {
        // Before the lock is taken: the allocator may wait for a thread that wants to record.
        let f = read(raw, device);
        self.guard(Kind::Module(began), |state| {
            state.look(&self.journal, "module_pre", &f);
            let call = state.open(name, class_name, depth, phase, f);
            let line = Line::new("module")
                .text("edge", "pre")
                .number("call", Some(call))
                .text("name", name)
                .text("class", class_name)
                .number("depth", Some(depth))
                .number("step", state.step)
                .text("phase", phase);
            self.journal
                .write(Weight::Event, &list(four(line, &f), "inputs", inputs));
            call
        })
    }

    /// A module's call ends, or was left by an exception (`aborted`).
    #[pyo3(signature = (raw, device, call, aborted=false, began=None, outputs=None))]
    #[allow(clippy::too_many_arguments)]
    fn module_post(
        &self,
        raw: Option<&Bound<'_, PyAny>>,
        device: Option<i64>,
        call: u64,
        aborted: bool,
        began: Option<u64>,
        outputs: Option<&str>,
    ) {
        let f = read(raw, device);
        self.guard(Kind::Module(began), |state| {
            state.look(&self.journal, "module_post", &f);
            let Some(call) = state.close(call) else {
                return;
            };
            let rose = match (f.max_allocated, call.before.max_allocated) {
                (Some(after), Some(before)) => Some(after > before),
                _ => None,
            };
            let line = Line::new("module")
                .text("edge", if aborted { "abort" } else { "post" })
                .number("call", Some(call.number))
                .text("name", &call.name)
                .text("class", &call.class)
                .number("depth", Some(call.depth))
                .number("step", state.step)
                .text("phase", &call.phase);
            let mut line = four(line, &f)
                .signed(
                    "delta_allocated",
                    difference(f.allocated, call.before.allocated),
                )
                .signed(
                    "delta_reserved",
                    difference(f.reserved, call.before.reserved),
                );
            if let Some(rose) = rose {
                line = line.flag("peak_rose", rose);
            }
            self.journal
                .write(Weight::Event, &list(line, "outputs", outputs));
        });
    }

    /// A gradient was computed.
    #[pyo3(signature = (raw, device, name, grads=None))]
    fn grad(
        &self,
        raw: Option<&Bound<'_, PyAny>>,
        device: Option<i64>,
        name: &str,
        grads: Option<&str>,
    ) {
        let f = read(raw, device);
        self.guard(Kind::Other, |state| {
            state.look(&self.journal, "grad", &f);
            let line = Line::new("grad")
                .text("name", name)
                .number("step", state.step);
            self.journal
                .write(Weight::Event, &list(four(line, &f), "grads", grads));
        });
    }

    /// Whether allocated rose to a new peak since this was last asked.
    fn take_peak(&self) -> bool {
        self.guard(Kind::Nothing, State::take_peak)
    }

    /// A request could not be met; on the disk when this returns.
    #[pyo3(signature = (stats, requested, device_free, device_total, message, stack))]
    fn oom(
        &self,
        stats: Option<&Bound<'_, PyAny>>,
        requested: Option<u64>,
        device_free: Option<u64>,
        device_total: Option<u64>,
        message: &str,
        stack: Vec<String>,
    ) {
        let f = figures(stats, self.partial.load(Ordering::Relaxed));
        self.guard(Kind::Other, |state| {
            let module = state.calls.last().map(|c| c.name.clone());
            let at = At {
                step: state.step,
                micro: state.micro,
                phase: &state.phase,
                module: module.as_deref().unwrap_or_default(),
            };
            let oom = Oom {
                requested,
                device_free,
                device_total,
                allocated: f.allocated,
                reserved: f.reserved,
                message,
                stack: &stack,
            };
            self.journal.oom("torch", &oom, &at);
        });
    }

    /// What is known by name: a JSON list of items.
    #[pyo3(signature = (at, step, items))]
    fn inventory(&self, at: &str, step: Option<u64>, items: &str) {
        self.guard(Kind::Other, |_| {
            let line = Line::new("inventory")
                .text("at", at)
                .number("step", step)
                .json("items", items);
            self.journal.write(Weight::Essential, &line);
        });
    }

    /// A point that the user named.
    fn mark(&self, name: &str) {
        self.guard(Kind::Other, |state| {
            let at = At {
                step: state.step,
                micro: state.micro,
                phase: &state.phase,
                module: "",
            };
            self.journal.mark(name, &at);
        });
    }

    /// A snapshot was written into the rank's folder.
    #[pyo3(signature = (file, reason, step=None))]
    fn snapshot(&self, file: &str, reason: &str, step: Option<u64>) {
        self.guard(Kind::Other, |_| self.journal.snapshot(file, reason, step));
    }

    /// The wall clock again.
    fn clock(&self) {
        self.guard(Kind::Other, |_| self.journal.clock());
    }

    /// Adds time that was spent in hooks, ns, records included.
    fn spent(&self, ns: u64) {
        if let Ok(mut state) = self.state.lock() {
            state.overhead.hook_ns = state.overhead.hook_ns.saturating_add(ns);
        }
    }

    /// What recording cost so far: records, ns in records, ns in hooks, steps, ns of steps. Writes it.
    fn overhead(&self) -> (u64, u64, u64, u64, u64) {
        self.guard(Kind::Other, |state| {
            let o = state.overhead;
            self.journal.overhead(&o, true);
            (o.records, o.native_ns, o.hook_ns, o.steps, o.step_ns)
        })
    }

    /// The last record: `exit`, `exception`, `keyboard_interrupt` or `signal`, and what was raised.
    fn footer(&self, reason: &str, error: &str) {
        self.guard(Kind::Other, |_| self.journal.footer(reason, error));
    }

    /// Has the system put what stands on the disk.
    fn sync(&self, py: Python<'_>) {
        // The disk takes milliseconds: other threads may run meanwhile.
        py.detach(|| self.journal.sync());
    }
}
