//! What tables are written as: CSV, JSON, Markdown, HTML, aligned text.

use std::io::{self, Write};

use crate::rows::{Cell, Rows};
use crate::visible::{html, short, visible};
use crate::words::Lang;

/// Cells of strangers' text are cut to this many characters where people read them.
pub const CELL: usize = 300;

/// Goes through the rows in `order`, or in their own.
fn each<'a>(rows: &'a dyn Rows, order: Option<&'a [u32]>) -> Box<dyn Iterator<Item = usize> + 'a> {
    match order {
        Some(order) => Box::new(order.iter().map(|&i| i as usize)),
        None => Box::new(0..rows.len()),
    }
}

/// RFC 4180, UTF-8, `\n` line ends, exact figures, unknown as an empty field. A text that a
/// spreadsheet would take for a formula gets a leading apostrophe.
#[must_use]
pub fn csv(rows: &dyn Rows, order: Option<&[u32]>, lang: Lang) -> String {
    let columns = rows.columns();
    let heads: Vec<&str> = columns.iter().map(|c| c.id).collect();
    let mut out = heads.join(",") + "\n";
    for row in each(rows, order) {
        for column in 0..columns.len() {
            if column > 0 {
                out.push(',');
            }
            let cell = rows.cell(row, column, lang);
            let raw = cell.raw().unwrap_or_default();
            let formula =
                matches!(cell, Cell::Text(_)) && raw.starts_with(['=', '+', '-', '@', '\t', '\r']);
            if formula || raw.contains([',', '"', '\n', '\r']) {
                out.push('"');
                if formula {
                    out.push('\'');
                }
                out.push_str(&raw.replace('"', "\"\""));
                out.push('"');
            } else {
                out.push_str(&raw);
            }
        }
        out.push('\n');
    }
    out
}

/// An array of objects with the columns' ids as keys, exact figures, unknown as `null`.
#[must_use]
pub fn json(rows: &dyn Rows, order: Option<&[u32]>, lang: Lang) -> String {
    let mut out = String::from("[");
    for (n, row) in each(rows, order).enumerate() {
        out.push_str(if n > 0 { ",\n {" } else { "\n {" });
        for (i, column) in rows.columns().iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            let cell = rows.cell(row, i, lang);
            let value = match (&cell, cell.raw()) {
                (_, None) => "null".to_owned(),
                (Cell::Text(t), _) => serde_json::to_string(t.as_ref()).unwrap_or_default(),
                (_, Some(number)) => number.into_owned(),
            };
            out.push_str(&format!("\"{}\": {value}", column.id));
        }
        out.push('}');
    }
    out.push_str("\n]\n");
    out
}

/// Rows written at a time by [`write_csv`] and [`write_json`].
const AT_ONCE: usize = 4096;

/// Calls `write` with the numbers of a few thousand rows after another.
fn in_parts(rows: &dyn Rows, mut write: impl FnMut(&[u32]) -> io::Result<()>) -> io::Result<()> {
    for first in (0..rows.len()).step_by(AT_ONCE) {
        let past = (first + AT_ONCE).min(rows.len());
        let part: Vec<u32> = (first as u32..past as u32).collect();
        write(&part)?;
    }
    Ok(())
}

/// As [`csv`], without the whole text in memory.
///
/// # Errors
/// What `out` reports.
pub fn write_csv(rows: &dyn Rows, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let head = csv(rows, Some(&[]), lang);
    out.write_all(head.as_bytes())?;
    in_parts(rows, |part| {
        let text = csv(rows, Some(part), lang);
        out.write_all(text.strip_prefix(&head).unwrap_or(&text).as_bytes())
    })
}

/// As [`json`], without the whole text in memory.
///
/// # Errors
/// What `out` reports.
pub fn write_json(rows: &dyn Rows, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    let mut first = true;
    in_parts(rows, |part| {
        if !std::mem::take(&mut first) {
            out.write_all(b",")?;
        }
        let text = json(rows, Some(part), lang);
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix("\n]\n"));
        out.write_all(inner.unwrap_or_default().as_bytes())
    })?;
    out.write_all(b"\n]\n")
}

