//! What happens to one process's journal of the driver: calls in, records out.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use super::calls::{self, Call};
use super::cupti::{CallbackData, Cupti, Refused};
use super::device::{Driver, Memory, Nvml};
use super::params::{self, Event};
use super::settings::Settings;
use super::table::{Block, Freed, Kind, Owner, Table};
use super::who::Who;
use super::write::{self, Live};
use crate::fork;
use crate::journal::{Journal, Limits, Weight, clock};
use crate::place::Place;
use crate::records::{Device, Overhead, Source, Status};

/// `CUDA_ERROR_OUT_OF_MEMORY`
const OUT_OF_MEMORY: u32 = 2;
/// How much must have changed before the sums are written again, in bytes.
pub(super) const CHANGE: u64 = 1 << 20;
/// How long after the last, at least, ns.
const APART: u64 = 10_000_000;
/// How far apart out-of-memory records are, ns: each is synced to the disk, and a program may probe
/// for the largest piece that it can get.
const OOM_APART: u64 = 20_000_000;

/// One process's recording.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) settings: Settings,
    journal: Journal,
    generation: u32,
    driver: Option<Driver>,
    nvml: OnceLock<Option<Nvml>>,
    cupti: OnceLock<Cupti>,
    who: Who,
    state: Mutex<State>,
    records: AtomicU64,
    native_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    table: Table,
    /// Device of each context.
    contexts: HashMap<u64, u32>,
    devices: BTreeMap<u32, Device>,
    /// Bytes that devices lost when their first context was made.
    context_bytes: BTreeMap<u32, u64>,
    live_at: u64,
    live_bytes: u64,
    /// What the device had in use when it was last said.
    used: Option<u64>,
    oom_at: Option<u64>,
    ended: bool,
}

impl State {
    /// Whether the sums are to be written: they changed, and the last are old enough.
    fn is_due(&self) -> bool {
        self.table.bytes().abs_diff(self.live_bytes) >= CHANGE
            && clock::monotonic().saturating_sub(self.live_at) >= APART
    }
}

