//! Guards: a scope ends where they go, also by `?`, `return` or a panic.

use super::Recorder;

/// A running step.
#[derive(Debug)]
pub struct Step<'a>(&'a Recorder);

impl<'a> Step<'a> {
    pub(super) fn new(recorder: &'a Recorder) -> Self {
        Self(recorder)
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.0.end_step();
    }
}

/// A phase that was entered.
#[derive(Debug)]
pub struct Phase<'a>(&'a Recorder);

impl<'a> Phase<'a> {
    pub(super) fn new(recorder: &'a Recorder) -> Self {
        Self(recorder)
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        self.0.end_phase();
    }
}

/// A module that was entered.
#[derive(Debug)]
pub struct Module<'a> {
    recorder: &'a Recorder,
    call: u64,
}

impl<'a> Module<'a> {
    pub(super) fn new(recorder: &'a Recorder, call: u64) -> Self {
        Self { recorder, call }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        let aborted = std::thread::panicking();
        let edge = if aborted { "abort" } else { "post" };
        self.recorder.leave_module(self.call, edge);
    }
}
