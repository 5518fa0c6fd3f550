//! How large a page may be.
//!
//! A report is mailed and attached to tickets; most mail servers stop at 10 to 25 MB, ticket
//! systems somewhat later, and a browser on a laptop takes seconds to open 100 MB.

use super::Error;

const SOFT: u64 = 10 << 20;
const STRONG: u64 = 50 << 20;
const LIMIT: u64 = 100 << 20;

/// What is said about a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing.
    Fine,
    /// A warning.
    Warn(String),
}

/// Judges the size of a page.
///
/// # Errors
/// [`Error::TooLarge`] above 100 MiB, unless `force`.
pub fn judge(size: u64, force: bool) -> Result<Judgement, Error> {
    let shown = present::units::bytes(size);
    if size > LIMIT && !force {
        return Err(Error::TooLarge(format!(
            "the page would have {shown}, and browsers open more than 100 MiB slowly or not at all; \
             give fewer ranks or steps, write a container instead (-o report.memscope), or use --force"
        )));
    }
    Ok(if size > STRONG {
        Judgement::Warn(format!(
            "the page has {shown}: it opens slowly, and mail and most ticket systems refuse it; \
             give one rank at a time, or record fewer steps"
        ))
    } else if size > SOFT {
        Judgement::Warn(format!(
            "the page has {shown}, more than many mail servers take; give one rank at a time to make it smaller"
        ))
    } else {
        Judgement::Fine
    })
}