thread_local! {
    /// What a device had in use before the context was made that this thread is making.
    static BEFORE: Cell<Option<u64>> = const { Cell::new(None) };
    /// The physical memory whose handle this thread is releasing.
    static RELEASING: Cell<Option<u64>> = const { Cell::new(None) };
    /// Whether the memory is known that this thread is giving back.
    static FREEING: Cell<bool> = const { Cell::new(false) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

fn thread() -> u64 {
    THREAD.with(|known| {
        if known.get() == 0 {
            // SAFETY: the call has no conditions.
            known.set(u64::try_from(unsafe { libc::gettid() }).unwrap_or(0));
        }
        known.get()
    })
}

impl Recorder {
    /// The journal with its header; `None` (and said on stderr) where it cannot be made.
    pub(super) fn start() -> Option<Self> {
        let place = Place::resolve(None, None);
        let journal = match Journal::create(&place, "driver", Limits::default()) {
            Ok(journal) => journal,
            Err(error) => {
                eprintln!("memscope: {error}. Nothing is recorded; the program goes on");
                return None;
            }
        };
        journal.header(&place, "driver");
        Some(Self {
            settings: Settings::from_environment(),
            journal,
            generation: fork::generation(),
            driver: Driver::loaded(),
            nvml: OnceLock::new(),
            cupti: OnceLock::new(),
            who: Who::default(),
            state: Mutex::default(),
            records: AtomicU64::new(0),
            native_ns: AtomicU64::new(0),
        })
    }

    /// Calls are watched from here on.
    pub(super) fn subscribed(&self, cupti: Cupti, missed: String) {
        let cupti = self.cupti.get_or_init(|| cupti);
        let status = if missed.is_empty() {
            Status::Active
        } else {
            Status::Degraded
        };
        let source = Source {
            name: "cupti_callbacks",
            status,
            reason: missed,
        };
        self.introduce(&[source], cupti.version());
    }

    /// Calls are not watched: the device is asked from time to time.
    pub(super) fn refused(&self, refused: Refused) {
        let callbacks = Source {
            name: "cupti_callbacks",
            status: refused.status,
            reason: refused.reason,
        };
        let poll = Source {
            name: "poll",
            status: Status::Degraded,
            reason: "the device is asked ten times a second: who asked for memory, and what was \
                     freed between, is not known"
                .to_owned(),
        };
        self.introduce(&[callbacks, poll], None);
    }

    fn introduce(&self, sources: &[Source], cupti: Option<String>) {
        let versions = [
            ("cuda_driver", self.driver.and_then(|d| d.version())),
            ("cupti", cupti),
        ];
        let line = write::introduction(sources, &versions, &self.settings);
        self.put(Weight::Essential, &line);
    }

    fn put(&self, weight: Weight, line: &crate::journal::Line) {
        self.records.fetch_add(1, Ordering::Relaxed);
        self.journal.write(weight, line);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is still the process whose journal it is.
    pub(super) fn is_ours(&self) -> bool {
        self.generation == fork::generation()
    }

    pub(super) fn driver(&self) -> Option<&Driver> {
        self.driver.as_ref()
    }

    pub(super) fn nvml(&self) -> Option<&Nvml> {
        self.nvml.get_or_init(Nvml::open).as_ref()
    }

    /// A watched call begins or is over.
    ///
    /// # Safety
    /// `data` is CUPTI's about this call.
    pub(super) unsafe fn called(&self, call: &Call, data: &CallbackData) {
        // In a forked child the lock may be held by a thread that does not exist there.
        if !self.is_ours() {
            return;
        }
        let start = clock::monotonic();
        if data.site == 0 {
            // SAFETY: the caller's.
            unsafe { self.begins(call, data) };
        } else {
            // SAFETY: CUPTI points to the result of a call that is over.
            let rc = unsafe { data.result.as_ref() }.copied().unwrap_or(0);
            // SAFETY: the caller's.
            let event = unsafe { params::decode(call.shape, data.params, rc == 0) };
            if let Some(event) = event {
                self.ends(call, &event, rc, data.context);
            }
        }
        let spent = clock::monotonic().saturating_sub(start);
        self.native_ns.fetch_add(spent, Ordering::Relaxed);
    }

    /// # Safety
    /// As [`called`](Self::called).
    unsafe fn begins(&self, call: &Call, data: &CallbackData) {
        let looked_at = calls::takes(call.shape)
            || calls::makes_context(call.shape)
            || call.shape == calls::Shape::Release;
        if !looked_at {
            return;
        }
        // SAFETY: the caller's; results are not read.
        let event = unsafe { params::decode(call.shape, data.params, false) };
        match event {
            Some(Event::Free { space, ptr, .. }) => {
                let known = self.state().table.begin_free(space, ptr, thread());
                FREEING.set(known);
            }
            Some(Event::Release { handle }) => {
                RELEASING.set(self.state().table.memory_of(handle));
            }
            Some(Event::Context { device, .. }) => {
                let known = self.state().contexts.values().any(|d| *d == device);
                let before = (!known).then(|| self.nvml_memory(device)).flatten();
                BEFORE.set(before.map(Memory::used));
            }
            _ => {}
        }
    }

    pub(super) fn nvml_memory(&self, device: u32) -> Option<Memory> {
        let driver = self.driver.as_ref()?;
        self.nvml()?.memory(driver, i32::try_from(device).ok()?)
    }

    /// A call is over. CUDA, CUPTI and NVML are never asked while the lock is held: the driver may hold
    /// locks of its own around the callback of another thread that waits for ours.
    fn ends(&self, call: &Call, event: &Event, rc: u32, context: u64) {
        let due = match *event {
            Event::Alloc { .. } | Event::Create { .. } => self.gets(call, event, rc, context),
            Event::Free { ptr: 0, .. } => false,
            Event::Free { space, ptr, stream } => {
                let mut state = self.state();
                let block = match state.table.end_free(space, ptr, thread(), rc == 0) {
                    Freed::Told => return,
                    Freed::Known(block) => Some(block),
                    // Another thread was given the address, and gave it back, before this one came back.
                    Freed::Unknown if FREEING.get() => return,
                    Freed::Unknown => None,
                };
                let line = match block {
                    Some(block) => write::free(call.name, ptr, Some(thread()), &block, stream, rc),
                    None => write::free_of_unknown(call.name, ptr, thread(), stream, rc),
                };
                self.event(&state, &line);
                state.is_due()
            }
            Event::Retain { handle } => {
                if let Some(handle) = handle {
                    self.state().table.retain(handle);
                }
                false
            }
            Event::Release { handle } => {
                let id = RELEASING.take();
                let mut state = self.state();
                let released = id
                    .filter(|_| rc == 0)
                    .and_then(|id| state.table.release(handle, id));
                self.event(&state, &write::release(handle, released, rc, thread()));
                state.is_due()
            }
            Event::Map {
                ptr,
                size,
                offset,
                handle,
            } => {
                let mut state = self.state();
                if rc == 0 {
                    state.table.map(ptr, size, handle);
                }
                self.event(&state, &write::map(ptr, size, offset, handle, rc, thread()));
                false
            }
            Event::Unmap { ptr, size } => {
                let mut state = self.state();
                let freed = if rc == 0 {
                    state.table.unmap(ptr, size)
                } else {
                    0
                };
                self.event(&state, &write::unmap(ptr, size, freed, rc, thread()));
                state.is_due()
            }
            Event::Pool { op, pool, device } => {
                let state = self.state();
                self.event(&state, &write::pool(op, pool, device, rc));
                false
            }
            Event::Context { context, device } => {
                if let Some(context) = context {
                    self.context_begins(context, device);
                }
                false
            }
        };
        if due {
            let memory = self.memory(context);
            let mut state = self.state();
            // Another thread may have written them meanwhile.
            if state.is_due() {
                self.live(&mut state, memory, None, false);
            }
        }
    }

    /// Memory was asked for. Gives whether the sums are due to be written.
    fn gets(&self, call: &Call, event: &Event, rc: u32, context: u64) -> bool {
        let (size, kind, given) = match *event {
            Event::Alloc { size, kind, .. } => (size, kind, None),
            Event::Create {
                size, kind, device, ..
            } => (size, kind, device),
            _ => return false,
        };
        let shown = self.settings.backtrace;
        let shown = shown.is_some_and(|from| size.unwrap_or(0) >= from);
        let (lib, frames) = self.who.asked(shown || rc == OUT_OF_MEMORY);
        // Physical memory of a host is no device's.
        let on_host = matches!(event, Event::Create { .. }) && kind == Kind::Pinned;
        let device = given.or_else(|| (!on_host).then(|| self.device(context)).flatten());
        let owner = Owner { lib, kind, device };
        let memory = (rc != 0).then(|| self.memory(context)).flatten();
        let mut state = self.state();
        let line = match *event {
            Event::Alloc { space, ptr, .. } => {
                let block = Block {
                    size,
                    owner,
                    context,
                    freed_by: None,
                };
                let old = ptr.and_then(|ptr| state.table.alloc(space, ptr, block));
                // The thread that frees it is not back yet, or freed it by a way that is not watched: a
                // reader must see it go before it comes.
                if let (Some(old), Some(ptr)) = (old, ptr) {
                    self.event(&state, &write::free("", ptr, old.freed_by, &old, None, 0));
                }
                write::alloc(call.name, event, &owner, rc, thread(), memory)
            }
            Event::Create { handle, .. } => {
                if let Some(handle) = handle {
                    state.table.create(handle, size, owner);
                }
                write::create(call.name, handle, size, &owner, rc, thread())
            }
            _ => return false,
        };
        let line = if shown {
            write::backtrace(line, &frames)
        } else {
            line
        };
        self.event(&state, &line);
        if rc != 0 {
            self.live(&mut state, memory, None, true);
        }
        if rc == OUT_OF_MEMORY {
            self.out_of_memory(&mut state, call.name, size, memory, &frames);
        }
        state.is_due()
    }

    /// A record of `events`, under the lock, so that the order is that of the table.
    fn event(&self, state: &State, line: &crate::journal::Line) {
        if !state.ended {
            self.put(Weight::Event, line);
        }
    }

    fn device(&self, context: u64) -> Option<u32> {
        let known = self.state().contexts.get(&context).copied();
        if known.is_some() || context == 0 {
            return known;
        }
        let device = self.cupti.get()?.device_of(context)?;
        self.state().contexts.insert(context, device);
        Some(device)
    }

    /// Memory of the device whose context this is, which is current.
    fn memory(&self, context: u64) -> Option<Memory> {
        let memory = self.driver.as_ref()?.memory()?;
        Some(Memory {
            device: self.device(context),
            ..memory
        })
    }

    fn context_begins(&self, context: u64, device: u32) {
        let before = BEFORE.take();
        let after = before.and_then(|_| self.nvml_memory(device));
        let mut state = self.state();
        state.contexts.insert(context, device);
        if let (Some(before), Some(after)) = (before, after) {
            let lost = after.used().saturating_sub(before);
            state.context_bytes.insert(device, lost);
        }
        drop(state);
        self.introduce_device(device);
    }

    /// Says which device it is, the first time.
    pub(super) fn introduce_device(&self, device: u32) {
        if self.state().devices.contains_key(&device) {
            return;
        }
        let Some(known) = self.driver.and_then(|d| d.device(device)) else {
            return;
        };
        let nvml = self.nvml().and_then(Nvml::version);
        let mut state = self.state();
        state.devices.insert(device, known);
        let devices: Vec<_> = state.devices.values().cloned().collect();
        if !state.ended {
            self.put(Weight::Essential, &write::devices(&devices, nvml));
        }
    }

    /// Everything that lives in a context dies with it.
    pub(super) fn context_ends(&self, context: u64) {
        if !self.is_ours() {
            return;
        }
        let mut state = self.state();
        for (ptr, block) in state.table.context_ends(context) {
            self.event(
                &state,
                &write::free("context_end", ptr, None, &block, None, 0),
            );
        }
        if let Some(device) = state.contexts.remove(&context)
            && !state.contexts.values().any(|d| *d == device)
        {
            state.context_bytes.remove(&device);
        }
        self.live(&mut state, None, None, false);
    }

    /// `process_used` is NVML's word at the same moment as `memory`: an older one would make the
    /// difference of the two look like another process.
    fn live(
        &self,
        state: &mut State,
        memory: Option<Memory>,
        process_used: Option<u64>,
        essential: bool,
    ) {
        if state.ended {
            return;
        }
        state.live_at = clock::monotonic();
        state.live_bytes = state.table.bytes();
        state.used = memory.map(Memory::used).or(state.used);
        let contexts = &state.context_bytes;
        let line = write::live(&Live {
            table: self.cupti.get().map(|_| &state.table),
            memory,
            process_used,
            context: (!contexts.is_empty()).then(|| contexts.values().sum()),
        });
        let weight = if essential {
            Weight::Essential
        } else {
            Weight::Periodic
        };
        self.put(weight, &line);
    }

    fn out_of_memory(
        &self,
        state: &mut State,
        api: &str,
        size: Option<u64>,
        memory: Option<Memory>,
        frames: &[super::who::Frame],
    ) {
        let now = clock::monotonic();
        if state.ended {
            return;
        }
        if state
            .oom_at
            .is_some_and(|at| now.saturating_sub(at) < OOM_APART)
        {
            self.journal.dropped("oom", 1, "sampling");
            return;
        }
        state.oom_at = Some(now);
        self.records.fetch_add(1, Ordering::Relaxed);
        write::oom(&self.journal, api, size, memory, frames);
    }

    /// Whether the sums changed since they were written.
    pub(super) fn is_due(&self) -> bool {
        self.state().is_due()
    }

    /// What is due by the clock: sums that were not written yet, and what NVML says.
    pub(super) fn tick(&self, memory: Option<Memory>, process_used: Option<u64>) {
        let mut state = self.state();
        let sums = state.is_due();
        let device = memory.is_some_and(|m| {
            let before = state.used;
            before.is_none_or(|b| b.abs_diff(m.used()) >= CHANGE)
        });
        if sums || device {
            self.live(&mut state, memory, process_used, false);
        }
    }

    /// What the device says, where calls are not watched.
    pub(super) fn polled(&self, device: u32, memory: Memory, process_used: Option<u64>) {
        let mut state = self.state();
        if state.ended {
            return;
        }
        self.put(
            Weight::Periodic,
            &write::sample(device, memory, process_used),
        );
        self.live(&mut state, Some(memory), process_used, false);
    }

    /// Devices on which this process has a context.
    pub(super) fn devices(&self) -> Vec<u32> {
        self.state().devices.keys().copied().collect()
    }

    /// The wall clock and what recording cost.
    pub(super) fn account(&self) {
        let state = self.state();
        if !state.ended {
            self.journal.clock();
            self.journal.overhead(&self.overhead(), false);
        }
    }

    fn overhead(&self) -> Overhead {
        let native = self.native_ns.load(Ordering::Relaxed);
        Overhead {
            records: self.records.load(Ordering::Relaxed),
            native_ns: native,
            hook_ns: native,
            ..Overhead::default()
        }
    }

    /// The last records. Called when the process exits.
    pub(super) fn end(&self) {
        if !self.is_ours() {
            return;
        }
        // A signal handler may have called exit() while this very thread was recording.
        for _ in 0..100 {
            let mut state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            if !state.ended {
                self.live(&mut state, None, None, true);
                self.journal.overhead(&self.overhead(), true);
                self.journal.footer("exit", "");
                state.ended = true;
            }
            return;
        }
    }
}
