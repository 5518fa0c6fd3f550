//! The `memscope` binary: see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    site::run(std::env::args_os())
}
