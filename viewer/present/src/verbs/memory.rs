//! `memscope memory`: what is live at an instant, in groups.

use std::fmt::Write as _;

use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::categories::Certainty;
use report::analyze::snapshot::group::{By, Group, Key, group};
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::analyze::summary;
use report::model::snapshot::FrameId;
use serde_json::json;

use super::allocations::certainty;
use super::table::{Table, number, size, text};
use super::{
    at_json, ends, file_line, frame, function, nowhere, place, pool_shown, stream, title, when,
};
use crate::export::aligned;
use crate::names::category_word;
use crate::rows::{Cell, Column, figure, text as column};
use crate::units::{bytes, count, exact, percent};
use crate::words::{Lang, Word};

const WIDTH: usize = 70;
/// Groups whose whole stacks follow the table.
const STACKS: usize = 10;

/// What lives, and its groups.
struct Live {
    ids: Vec<AllocationId>,
    groups: Vec<Group>,
    bytes: u64,
}

impl Live {
    fn of(a: &Analysis, at: Instant, by: By) -> Self {
        let ids = a.live_at(at);
        let groups = group(&a.replay, a.sites(), a.categories(), &ids, by);
        let bytes = groups.iter().map(|g| g.bytes).fold(0, u64::saturating_add);
        Self { ids, groups, bytes }
    }
}

/// How sure a category is, in words.
fn sure(certainty: Certainty, lang: Lang) -> &'static str {
    match (certainty, lang) {
        (Certainty::Recorded, Lang::En) => "recorded: known by name",
        (Certainty::Recorded, Lang::Zh) => "已记录：按名称得知",
        (Certainty::Stated, Lang::En) => "stated by the source",
        (Certainty::Stated, Lang::Zh) => "来源明示",
        (Certainty::Likely, Lang::En) => "likely: place and lifetime both say so",
        (Certainty::Likely, Lang::Zh) => "很可能：位置与生命周期一致",
        (Certainty::Possible, Lang::En) => "possible: only place or lifetime says so",
        (Certainty::Possible, Lang::Zh) => "可能：仅位置或生命周期之一",
        (Certainty::None, Lang::En) => "nothing tells",
        (Certainty::None, Lang::Zh) => "无从判断",
    }
}

/// The name that other commands accept, of groups that have one.
fn name(a: &Analysis, key: Key) -> Option<String> {
    match key {
        Key::Stack(Some(s)) => Some(a.name(Named::Stack(s))),
        Key::Span(Some(s)) => Some(a.name(Named::Span(s))),
        _ => None,
    }
}

/// What a group has in common.
fn said(a: &Analysis, key: Key, whole: bool, lang: Lang) -> String {
    match key {
        Key::Stack(stack) => place(a, stack, lang),
        Key::Line(Some(f)) => file_line(a, f, true),
        Key::Function(Some(f)) => {
            let shown = file_line(a, f, whole);
            let file = shown
                .rsplit_once(':')
                .map_or(shown.as_str(), |(file, _)| file);
            format!("{} {file}", function(a, f))
        }
        Key::Line(None) | Key::Function(None) => nowhere(a, lang).to_owned(),
        Key::Category(c, _) => category_word(c).text(lang).to_owned(),
        Key::Stream(s) => stream(a, s),
        Key::Pool(p) => pool_shown(a, p),
        Key::Span(Some(s)) => match a.replay.spans.get(s) {
            Some(span) => format!("{:#x} {}", span.address, bytes(span.size)),
            None => "–".to_owned(),
        },
        Key::Span(None) => "–".to_owned(),
    }
}

const GROUPS: &[Column] = &[
    figure("bytes", Word::Requested),
    figure("share", Word::Share),
    figure("allocations", Word::AllocationsHead),
    column("name", Word::Name),
    column("what", Word::What),
    figure("largest_bytes", Word::LargestHead),
    column("largest", Word::WhichHead),
];

const CATEGORIES: &[Column] = &[
    figure("bytes", Word::Requested),
    figure("share", Word::Share),
    figure("allocations", Word::AllocationsHead),
    column("category", Word::CategoryHead),
    column("certainty", Word::CertaintyHead),
    figure("largest_bytes", Word::LargestHead),
    column("largest", Word::WhichHead),
];

/// The groups as a table, at most `top` of them. With `words` categories and certainties are in
/// the words of people, else in those of scripts.
#[must_use]
pub fn memory_table(
    a: &Analysis,
    at: Instant,
    by: By,
    top: Option<usize>,
    words: Option<Lang>,
) -> Table {
    table(a, &Live::of(a, at, by), by, top, words)
}

fn table(a: &Analysis, live: &Live, by: By, top: Option<usize>, words: Option<Lang>) -> Table {
    let mut table = match by {
        By::Category => Table::new("memory", CATEGORIES),
        _ => Table::new("memory", GROUPS),
    };
    for g in live.groups.iter().take(top.unwrap_or(usize::MAX)) {
        let (first, second) = match (g.key, words) {
            (Key::Category(c, s), Some(lang)) => (
                category_word(c).text(lang).to_owned(),
                sure(s, lang).to_owned(),
            ),
            (Key::Category(c, s), None) => (c.word().to_owned(), certainty(s).to_owned()),
            (key, lang) => (
                name(a, key).unwrap_or_default(),
                said(a, key, words.is_none(), lang.unwrap_or_default()),
            ),
        };
        table.push(vec![
            size(g.bytes),
            Cell::Share(Some(g.share)),
            number(g.count),
            text(first),
            text(second),
            size(a.replay.allocations.size(g.largest)),
            text(a.name(Named::Allocation(g.largest))),
        ]);
    }
    table
}

