//! The library that the CUDA driver loads into any process whose environment names it
//! (`CUDA_INJECTION64_PATH`): what the driver gives to the process and gets back, as it happens.
//!
//! ```text
//! cuInit ─▶ InitializeInjection ─▶ cupti: subscribe ─▶ callback ─▶ params ─▶ recorder ─▶ journal
//!                                      └─ refused ───▶ poll ────────────────────┘
//! ```
//!
//! Nothing here fails the program: panics are caught, refused subscriptions are said in the journal.

#![allow(unsafe_code)]

mod calls;
mod cupti;
mod device;
mod dl;
mod params;
mod poll;
mod recorder;
mod settings;
mod table;
mod who;
mod write;

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use cupti::{CallbackData, Cupti, ResourceData};
use recorder::Recorder;

static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();

/// What the driver calls when CUDA is initialised. Always 1: the program goes on whatever happened.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> i32 {
    let started = catch_unwind(|| {
        let mut first = false;
        let recorder = RECORDER.get_or_init(|| {
            first = true;
            Recorder::start()
        });
        if first && let Some(recorder) = recorder {
            begin(recorder);
        }
    });
    if started.is_err() {
        eprintln!("memscope: recording could not start: a defect of memscope. The program goes on");
    }
    1
}

fn begin(recorder: &'static Recorder) {
    let refused = if recorder.settings.poll {
        Some(cupti::Refused {
            status: crate::records::Status::Unavailable,
            reason: "polling was asked for (--poll)".to_owned(),
        })
    } else {
        match Cupti::subscribe(callback) {
            Ok((cupti, missed)) => {
                recorder.subscribed(cupti, missed);
                None
            }
            Err(refused) => Some(refused),
        }
    };
    let polls = refused.is_some();
    if let Some(refused) = refused {
        recorder.refused(refused);
    }
    poll::start(recorder, polls);
    // SAFETY: a plain function of this library, which is not unloaded.
    unsafe { libc::atexit(end) };
}

extern "C" fn end() {
    drop(catch_unwind(|| {
        if let Some(Some(recorder)) = RECORDER.get() {
            recorder.end();
        }
    }));
}

thread_local! {
    /// This thread is in our callback already: what we ask the driver is not the program's.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn callback(_: *mut c_void, domain: u32, cbid: u32, data: *const c_void) {
    if data.is_null() {
        return;
    }
    // Where the thread's storage is gone already, the thread is ending: nothing is recorded.
    if BUSY.try_with(|busy| busy.replace(true)).unwrap_or(true) {
        return;
    }
    let done = catch_unwind(AssertUnwindSafe(|| {
        let Some(Some(recorder)) = RECORDER.get() else {
            return;
        };
        match domain {
            cupti::DRIVER => {
                let Some(call) = calls::find(cbid) else {
                    return;
                };
                // SAFETY: CUPTI passes this struct in this domain; it lives through the callback.
                let data = unsafe { &*data.cast::<CallbackData>() };
                // SAFETY: the parameters are those of the function of this number.
                unsafe { recorder.called(call, data) };
            }
            cupti::RESOURCE if cbid == cupti::CONTEXT_ENDS => {
                // SAFETY: CUPTI passes this struct in this domain; it lives through the callback.
                let data = unsafe { &*data.cast::<ResourceData>() };
                recorder.context_ends(data.context);
            }
            _ => {}
        }
    }));
    drop(done);
    let _ = BUSY.try_with(|busy| busy.set(false));
}
