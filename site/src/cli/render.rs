//! `memscope render` and `memscope visualize-runtime`.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use present::Lang;

use super::args::PageOptions;
use super::failure::Usage;
use super::{find, note, read, refuse_clash, wrote};
use crate::output::{Output, Target};
use crate::pack::{self, Judgement, Page};
use crate::progress::Progress;

/// Any inputs into one file.
pub(super) fn render(
    arguments: &[PathBuf],
    output: Option<&Path>,
    options: &PageOptions,
) -> Result<()> {
    let inputs = find(arguments)?;
    let target = match output {
        Some(path) => Target::of(path),
        None => beside(
            arguments
                .first()
                .map(PathBuf::as_path)
                .unwrap_or(Path::new("-")),
        )?,
    };
    refuse_clash(&target, &inputs)?;
    let tables_only = matches!(&target, Target::File(path) if is_container(path));
    refuse_open(&target, tables_only, options)?;
    if !tables_only && !pack::has_viewer() {
        return Err(pack::Error::NoViewer.into());
    }
    let mut out = Output::open(&target)?;
    let mut progress = Progress::stderr();
    let report = read(&inputs, &mut progress)?;
    progress.stage("packing");
    let size = if tables_only {
        let container = pack::container(&report)?;
        out.write_all(&container).with_context(|| cannot(&target))?;
        container.len() as u64
    } else {
        let lang = options.lang.map_or(Lang::En, Lang::from);
        let page = Page::of(report, lang, options.whole_viewer)?;
        let size = page.size()?;
        let judgement = pack::judge(size, options.force)?;
        progress.clear();
        if let Judgement::Warn(text) = judgement {
            note(&text);
        }
        page.write(&mut out)?;
        size
    };
    drop(progress);
    out.commit()?;
    if let Target::File(path) = &target {
        wrote(path, size)?;
        if options.open {
            open(path);
        }
    }
    Ok(())
}

fn cannot(target: &Target) -> String {
    match target {
        Target::Stdout => "cannot write on stdout".to_owned(),
        Target::File(path) => format!("cannot write {}", crate::input::shown(path)),
    }
}

/// Where the page goes when nobody says: beside the first input.
fn beside(first: &Path) -> Result<Target> {
    if first.as_os_str() == "-" {
        return if std::io::stdout().is_terminal() {
            Err(Usage(
                "the input is stdin, so say where the page goes: -o FILE, or -o - for stdout"
                    .to_owned(),
            )
            .into())
        } else {
            Ok(Target::Stdout)
        };
    }
    Ok(Target::File(if first.is_dir() {
        first.join("memscope.html")
    } else {
        first.with_extension("html")
    }))
}

fn is_container(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("memscope"))
}

fn refuse_open(target: &Target, tables_only: bool, options: &PageOptions) -> Result<()> {
    let reason = match target {
        _ if !options.open => return Ok(()),
        Target::Stdout => "what goes to stdout cannot be opened",
        Target::File(_) if tables_only => "a browser cannot open a .memscope file by itself",
        Target::File(_) => return Ok(()),
    };
    Err(Usage(format!("--open: {reason}; write HTML with -o FILE.html")).into())
}

/// Shows the page. That it is written is not in doubt when no browser starts.
fn open(path: &Path) {
    if let Err(error) = std::path::absolute(path).and_then(open::that_detached) {
        note(&format!(
            "could not start a browser ({error}); open {} by hand",
            crate::input::shown(path)
        ));
    }
}
