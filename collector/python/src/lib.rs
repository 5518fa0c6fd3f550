//! The native half of the Python package `memscope`: a journal to write into, and the command.
//!
//! Nothing that a training program calls here raises or panics into it: see [`recorder`].

mod figures;
mod recorder;
mod state;

use pyo3::prelude::*;

/// Native half of the package `memscope`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::recorder::Recorder;

    use pyo3::prelude::*;

    /// Runs the command `memscope` with its arguments, the program's name not among them; gives its
    /// exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| super::command(arguments))
    }

    /// Whether this build has the command.
    #[pyfunction]
    fn has_command() -> bool {
        cfg!(feature = "command")
    }
}

#[cfg(feature = "command")]
fn command(arguments: Vec<std::ffi::OsString>) -> u8 {
    let all = std::iter::once("memscope".into()).chain(arguments);
    let code = std::panic::catch_unwind(|| site::run(all.collect::<Vec<std::ffi::OsString>>()));
    // An exit code can be compared, not read. A panic has said what it is: 101 as a program's.
    code.map_or(101, |code| {
        (0..=u8::MAX)
            .find(|n| std::process::ExitCode::from(*n) == code)
            .unwrap_or(1)
    })
}

#[cfg(not(feature = "command"))]
fn command(_: Vec<std::ffi::OsString>) -> u8 {
    eprintln!(
        "memscope: this build of the Python package is without the command; build it with the \
         feature `command`, or use the program memscope"
    );
    2
}