/// A GitHub table with rounded figures.
#[must_use]
pub fn markdown(rows: &dyn Rows, order: Option<&[u32]>, lang: Lang) -> String {
    let columns = rows.columns();
    let mut out = String::new();
    for c in columns {
        out.push_str(&format!("| {} ", c.label.text(lang)));
    }
    out.push_str("|\n");
    for c in columns {
        out.push_str(if c.figure { "|---:" } else { "|---" });
    }
    out.push_str("|\n");
    for row in each(rows, order) {
        for i in 0..columns.len() {
            out.push_str("| ");
            out.push_str(&markdown_cell(&rows.cell(row, i, lang)));
            out.push(' ');
        }
        out.push_str("|\n");
    }
    out
}

fn markdown_cell(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Text(t) => markdown_text(t),
        other => other.shown(),
    }
}

/// Strangers' text inside Markdown: as code where it has any sign that Markdown or HTML knows.
#[must_use]
pub fn markdown_text(text: &str) -> String {
    let text = short(text, CELL).replace('|', "\\|");
    let plain = |c: char| c.is_alphanumeric() || " ._-:–…,/%".contains(c);
    if text.is_empty() || text.chars().all(plain) {
        return text;
    }
    // A code span ends at a run of backticks of its own length: use a longer one.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// An HTML table that needs no style to be read.
#[must_use]
pub fn html_table(rows: &dyn Rows, lang: Lang) -> String {
    let columns = rows.columns();
    let mut out =
        String::from("<table border=\"1\" cellpadding=\"4\" cellspacing=\"0\"><thead><tr>");
    for c in columns {
        out.push_str(&format!(
            "<th scope=\"col\">{}</th>",
            html(c.label.text(lang))
        ));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in 0..rows.len() {
        out.push_str("<tr>");
        for (i, c) in columns.iter().enumerate() {
            let cell = rows.cell(row, i, lang);
            let shown = match &cell {
                Cell::Text(t) => short(t, CELL).into_owned(),
                other => other.shown(),
            };
            let align = if c.figure { " align=\"right\"" } else { "" };
            let title = cell
                .exact()
                .map(|e| format!(" title=\"{}\"", html(&e)))
                .unwrap_or_default();
            out.push_str(&format!("<td{align}{title}>{}</td>", html(&shown)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    out
}

/// Columns aligned with spaces, for a terminal. Text columns are cut to `width` characters, the
/// front being cut off, since the end of a module's path tells more.
#[must_use]
pub fn aligned(rows: &dyn Rows, width: usize, lang: Lang) -> String {
    let columns = rows.columns();
    let mut cells: Vec<Vec<String>> = vec![
        columns
            .iter()
            .map(|c| c.label.text(lang).to_owned())
            .collect(),
    ];
    for row in 0..rows.len() {
        cells.push(
            (0..columns.len())
                .map(|i| terminal_cell(&rows.cell(row, i, lang), width))
                .collect(),
        );
    }
    let widths: Vec<usize> = (0..columns.len())
        .map(|i| {
            cells
                .iter()
                .filter_map(|r| r.get(i))
                .map(|c| columns_of(c))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for line in &cells {
        let mut text = String::from(" ");
        for ((cell, &width), column) in line.iter().zip(&widths).zip(columns) {
            let pad = " ".repeat(width.saturating_sub(columns_of(cell)));
            text.push(' ');
            if column.figure {
                text.push_str(&pad);
                text.push_str(cell);
            } else {
                text.push_str(cell);
                text.push_str(&pad);
            }
            text.push(' ');
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

fn terminal_cell(cell: &Cell<'_>, width: usize) -> String {
    let Cell::Text(text) = cell else {
        return cell.shown();
    };
    let text = visible(text);
    let n = text.chars().count();
    if n <= width {
        return text.into_owned();
    }
    let tail: String = text.chars().skip(n - width.saturating_sub(1)).collect();
    format!("…{tail}")
}

/// Terminal columns: East Asian characters take two.
fn columns_of(text: &str) -> usize {
    text.chars()
        .map(|c| match c as u32 {
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60 => 2,
            _ => 1,
        })
        .sum()
}
