//! What can go wrong before recording begins. Afterwards nothing does: see [`crate::journal`].

use std::io;
use std::path::PathBuf;

/// Why a recorder could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder or file for the journal could not be made.
    #[error(
        "{path}: cannot {what}: {source}. Give another folder (MEMSCOPE_DIR), or free space there"
    )]
    Create {
        /// The folder or file.
        path: PathBuf,
        /// `make the folder`, `create the journal`.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The CUDA driver cannot be used.
    #[error("{0}")]
    Driver(String),
}
