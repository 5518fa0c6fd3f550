//! What is given: found, named and read.
//!
//! * [`mod@find`] turns arguments into inputs: files, `-`, and directories that are searched.
//! * [`mod@read`] turns inputs into one report; what lies in one folder becomes one rank.
//!
//! An input has two names. The one for messages is the path as it was typed. The one in reports
//! says no more of the machine than it takes to tell the inputs apart: a report is passed on.

mod find;
mod folder;
pub mod journal;
mod names;
mod read;

use std::path::PathBuf;

pub use find::{Found, find};
pub use read::{Reading, read};

/// Where an input is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `-`.
    Stdin,
    /// A file.
    File(PathBuf),
    /// The journals of a rank: the files of each process, in order of their starts.
    Journal(Vec<Vec<PathBuf>>),
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub place: Place,
    /// What messages call it.
    pub shown: String,
    /// What reports call it.
    pub name: String,
    /// The directory that a file lies in, without links: what lies in one place is of one rank.
    pub folder: Option<PathBuf>,
    /// The rank that the folder's name says.
    pub rank: Option<u64>,
    /// Whether it was named, by the caller or by its own name. What a search only took for an input
    /// is left out when it is none.
    pub sure: bool,
}

/// Why inputs were refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such file, or it may not be read.
    #[error("cannot read {shown}")]
    Open {
        /// The input.
        shown: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A directory without reports.
    #[error(
        "{shown}: found no report there; looked for {looked_for} \
         (give the directory that MemScope wrote, mostly memscope_outputs, or the files themselves)"
    )]
    Nothing {
        /// The directory.
        shown: String,
        /// What was looked for.
        looked_for: &'static str,
    },
    /// What stands in the input.
    #[error(transparent)]
    Report(#[from] report::Error),
}

/// A path for messages.
pub(crate) fn shown(path: &std::path::Path) -> String {
    present::visible::visible(&path.display().to_string()).into_owned()
}
