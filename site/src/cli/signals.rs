//! Runs a command that gets the signals meant for it.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;

/// Runs a command to its end. Signals that a process sends here are passed on; those of the terminal
/// (Ctrl-C) reach the command by themselves.
pub(super) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    // Before the command starts, so that none is missed.
    let mut signals =
        SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let passing = thread::spawn(move || {
        for origin in &mut signals {
            let signal = Signal::from_named_raw(origin.signal);
            if let (true, Some(pid), Some(signal)) = (sent(&origin), pid, signal) {
                // It may have ended by now: then there is nobody to tell.
                let _ = kill_process(pid, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    drop(passing.join());
    status
}

/// The exit code of a command as a shell tells it: its own, or 128 and the signal that ended it.
pub(super) fn code(status: ExitStatus) -> ExitCode {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))
}

/// Whether a process sent it, not the terminal.
fn sent(origin: &Origin) -> bool {
    origin.process.is_some()
}
