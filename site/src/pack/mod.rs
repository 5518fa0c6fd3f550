//! Makes the one HTML file: the template and assets of `viewer/`, the program that `build/viewer.rs`
//! embedded, the static part, and the packed report.
//!
//! ```text
//! page.html ──▶ template ──┐
//! glue + boot.js ──▶ script ├─▶ Page::write (one pass, streamed)
//! style.css ───────────────┤
//! container ──▶ chunks ────┘
//! ```
//!
//! * Nothing in the page depends on the time or the machine: the same input gives the same bytes.
//! * The template is filled in one pass, so text that looks like a placeholder stays text.
//! * The size is known before the first byte is written, see [`Page::size`].

mod assets;
mod budget;
mod chunks;
mod error;
mod inert;
mod policy;
mod template;

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use present::Lang;
use present::sentences::Facts;
use present::visible::{html, short};
use report::container::{self, Level};
use report::model::{Rank, Report};

pub use assets::has_viewer;
pub use budget::{Judgement, judge};
pub use error::Error;

use template::Slot;

/// Who wrote a page or a container.
pub const GENERATOR: &str = concat!("memscope ", env!("CARGO_PKG_VERSION"));

/// Packs a report as a container (`.memscope`).
///
/// # Errors
/// [`Error::Container`], which no table makes happen.
pub fn container(report: &Report) -> Result<Vec<u8>, Error> {
    container::pack(report, GENERATOR, Level::default()).map_err(Error::Container)
}

/// Characters of a title, at most.
const TITLE: usize = 300;

/// A page, ready to be written.
#[derive(Debug)]
pub struct Page {
    lang: Lang,
    viewer: assets::Viewer,
    title: String,
    /// What is seen without scripts.
    fixed: String,
    /// The packed report; empty for a viewer without data.
    data: Vec<u8>,
    /// What is shown first, as the part of an address behind `#`; empty for the viewer's choice.
    link: String,
}

/// Whether a rank has what only the program for snapshots shows.
fn needs_whole(rank: &Rank) -> bool {
    rank.snapshot.is_some() || rank.series.is_some() || rank.recording.is_some()
}

impl Page {
    /// A page about a report. The program for snapshots is packed where the report has one, or
    /// where `whole` asks for it.
    ///
    /// # Errors
    /// [`Error::NoViewer`] in a build without viewer; the others are defects of memscope.
    pub fn of(report: Report, lang: Lang, whole: bool) -> Result<Self, Error> {
        require_viewer()?;
        let data = container(&report)?;
        // A page of runtime reports carries no program for snapshots.
        let viewer = if whole || report.ranks.iter().any(needs_whole) {
            assets::WHOLE
        } else {
            assets::LEAN
        };
        // From here on the tables are needed behind Arcs; they move, nothing is copied.
        let ranks: Vec<(Arc<Rank>, Facts)> = report
            .ranks
            .into_iter()
            .map(|rank| {
                let rank = Arc::new(rank);
                let facts = Facts::of(&rank);
                (rank, facts)
            })
            .collect();
        let title = present::sentences::title(ranks.iter().map(|(_, facts)| facts), lang);
        let fixed = present::page::static_part(&ranks, lang).map_err(Error::Static)?;
        Self::new(lang, viewer, title, fixed, data)
    }

    /// A page about two recordings, the two ranks of the packed report `data`. It opens as
    /// `link`, the part of an address behind `#`, says.
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn comparison(
        seen: &present::compare::Seen,
        wanted: &present::compare::Wanted,
        data: Vec<u8>,
        link: String,
        lang: Lang,
    ) -> Result<Self, Error> {
        require_viewer()?;
        let fixed = present::compare::static_part(seen, wanted, lang).map_err(Error::Static)?;
        let title = format!("MemScope: {}", present::compare::headline(seen, lang));
        // Only the whole viewer compares.
        let page = Self::new(lang, assets::WHOLE, title, fixed, data)?;
        Ok(Self { link, ..page })
    }

    /// The viewer without data, into which a report is dropped.
    ///
    /// # Errors
    /// [`Error::NoViewer`] in a build without viewer.
    pub fn viewer(lang: Lang) -> Result<Self, Error> {
        require_viewer()?;
        Self::new(
            lang,
            assets::WHOLE,
            "MemScope".to_owned(),
            assets::EMPTY.to_owned(),
            Vec::new(),
        )
    }

    fn new(
        lang: Lang,
        viewer: assets::Viewer,
        title: String,
        fixed: String,
        data: Vec<u8>,
    ) -> Result<Self, Error> {
        inert::check(&fixed)?;
        Ok(Self {
            lang,
            viewer,
            title,
            fixed,
            data,
            link: String::new(),
        })
    }

    /// Writes what stands in one slot.
    fn fill(&self, slot: Slot, to: &mut dyn Write) -> std::io::Result<()> {
        let text: Cow<'_, str> = match slot {
            Slot::Lang => self.lang.tag().into(),
            // Nothing in it needs to be escaped in double quotes.
            Slot::Csp => policy::policy(&self.viewer.script).into(),
            Slot::Generator => html(GENERATOR).into(),
            Slot::Title => html(&short(&self.title, TITLE)).into(),
            Slot::Style => self.viewer.style.concat().into(),
            Slot::Link => html(&self.link).into(),
            Slot::Static => self.fixed.as_str().into(),
            Slot::Wasm => self.viewer.program.into(),
            Slot::DataBytes => self.data.len().to_string().into(),
            Slot::Parts => self.parts().map(|n| n.to_string()).join(",").into(),
            Slot::Chunks => return chunks::write(&self.data, to),
            Slot::Script => {
                return self
                    .viewer
                    .script
                    .iter()
                    .try_for_each(|part| to.write_all(part.as_bytes()));
            }
        };
        to.write_all(text.as_bytes())
    }

    /// Sizes of the parts as they stand in the file, in bytes: program, glue and style, static
    /// part, data.
    fn parts(&self) -> [u64; 4] {
        let looks = assets::length(&self.viewer.script) + assets::length(&self.viewer.style);
        [
            self.viewer.program.len() as u64,
            looks,
            self.fixed.len() as u64,
            chunks::encoded(self.data.len() as u64),
        ]
    }

    /// Size of the file in bytes, known before it is written.
    ///
    /// # Errors
    /// [`Error::Template`] when `page.html` has a placeholder that this build does not know.
    pub fn size(&self) -> Result<u64, Error> {
        let mut counter = Counter(0);
        self.write(&mut counter)?;
        Ok(counter.0)
    }

    /// Writes the file. Give a buffered writer.
    ///
    /// # Errors
    /// [`Error::Write`] from `to`, [`Error::Template`] as for [`Self::size`].
    pub fn write(&self, to: &mut dyn Write) -> Result<(), Error> {
        for piece in template::pieces(assets::PAGE)? {
            match piece {
                template::Piece::Text(text) => to.write_all(text.as_bytes()),
                template::Piece::Slot(slot) => self.fill(slot, to),
            }
            .map_err(Error::Write)?;
        }
        Ok(())
    }
}

/// A build without viewer must not write pages: they would look whole and never start.
fn require_viewer() -> Result<(), Error> {
    if has_viewer() {
        Ok(())
    } else {
        Err(Error::NoViewer)
    }
}

/// Counts what is written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
