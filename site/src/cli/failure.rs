//! What is said when something goes wrong: one line, and an exit code that scripts can rely on.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind;

/// The call is bad: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(pub(super) String);

/// What clap says about a call: help and version go to stdout with 0, mistakes to stderr with 2.
pub(super) fn call(error: &clap::Error) -> ExitCode {
    // A closed pipe is no reason to complain, here as below.
    let _ = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.print(),
        _ => writeln!(io::stderr(), "memscope: {}", one_line(&error.to_string())),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// clap's paragraphs as one line: their lines, joined by `; `, or by a space behind a colon.
fn one_line(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        if !out.is_empty() {
            out += if out.ends_with(':') { " " } else { "; " };
        }
        out += line.strip_prefix("error: ").unwrap_or(line);
    }
    out
}

/// Prints the error and gives the exit code. A closed stdout (`memscope summary ... | head`) is no
/// error: whoever read it has seen enough.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    let closed = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    if error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(closed)
    {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(io::stderr(), "memscope: {}", line(error));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

/// The chain of causes, joined. A message that ends with its cause does not have it said twice.
fn line(error: &anyhow::Error) -> String {
    let mut out = String::new();
    for cause in error.chain() {
        let text = cause.to_string().replace(['\n', '\r'], " ");
        if out.is_empty() {
            out = text;
        } else if !out.ends_with(&text) {
            out += ": ";
            out += &text;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn causes_are_joined_once() {
        let io = || io::Error::from(io::ErrorKind::NotFound);
        let error = Err::<(), _>(io())
            .context("cannot read x")
            .context("a")
            .unwrap_err();
        assert_eq!(line(&error), "a: cannot read x: entity not found");
        let error = report::Error::Io {
            name: "x".to_owned(),
            offset: 3,
            source: io(),
        };
        assert_eq!(
            line(&error.into()),
            "x: at byte 3: reading failed: entity not found"
        );
    }
}
