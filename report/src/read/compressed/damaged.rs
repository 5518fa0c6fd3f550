//! What is wrong with compressed data, in the terms of every other message.

use std::fmt;
use std::io;

/// Why compressed data is not read on. It travels inside an [`io::Error`] and becomes
/// [`crate::Error::Malformed`] where the input's name is known.
#[derive(Debug)]
pub(crate) struct Damaged {
    /// Offset in the compressed file, bytes.
    pub(crate) offset: u64,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) advice: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            offset,
            expected,
            found,
            advice,
        } = self;
        write!(
            f,
            "at byte {offset}: expected {expected}, found {found}; {advice}"
        )
    }
}

impl std::error::Error for Damaged {}

impl From<Damaged> for io::Error {
    fn from(damaged: Damaged) -> Self {
        Self::new(io::ErrorKind::InvalidData, damaged)
    }
}
