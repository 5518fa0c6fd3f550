//! What can be wrong with an input, said so that its owner knows what to do.

/// Why an input was refused.
///
/// Every message names the input, the byte offset where reading stopped, what was expected and
/// what stood there instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes break the rules of their format.
    #[error("{name}: at byte {offset}: expected {expected}, found {found}; {advice}")]
    Malformed {
        /// The input's name, as its owner gave it.
        name: String,
        /// Offset from the start of the uncompressed input, in bytes; of the compressed one where
        /// compression itself is damaged.
        offset: u64,
        /// What the format demands here.
        expected: String,
        /// What stands here.
        found: String,
        /// What to do about it.
        advice: String,
    },
    /// The input is readable but is none of the kinds that MemScope knows.
    #[error("{name}: at byte 0: expected {expected}, found {found}; give MemScope one of those")]
    Unsupported {
        /// The input's name, as its owner gave it.
        name: String,
        /// The kinds that are read.
        expected: String,
        /// What the first bytes look like.
        found: String,
    },
    /// The bytes could not be fetched from the caller's source.
    #[error("{name}: at byte {offset}: reading failed: {source}")]
    Io {
        /// The input's name, as its owner gave it.
        name: String,
        /// How many bytes had been read before.
        offset: u64,
        /// What the source said.
        source: std::io::Error,
    },
    /// A container whose version this build does not know.
    #[error(
        "{name}: container format {found}, but this memscope reads up to {supported}; \
         render the report again, or use a newer memscope"
    )]
    Version {
        /// The input's name.
        name: String,
        /// The version that the file states.
        found: u32,
        /// The newest version that this build reads.
        supported: u32,
    },
}

impl Error {
    /// The error of a source that failed after `offset` bytes. Where it is compressed data that is
    /// wrong, that is said, with the offset in the compressed file.
    pub(crate) fn reading(name: &str, offset: u64, source: std::io::Error) -> Self {
        #[cfg(feature = "snapshot")]
        if let Some(damaged) = source
            .get_ref()
            .and_then(|e| e.downcast_ref::<crate::read::compressed::Damaged>())
        {
            return Self::Malformed {
                name: name.to_owned(),
                offset: damaged.offset,
                expected: damaged.expected.clone(),
                found: damaged.found.clone(),
                advice: damaged.advice.clone(),
            };
        }
        Self::Io {
            name: name.to_owned(),
            offset,
            source,
        }
    }
}

/// Short for results of this crate.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
