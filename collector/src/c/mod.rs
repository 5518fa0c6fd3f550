//! The C interface: `include/memscope.h`, function by function.
//!
//! No panic crosses into C, and NULL is taken everywhere.

#![allow(unsafe_code)]

mod figures;

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::device::Probe;
use crate::figures::Figures;
use crate::recorder::Recorder;
pub use figures::CFigures;

/// The version of the interface: rises when a function changes its meaning.
pub const ABI_VERSION: u32 = 1;

/// `memscope_probe`.
pub type CProbe = Option<unsafe extern "C" fn(*mut c_void, *mut CFigures)>;

/// `memscope_recorder`: opaque to C.
#[derive(Debug)]
pub struct CRecorder {
    recorder: Recorder,
}

/// A probe of the program's own.
struct Foreign {
    probe: unsafe extern "C" fn(*mut c_void, *mut CFigures),
    data: *mut c_void,
}

// SAFETY: the header says that the probe is called from any thread, with its data.
unsafe impl Send for Foreign {}
// SAFETY: as above; the recorder itself never touches what `data` points to.
unsafe impl Sync for Foreign {}

impl Probe for Foreign {
    fn figures(&self) -> Figures {
        let mut figures = CFigures::unknown();
        // SAFETY: `figures` is whole and lives through the call; `data` is what the program gave.
        unsafe { (self.probe)(self.data, &raw mut figures) };
        figures.known()
    }
}

/// A text of C, with what is not UTF-8 replaced; empty for NULL.
///
/// # Safety
/// `text` is NULL or ends with 0.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Does something with a recorder; nothing with NULL. A panic ends here.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished.
unsafe fn with<T>(recorder: *mut CRecorder, otherwise: T, work: impl FnOnce(&Recorder) -> T) -> T {
    // SAFETY: the caller's promise.
    let Some(recorder) = (unsafe { recorder.as_ref() }) else {
        return otherwise;
    };
    catch_unwind(AssertUnwindSafe(|| work(&recorder.recorder))).unwrap_or(otherwise)
}

/// The interface's version.
#[unsafe(no_mangle)]
pub extern "C" fn memscope_abi_version() -> u32 {
    ABI_VERSION
}

/// See `memscope.h`.
///
/// # Safety
/// `directory` is NULL or ends with 0; `probe` may be called from any thread with `data` until
/// [`memscope_finish`] returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_start(
    directory: *const c_char,
    rank: i32,
    probe: CProbe,
    data: *mut c_void,
) -> *mut CRecorder {
    let start = || {
        let mut builder = Recorder::builder().writer("c");
        // SAFETY: the caller's promise.
        let directory = unsafe { text(directory) };
        if !directory.is_empty() {
            builder = builder.directory(PathBuf::from(directory));
        }
        if let Ok(rank) = u32::try_from(rank) {
            builder = builder.rank(rank);
        }
        if let Some(probe) = probe {
            builder = builder.probe(Foreign { probe, data });
        }
        let recorder = builder.start_or_off();
        recorder
            .is_on()
            .then(|| Box::into_raw(Box::new(CRecorder { recorder })))
    };
    catch_unwind(AssertUnwindSafe(start))
        .ok()
        .flatten()
        .unwrap_or(std::ptr::null_mut())
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`], and is not used again; the texts are NULL or end
/// with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_finish(
    recorder: *mut CRecorder,
    reason: *const c_char,
    error: *const c_char,
) {
    if recorder.is_null() {
        return;
    }
    // SAFETY: it came from `Box::into_raw` and is not used again, as the caller promises.
    let recorder = unsafe { Box::from_raw(recorder) };
    // SAFETY: the caller's promise.
    let (reason, error) = unsafe { (text(reason), text(error)) };
    let reason = if reason.is_empty() { "exit" } else { &reason };
    drop(catch_unwind(AssertUnwindSafe(|| {
        recorder.recorder.finish_because(reason, &error);
    })));
}

/// A function that takes a recorder alone.
macro_rules! plain {
    ($($name:ident => $method:ident),* $(,)?) => {$(
        /// See `memscope.h`.
        ///
        /// # Safety
        /// `recorder` is NULL or came from [`memscope_start`] and was not finished.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(recorder: *mut CRecorder) {
            // SAFETY: the caller's promise.
            unsafe { with(recorder, (), Recorder::$method) }
        }
    )*};
}

plain! {
    memscope_step_begin => begin_step,
    memscope_step_end => end_step,
    memscope_micro_batch => next_micro_batch,
    memscope_phase_end => end_phase,
    memscope_sync => sync,
}

/// A function that takes a recorder and a text.
macro_rules! named {
    ($($name:ident => $method:ident),* $(,)?) => {$(
        /// See `memscope.h`.
        ///
        /// # Safety
        /// `recorder` is NULL or came from [`memscope_start`] and was not finished; `name` is NULL or ends
        /// with 0.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(recorder: *mut CRecorder, name: *const c_char) {
            // SAFETY: the caller's promise.
            unsafe { with(recorder, (), |r| r.$method(&text(name))) }
        }
    )*};
}

named! {
    memscope_phase_begin => begin_phase,
    memscope_mark => mark,
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished; `name` is NULL or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_module_begin(
    recorder: *mut CRecorder,
    name: *const c_char,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { with(recorder, 0, |r| r.begin_module(&text(name))) }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_module_end(recorder: *mut CRecorder, module: u64) {
    // SAFETY: the caller's promise.
    unsafe { with(recorder, (), |r| r.end_module(module)) }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished; `figures` is NULL or points to
/// as many bytes as its `size` says; `note` is NULL or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_sample(
    recorder: *mut CRecorder,
    figures: *const CFigures,
    note: *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let note = text(note);
        let figures = CFigures::read(figures);
        with(recorder, (), |r| match figures {
            Some(figures) => r.sample_of(&figures, &note),
            None => r.sample(&note),
        });
    }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished; `name` is NULL or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_alloc(
    recorder: *mut CRecorder,
    address: u64,
    size: u64,
    name: *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe { with(recorder, (), |r| r.allocated(address, size, &text(name))) }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_free(recorder: *mut CRecorder, address: u64) {
    // SAFETY: the caller's promise.
    unsafe { with(recorder, (), |r| r.freed(address)) }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished; `message` is NULL or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_oom(
    recorder: *mut CRecorder,
    requested: u64,
    message: *const c_char,
) {
    let requested = (requested != figures::UNKNOWN).then_some(requested);
    // SAFETY: the caller's promise.
    unsafe { with(recorder, (), |r| r.out_of_memory(requested, &text(message))) }
}

/// See `memscope.h`.
///
/// # Safety
/// `recorder` is NULL or came from [`memscope_start`] and was not finished; the texts are NULL or end with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memscope_metadata(
    recorder: *mut CRecorder,
    key: *const c_char,
    value: *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe { with(recorder, (), |r| r.metadata(&[(&text(key), &text(value))])) }
}
