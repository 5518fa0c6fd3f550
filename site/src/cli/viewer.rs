//! `memscope viewer`.

use anyhow::Result;
use present::Lang;

use super::args::Viewer;
use super::wrote;
use crate::output::{Output, Target};
use crate::pack::Page;

/// The viewer without data.
pub(super) fn viewer(arguments: &Viewer) -> Result<()> {
    let page = Page::viewer(arguments.lang.map_or(Lang::En, Lang::from))?;
    let target = Target::of(&arguments.output);
    let mut out = Output::open(&target)?;
    page.write(&mut out)?;
    out.commit()?;
    match &target {
        Target::File(path) => wrote(path, page.size()?),
        Target::Stdout => Ok(()),
    }
}
