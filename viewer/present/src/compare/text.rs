//! The whole comparison as text, Markdown, SVG and the static part of a page.

#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::groups::By;
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::flame::{Direction, NodeId};

use super::{DiffRows, Seen, figures, headline, modules, name, notes, parts, phases, steps};
use crate::chart::{DrawError, Theme, overlay, svg};
#[cfg(feature = "snapshot")]
use crate::chart::{FLAME_ROW, FlameBox, flame, signed, signed_rows};
use crate::export::{aligned, html_table, markdown as markdown_table, markdown_text};
use crate::rows::Rows as _;
use crate::visible::html;
use crate::words::{Lang, Word};

/// Text columns on a terminal.
const TEXT: usize = 60;
const WIDTH: u32 = 900;
const HEIGHT: u32 = 280;

/// What of the comparison is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Groupings of two snapshots.
    #[cfg(feature = "snapshot")]
    pub by: Vec<By>,
    /// Rows of each table at most.
    pub most: usize,
}

/// The heading of a grouping.
#[cfg(feature = "snapshot")]
#[must_use]
pub fn by_word(by: By) -> Word {
    match by {
        By::Line => Word::DiffByLine,
        By::Function => Word::DiffByFunction,
        By::Stack => Word::DiffByStack,
        By::Category => Word::DiffByCategory,
    }
}

/// The tables with their headings.
fn tables(seen: &Seen, wanted: &Wanted) -> Vec<(Word, DiffRows)> {
    let c = &seen.comparison;
    let mut out = vec![(Word::DiffFigures, figures(c))];
    #[cfg(not(feature = "snapshot"))]
    let _ = wanted;
    #[cfg(feature = "snapshot")]
    if let Some(live) = &seen.live {
        let groups = wanted.by.iter();
        out.extend(groups.map(|&by| (by_word(by), super::groups(live, by))));
    }
    let runtime = [
        (Word::DiffParts, parts(c)),
        (Word::Phases, phases(c)),
        (Word::Modules, modules(c)),
        (Word::Steps, steps(c)),
    ];
    out.extend(
        runtime
            .into_iter()
            .filter_map(|(word, rows)| Some((word, rows?))),
    );
    out.retain(|(_, rows)| !rows.is_empty());
    out
}

/// The first rows of a table, and a word on how many there are where it is cut. Peaks and ends are
/// few and always whole.
fn cut(word: Word, rows: DiffRows, most: usize, lang: Lang) -> (DiffRows, String) {
    let all = rows.len();
    if word == Word::DiffFigures || all <= most {
        return (rows, String::new());
    }
    let note = match lang {
        Lang::En => format!(" ({most} of {all} rows)"),
        Lang::Zh => format!("（共 {all} 行，显示 {most} 行）"),
    };
    (rows.first(most), note)
}

/// For a terminal.
#[must_use]
pub fn text(seen: &Seen, wanted: &Wanted, lang: Lang) -> String {
    let c = &seen.comparison;
    let mut out = format!("{}\n", headline(seen, lang));
    for (letter, side) in [("A", &c.a), ("B", &c.b)] {
        out += &format!("{letter}: {}\n", name(side, lang));
    }
    for note in notes(seen, lang) {
        out += &format!("* {note}\n");
    }
    for (word, rows) in tables(seen, wanted) {
        let (rows, note) = cut(word, rows, wanted.most, lang);
        out += &format!(
            "\n{}{note}\n{}",
            word.text(lang),
            aligned(&rows, TEXT, lang)
        );
    }
    out
}

/// For people who read Markdown.
#[must_use]
pub fn markdown(seen: &Seen, wanted: &Wanted, lang: Lang) -> String {
    let c = &seen.comparison;
    let mut out = match lang {
        Lang::En => "# MemScope comparison\n".to_owned(),
        Lang::Zh => "# MemScope 对比\n".to_owned(),
    };
    out += &format!("\n**{}**\n\n", crate::text::plain(&headline(seen, lang)));
    for (letter, side) in [("A", &c.a), ("B", &c.b)] {
        out += &format!("- {letter}: {}\n", markdown_text(&name(side, lang)));
    }
    for note in notes(seen, lang) {
        out += &format!("- {}\n", crate::text::plain(&note));
    }
    for (word, rows) in tables(seen, wanted) {
        let (rows, note) = cut(word, rows, wanted.most, lang);
        let table = markdown_table(&rows, None, lang);
        out += &format!("\n## {}{note}\n\n{table}", word.text(lang));
    }
    out
}

/// The overlaid timelines as SVG.
///
/// # Errors
/// When they cannot be drawn.
pub fn chart_svg(seen: &Seen, theme: &Theme, lang: Lang) -> Result<String, DrawError> {
    let curves = &seen.comparison.curves;
    let range = (0.0, curves.align.length());
    let drawn = svg(WIDTH, HEIGHT, |area| {
        overlay(area, curves, range, theme, 1.0, lang)
    })?;
    Ok(labelled(&drawn, &headline(seen, lang)))
}

/// The tree of what lives at an instant of both as SVG; `None` without two snapshots.
///
/// # Errors
/// When it cannot be drawn.
#[cfg(feature = "snapshot")]
pub fn flame_svg(
    seen: &Seen,
    direction: Direction,
    theme: &Theme,
    lang: Lang,
) -> Result<Option<String>, DrawError> {
    let Some(live) = &seen.live else {
        return Ok(None);
    };
    let tree = live.flame(direction, true);
    let boxes = signed(live, &tree, NodeId(0), theme, lang);
    let height = (f64::from(signed_rows(&boxes)) * FLAME_ROW) as u32;
    let whole = tree.nodes.first().map_or(0, |n| n.width);
    let boxes: Vec<FlameBox> = boxes.into_iter().map(|b| b.flame).collect();
    let drawn = svg(WIDTH, height, |area| {
        flame(area, &boxes, (0, whole), theme, 1.0)
    })?;
    Ok(Some(labelled(&drawn, Word::DiffTree.text(lang))))
}

fn labelled(drawn: &str, label: &str) -> String {
    let label = html(label);
    drawn.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{label}\" "),
        1,
    )
}

/// What a page shows of the comparison without scripts.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn static_part(seen: &Seen, wanted: &Wanted, lang: Lang) -> Result<String, DrawError> {
    let c = &seen.comparison;
    let mut out = format!("<section>\n<h1>{}</h1>\n", html(&headline(seen, lang)));
    for (letter, side) in [("A", &c.a), ("B", &c.b)] {
        out += &format!("<p><b>{letter}</b>: {}</p>\n", html(&name(side, lang)));
    }
    out += "<ul>\n";
    for note in notes(seen, lang) {
        out += &format!("<li>{}</li>\n", html(&note));
    }
    out += &format!(
        "</ul>\n<p><i>{}</i></p>\n",
        html(Word::StaticNote.text(lang))
    );
    out += &chart_svg(seen, &Theme::LIGHT, lang)?;
    #[cfg(feature = "snapshot")]
    if let Some(drawn) = flame_svg(seen, Direction::RootFirst, &Theme::LIGHT, lang)? {
        out += &format!(
            "<h3>{}</h3>\n<p>{}</p>\n{drawn}",
            html(Word::DiffTree.text(lang)),
            html(Word::DiffTreeNote.text(lang))
        );
    }
    for (word, rows) in tables(seen, wanted) {
        let (rows, note) = cut(word, rows, wanted.most, lang);
        let table = html_table(&rows, lang);
        out += &format!("<h3>{}{}</h3>\n{table}", html(word.text(lang)), html(&note));
    }
    out += "</section>\n";
    Ok(out)
}
