//! Why a page could not be made.

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Built with `SITE_SKIP_VIEWER`.
    #[error(
        "this memscope was built without the viewer (SITE_SKIP_VIEWER was set), so it cannot write HTML; \
         build it again without that: cargo build --release -p site"
    )]
    NoViewer,
    /// The tables could not be packed.
    #[error("the report could not be packed")]
    Container(#[source] serde_json::Error),
    /// The static part could not be drawn.
    #[error("the static part of the page could not be made")]
    Static(#[source] present::chart::DrawError),
    /// The static part holds what it must not.
    #[error(
        "the static part of the page would hold {0}; this is a defect of memscope, and nothing was written"
    )]
    Executable(String),
    /// `page.html` and this crate do not fit.
    #[error("page.html has {0}; this is a defect of memscope")]
    Template(String),
    /// The page is larger than what browsers and people take.
    #[error("{0}")]
    TooLarge(String),
    /// The caller's writer failed.
    #[error("cannot write the page")]
    Write(#[source] std::io::Error),
}
