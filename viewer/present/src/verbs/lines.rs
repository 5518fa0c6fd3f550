//! `memscope lines`: memory by line of code, as a line profiler prints it.

use std::collections::HashMap;
use std::fmt::Write as _;

use report::analyze::snapshot::lines::{Line, at as lines_at};
use report::analyze::snapshot::{Analysis, Instant};
use report::analyze::summary;
use report::model::snapshot::FrameId;
use serde_json::json;

use super::table::{Table, number, size, text};
use super::{at_json, function, nowhere, title, when};
use crate::export::aligned;
use crate::rows::{Column, figure, text as column};
use crate::units::bytes;
use crate::visible::{short, visible};
use crate::words::{Lang, Word};

const WIDTH: usize = 96;

/// Lines of source by file, as far as files could be read: the command looks for them.
pub type Sources = HashMap<String, Vec<String>>;

/// File and number of a line.
fn location(a: &Analysis, frame: FrameId) -> (&str, u32) {
    let f = a.snapshot().frames.get(frame);
    (a.strings().get(f.file), f.line)
}

fn source<'s>(sources: &'s Sources, file: &str, line: u32) -> Option<&'s str> {
    let lines = sources.get(file)?;
    let i = usize::try_from(line).ok()?.checked_sub(1)?;
    lines.get(i).map(String::as_str)
}

const BY_FILE: &[Column] = &[
    figure("line", Word::LineHead),
    figure("current", Word::CurrentHead),
    figure("peak", Word::PeakHead),
    figure("allocated", Word::Allocated),
    figure("freed", Word::FreedHead),
    figure("count", Word::AllocationsHead),
    column("function", Word::FunctionHead),
    column("source", Word::Source),
];

/// For a terminal: files with most at their lines' peaks first, each with its lines in order.
#[must_use]
pub fn lines_text(a: &Analysis, at: Instant, sources: &Sources, lang: Lang) -> String {
    let rows = lines_at(a, at);
    let mut out = format!("{}: {}\n", title(a, lang), when(a, at, lang));
    let current = rows.iter().map(|l| l.current).fold(0, u64::saturating_add);
    let n = rows.len();
    let _ = match lang {
        Lang::En => writeln!(
            out,
            "{} requested by {n} lines; current is then, the rest up to then",
            bytes(current)
        ),
        Lang::Zh => writeln!(
            out,
            "{n} 行共请求 {}；“当前”为该时刻，其余截至该时刻",
            bytes(current)
        ),
    };
    // The lines come by peak: the first of a file decides its place.
    let mut files: Vec<(Option<&str>, Vec<&Line>)> = Vec::new();
    for line in &rows {
        let file = line.frame.map(|f| location(a, f).0);
        match files.iter_mut().find(|(f, _)| *f == file) {
            Some((_, lines)) => lines.push(line),
            None => files.push((file, vec![line])),
        }
    }
    for (file, mut lines) in files {
        lines.sort_by_key(|l| l.frame.map(|f| location(a, f).1));
        let heading = file.map_or_else(|| nowhere(a, lang).into(), visible);
        let _ = writeln!(out, "\n{heading}");
        let mut table = Table::new("lines", BY_FILE);
        for l in lines {
            let known = l.frame.map(|f| (f, location(a, f)));
            let code = known.and_then(|(_, (file, line))| source(sources, file, line));
            table.push(vec![
                crate::rows::Cell::Text(
                    known
                        .map_or_else(|| "–".to_owned(), |(_, (_, n))| n.to_string())
                        .into(),
                ),
                size(l.current),
                size(l.peak),
                size(l.allocated),
                size(l.freed),
                number(l.count),
                text(known.map_or_else(String::new, |(f, _)| function(a, f))),
                text(code.map_or_else(String::new, |c| short(c, WIDTH).into_owned())),
            ]);
        }
        out += &aligned(&table, WIDTH, lang);
    }
    out
}

const FLAT: &[Column] = &[
    column("file", Word::Source),
    column("line", Word::LineHead),
    column("function", Word::FunctionHead),
    figure("current", Word::CurrentHead),
    figure("live", Word::AllocationsHead),
    figure("peak", Word::PeakHead),
    figure("allocated", Word::Allocated),
    figure("freed", Word::FreedHead),
    figure("count", Word::AllocationsHead),
    column("source", Word::Source),
];

/// Every line as a row, highest peak first: for CSV and Markdown.
#[must_use]
pub fn lines_table(a: &Analysis, at: Instant, sources: &Sources) -> Table {
    let mut table = Table::new("lines", FLAT);
    for l in lines_at(a, at) {
        let known = l.frame.map(|f| (f, location(a, f)));
        let code = known.and_then(|(_, (file, line))| source(sources, file, line));
        table.push(vec![
            text(known.map_or("", |(_, (file, _))| file)),
            text(known.map_or_else(String::new, |(_, (_, n))| n.to_string())),
            text(known.map_or_else(String::new, |(f, _)| function(a, f))),
            size(l.current),
            number(l.live),
            size(l.peak),
            size(l.allocated),
            size(l.freed),
            number(l.count),
            text(code.unwrap_or_default().trim()),
        ]);
    }
    table
}

/// For scripts: `memscope.lines`.
#[must_use]
pub fn lines_json(a: &Analysis, at: Instant, sources: &Sources) -> String {
    let rows: Vec<_> = lines_at(a, at)
        .iter()
        .map(|l| {
            let known = l.frame.map(|f| (f, location(a, f)));
            let code = known.and_then(|(_, (file, line))| source(sources, file, line));
            json!({
                "file": known.map(|(_, (file, _))| file),
                "line": known.map(|(_, (_, n))| n),
                "function": known.map(|(f, _)| function(a, f)),
                "current": l.current, "live": l.live, "peak": l.peak,
                "allocated": l.allocated, "freed": l.freed, "count": l.count,
                "source": code.map(str::trim_end),
            })
        })
        .collect();
    let answer = json!({
        "format": "memscope.lines", "version": 1,
        "skipped": summary::skipped(&a.rank),
        "source": a.rank.source.name, "rank": a.rank.number(),
        "device": if a.device.is_host() { None } else { Some(a.device.0) },
        "at": at_json(a, at),
        "lines": rows,
    });
    serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n"
}

/// The files that lines are in: where the command may look for source.
#[must_use]
pub fn files(a: &Analysis, at: Instant) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines_at(a, at) {
        if let Some(f) = line.frame {
            let file = location(a, f).0;
            if !out.iter().any(|o| o == file) {
                out.push(file.to_owned());
            }
        }
    }
    out
}
