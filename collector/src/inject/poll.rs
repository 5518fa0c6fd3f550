//! A thread of our own: what is due by the clock; and, where calls are not watched, what the device
//! says ten times a second.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::device::Memory;
use super::recorder::{CHANGE, Recorder};

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// Looks in a second, and in the ten seconds after which clocks are written.
const SECOND: u64 = 10;

/// Starts it. A process that may have no more threads is recorded without.
pub(super) fn start(recorder: &'static Recorder, polls: bool) {
    without_signals(|| {
        let thread = std::thread::Builder::new()
            .name("memscope".to_owned())
            .stack_size(256 << 10)
            .spawn(move || drop(catch_unwind(AssertUnwindSafe(|| run(recorder, polls)))));
        if let Err(error) = thread {
            eprintln!("memscope: no thread for what is due by the clock: {error}");
        }
    });
}

/// The program's signals are for its own threads: ours is started with all of them blocked.
fn without_signals(start: impl FnOnce()) {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the sets are written before they are read, and live through the calls.
    let blocked = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr())
    };
    start();
    if blocked == 0 {
        // SAFETY: the call above has written it.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        }
    }
}

fn run(recorder: &Recorder, polls: bool) {
    let mut last: Vec<(u32, u64)> = Vec::new();
    let mut unanswered = 0;
    for look in 1_u64.. {
        std::thread::sleep(INTERVAL);
        let second = look % SECOND == 0;
        if polls {
            poll(recorder, second, &mut last);
        } else {
            watch(recorder, second, &mut unanswered);
        }
        if look % (10 * SECOND) == 0 {
            recorder.account();
        }
    }
}

/// What NVML says beside the watched calls, and sums that wait to be written.
fn watch(recorder: &Recorder, second: bool, unanswered: &mut u32) {
    if !second && !recorder.is_due() {
        return;
    }
    let Some(device) = recorder.devices().first().copied() else {
        return;
    };
    // In a container NVML knows this process by another number, and will not learn ours.
    let used = (second && *unanswered < 5)
        .then(|| process(recorder, device))
        .flatten();
    if second {
        *unanswered = if used.is_some() { 0 } else { *unanswered + 1 };
    }
    recorder.tick(recorder.nvml_memory(device), used);
}

fn process(recorder: &Recorder, device: u32) -> Option<u64> {
    let driver = recorder.driver()?;
    recorder
        .nvml()?
        .process(driver, i32::try_from(device).ok()?)
}

/// A record of each device that changed, and of all of them once a second.
fn poll(recorder: &Recorder, second: bool, last: &mut Vec<(u32, u64)>) {
    let Some(driver) = recorder.driver() else {
        return;
    };
    let active: Vec<_> = (0..driver.count())
        .filter(|d| driver.active(*d) == Some(true))
        .collect();
    // A program that makes contexts of its own has no primary one: then all are looked at.
    let all: Vec<_> = (0..driver.count()).collect();
    let devices = if active.is_empty() { all } else { active };
    for number in devices {
        let Ok(device) = u32::try_from(number) else {
            continue;
        };
        let memory = recorder
            .nvml_memory(device)
            .or_else(|| driver.memory_of(number));
        let Some(memory) = memory else { continue };
        let used = Memory::used(memory);
        let before = last.iter_mut().find(|(d, _)| *d == device);
        let changed = before
            .as_ref()
            .is_none_or(|(_, b)| b.abs_diff(used) >= CHANGE);
        if !changed && !second {
            continue;
        }
        match before {
            Some((_, before)) => *before = used,
            None => {
                last.push((device, used));
                recorder.introduce_device(device);
            }
        }
        recorder.polled(device, memory, process(recorder, device));
    }
}