/// For a terminal.
#[must_use]
pub fn memory_text(a: &Analysis, at: Instant, by: By, top: Option<usize>, lang: Lang) -> String {
    let live = Live::of(a, at, by);
    let mut out = format!("{}: {}\n", title(a, lang), when(a, at, lang));
    let (sum, n) = (live.bytes, count(live.ids.len() as u64));
    let _ = match lang {
        Lang::En => writeln!(
            out,
            "{} ({}) requested in {n} allocations, {} groups\n",
            bytes(sum),
            exact(sum),
            count(live.groups.len() as u64)
        ),
        Lang::Zh => writeln!(
            out,
            "{n} 个分配共请求 {}（{}），分为 {} 组\n",
            bytes(sum),
            exact(sum),
            count(live.groups.len() as u64)
        ),
    };
    out += &aligned(&table(a, &live, by, top, Some(lang)), WIDTH, lang);
    let rest = top.and_then(|t| live.groups.get(t..)).unwrap_or_default();
    if !rest.is_empty() {
        let left = rest.iter().map(|g| g.bytes).fold(0, u64::saturating_add);
        let share = rest.iter().map(|g| g.share).sum::<f64>();
        let (n, b, p) = (count(rest.len() as u64), bytes(left), percent(share));
        let _ = match lang {
            Lang::En => writeln!(out, "  and {n} more groups with {b} ({p})"),
            Lang::Zh => writeln!(out, "  另有 {n} 组共 {b}（{p}）"),
        };
    }
    if by == By::Stack {
        stacks(a, &live, top, lang, &mut out);
    }
    out
}

/// The whole stacks of the largest groups, innermost frame first; runs of torch's own and native
/// frames are folded.
fn stacks(a: &Analysis, live: &Live, top: Option<usize>, lang: Lang, out: &mut String) {
    for g in live.groups.iter().take(top.unwrap_or(STACKS).min(STACKS)) {
        let Key::Stack(Some(stack)) = g.key else {
            continue;
        };
        let _ = writeln!(
            out,
            "\n{} {} ({})",
            a.name(Named::Stack(stack)),
            bytes(g.bytes),
            percent(g.share)
        );
        let (inner, left_out, outer) = ends(a.snapshot().stacks.get(stack));
        write_frames(a, inner, lang, out);
        if left_out > 0 {
            let _ = match lang {
                Lang::En => writeln!(out, "    … {left_out} frames"),
                Lang::Zh => writeln!(out, "    … {left_out} 个帧"),
            };
        }
        write_frames(a, outer, lang, out);
    }
}

/// A line for each frame, and one for those of torch that follow each other.
fn write_frames(a: &Analysis, frames: &[FrameId], lang: Lang, out: &mut String) {
    use report::analyze::snapshot::sites::Owner;
    let theirs = |f: &_| a.sites().owner(*f) >= Owner::Torch;
    let mut rest = frames;
    while let Some((first, more)) = rest.split_first() {
        let run = rest.iter().take_while(|f| theirs(f)).count();
        if run > 1 {
            let _ = match lang {
                Lang::En => writeln!(out, "    … {run} frames of torch and native code"),
                Lang::Zh => writeln!(out, "    … {run} 个 torch 与本地代码帧"),
            };
            rest = rest.get(run..).unwrap_or_default();
        } else {
            let _ = writeln!(out, "    {}", frame(a, *first, true));
            rest = more;
        }
    }
}

/// For scripts: `memscope.memory`.
#[must_use]
pub fn memory_json(a: &Analysis, at: Instant, by: By, top: Option<usize>) -> String {
    let live = Live::of(a, at, by);
    let groups: Vec<_> = live
        .groups
        .iter()
        .take(top.unwrap_or(usize::MAX))
        .map(|g| {
            let mut row = json!({
                "bytes": g.bytes, "share": g.share, "allocations": g.count,
                "name": name(a, g.key),
                "largest": {
                    "name": a.name(Named::Allocation(g.largest)),
                    "bytes": a.replay.allocations.size(g.largest),
                },
            });
            if let Some(map) = row.as_object_mut() {
                match g.key {
                    Key::Category(c, s) => {
                        map.insert("what".to_owned(), json!(c.word()));
                        map.insert("certainty".to_owned(), json!(certainty(s)));
                    }
                    key => {
                        map.insert("what".to_owned(), json!(said(a, key, true, Lang::En)));
                    }
                }
            }
            row
        })
        .collect();
    let answer = json!({
        "format": "memscope.memory", "version": 1,
        "skipped": summary::skipped(&a.rank),
        "source": a.rank.source.name, "rank": a.rank.number(),
        "device": if a.device.is_host() { None } else { Some(a.device.0) },
        "at": at_json(a, at),
        "bytes": live.bytes, "allocations": live.ids.len(), "groups_in_all": live.groups.len(),
        "groups": groups,
    });
    serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n"
}
