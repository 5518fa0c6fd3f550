//! What the command answers about memory snapshots: text for a terminal, tables, and what other
//! programs read. One file a verb.
//!
//! Whatever is printed as a name (`t412`, `b7f…_2`, `k12`, `g3`) is what [`Analysis::named`] and
//! [`Analysis::instant`] accept.

mod allocations;
mod curve;
mod folded;
mod lines;
mod memory;
mod perfetto;
mod segments;
mod speedscope;
mod stacks;
mod stats;
mod table;
mod trace;

use std::borrow::Cow;

use report::analyze::snapshot::steps::step_of;
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::model::snapshot::{FrameId, PoolId, PoolIndex, StackId, StreamIndex, TraceId};

use serde_json::json;

use crate::names;
use crate::units::bytes;
use crate::visible::{short, visible};
use crate::words::Lang;

pub use allocations::AllocationRows;
pub use curve::CurveRows;
pub use folded::{Folded, blocks, live, made, svg};
pub use lines::{Sources, files, lines_json, lines_table, lines_text};
pub use memory::{memory_json, memory_table, memory_text};
pub use perfetto::perfetto;
pub use segments::{segments_json, segments_table, segments_text};
pub use speedscope::speedscope;
pub use stacks::StackRows;
pub use stats::{stats_json, stats_text};
pub use table::Table;
pub use trace::{EntryRows, entries_head, trace_text};

/// Frames of a very long stack that are shown at each of its ends.
const SHOWN: usize = 256;

/// Text of strangers in lines for a terminal is cut to this many characters.
const TEXT: usize = 200;

/// `train.py:12`: the last two parts of the path and the line. The whole path where `whole`.
fn file_line(a: &Analysis, frame: FrameId, whole: bool) -> String {
    let f = a.snapshot().frames.get(frame);
    let file = a.strings().get(f.file);
    let shown = if whole { file } else { tail(file) };
    if f.line == 0 {
        visible(shown).into_owned()
    } else {
        format!("{}:{}", visible(shown), f.line)
    }
}

/// The last two parts of a path.
fn tail(path: &str) -> &str {
    let cut = path.rmatch_indices(['/', '\\']).nth(1);
    cut.and_then(|(i, _)| path.get(i + 1..)).unwrap_or(path)
}

/// The name of a frame's function.
fn function(a: &Analysis, frame: FrameId) -> String {
    let f = a.snapshot().frames.get(frame);
    short(a.strings().get(f.name), TEXT).into_owned()
}

/// `forward train.py:12`; with the whole path, and the parameters of C++, where `whole`.
fn frame(a: &Analysis, id: FrameId, whole: bool) -> String {
    let name = function(a, id);
    let name = match whole {
        true => Cow::Borrowed(name.as_str()),
        false => names::function(&name),
    };
    let line = file_line(a, id, whole);
    if name.is_empty() {
        line
    } else {
        format!("{name} {line}")
    }
}

/// The frame of a stack that a reader looks for; what is not recorded says so.
fn place(a: &Analysis, stack: Option<StackId>, lang: Lang) -> String {
    match stack {
        None => nowhere(a, lang).to_owned(),
        Some(s) => match a.sites().place(s) {
            Some(f) => frame(a, f, false),
            None => nowhere(a, lang).to_owned(),
        },
    }
}

/// As [`place`], of what entry `born` made.
fn place_since(a: &Analysis, stack: Option<StackId>, born: Option<TraceId>, lang: Lang) -> String {
    match stack.and_then(|s| a.sites().place(s)) {
        Some(f) => frame(a, f, false),
        None => missing_since(a, born, lang).to_owned(),
    }
}

/// What stands where the stack of what entry `born` made is missing.
fn missing_since(a: &Analysis, born: Option<TraceId>, lang: Lang) -> &'static str {
    names::missing_word(a.missing_since(born)).text(lang)
}

/// What stands where the stacks of a group are missing.
fn nowhere(a: &Analysis, lang: Lang) -> &'static str {
    names::missing_word(a.missing()).text(lang)
}

/// A whole stack, root first, frames joined by `;`, as folded stacks have it.
fn whole_stack(a: &Analysis, stack: StackId) -> Vec<String> {
    path(a, stack, true)
}

/// As [`whole_stack`], with whole paths of files or their ends.
fn path(a: &Analysis, stack: StackId, whole: bool) -> Vec<String> {
    let frames = a.snapshot().stacks.get(stack);
    let shown = |&f: &FrameId| {
        // The separators of the format.
        frame(a, f, whole).replace(';', ":")
    };
    let (inner, left_out, outer) = ends(frames);
    let mut out: Vec<String> = outer.iter().rev().map(shown).collect();
    if left_out > 0 {
        out.push(format!("… {left_out} frames"));
    }
    out.extend(inner.iter().rev().map(shown));
    out
}

/// The innermost frames of a stack, how many are left out of a very long one, and the outermost:
/// deep recursion would make a line of megabytes of each allocation.
fn ends(frames: &[FrameId]) -> (&[FrameId], usize, &[FrameId]) {
    match frames.len().checked_sub(2 * SHOWN) {
        Some(left_out @ 1..) => {
            let (inner, rest) = frames.split_at(SHOWN);
            (inner, left_out, rest.get(left_out..).unwrap_or_default())
        }
        _ => (frames, 0, &[]),
    }
}

/// A stream as the source names it: the handle, 0 for the default one.
fn stream(a: &Analysis, index: StreamIndex) -> String {
    let handle = a.snapshot().streams.get(usize::from(index.0));
    handle.copied().unwrap_or(0).to_string()
}

/// A pool: `default`, or both halves of its id; `None` when the source does not say.
fn pool(a: &Analysis, index: Option<PoolIndex>) -> Option<String> {
    let id = a.snapshot().pools.get(index?.0 as usize)?;
    Some(if *id == PoolId::DEFAULT {
        "default".to_owned()
    } else {
        format!("({}, {})", id.0, id.1)
    })
}

/// A pool for people.
fn pool_shown(a: &Analysis, index: Option<PoolIndex>) -> String {
    pool(a, index).unwrap_or_else(|| "–".to_owned())
}

/// The file that is answered about, its device, and what else tells it from others.
fn title(a: &Analysis, lang: Lang) -> String {
    let mut parts = vec![visible(&a.rank.source.name).into_owned()];
    if let Some(n) = a.rank.number() {
        parts.push(match lang {
            Lang::En => format!("rank {n}"),
            Lang::Zh => format!("进程 {n}"),
        });
    }
    parts.push(crate::sentences::snapshot::device(a.device, lang));
    parts.join(", ")
}

/// `t412, step 2, backward`
fn event_place(a: &Analysis, at: TraceId, lang: Lang) -> String {
    let mut parts = vec![a.name(Named::Event(at))];
    if let Some(step) = step_of(a.steps(), at) {
        parts.push(match lang {
            Lang::En => format!("step {}", step.number),
            Lang::Zh => format!("第 {} 步", step.number),
        });
    }
    let around = a.ranges().iter().filter(|r| r.start <= at && at < r.end);
    if let Some(range) = around.max_by_key(|r| r.depth) {
        parts.push(short(a.strings().get(range.name), TEXT).into_owned());
    }
    parts.join(if lang == Lang::En { ", " } else { "，" })
}

/// The name of an instant and where it is: `at the peak (t412, step 2, backward)`.
fn when(a: &Analysis, instant: Instant, lang: Lang) -> String {
    let named = match (lang, instant) {
        (Lang::En, Instant::Start) => "before the first entry".to_owned(),
        (Lang::Zh, Instant::Start) => "首个条目之前".to_owned(),
        (Lang::En, Instant::Peak) => "at the peak of requested bytes".to_owned(),
        (Lang::Zh, Instant::Peak) => "请求字节的峰值处".to_owned(),
        (Lang::En, Instant::End) => "at the end".to_owned(),
        (Lang::Zh, Instant::End) => "结束时".to_owned(),
        (Lang::En, Instant::Oom(n)) => {
            format!(
                "at out-of-memory {}{}",
                u64::from(n) + 1,
                asked(a, instant, lang)
            )
        }
        (Lang::Zh, Instant::Oom(n)) => {
            format!(
                "第 {} 次显存不足时{}",
                u64::from(n) + 1,
                asked(a, instant, lang)
            )
        }
        (Lang::En, Instant::Event(t)) => return format!("after {}", event_place(a, t, lang)),
        (Lang::Zh, Instant::Event(t)) => return format!("{} 之后", event_place(a, t, lang)),
    };
    match (a.event_of(instant), lang) {
        (Some(at), Lang::En) => format!("{named} ({})", event_place(a, at, lang)),
        (Some(at), Lang::Zh) => format!("{named}（{}）", event_place(a, at, lang)),
        (None, _) => named,
    }
}

/// The request that an out-of-memory refused, bytes, and the free bytes of the device, as far as
/// the entry says them.
fn refused(a: &Analysis, at: TraceId) -> (u64, Option<u64>) {
    let events = &a.snapshot().events;
    let free = events.device_free.iter().find(|r| r.0 == at).map(|r| r.1);
    (events.row(at.index()).size, free)
}

/// What was asked for when memory ran out, as a part of a sentence.
fn asked(a: &Analysis, instant: Instant, lang: Lang) -> String {
    let Some((size, free)) = a.event_of(instant).map(|at| refused(a, at)) else {
        return String::new();
    };
    let (size, free) = (bytes(size), free.map_or_else(|| "–".to_owned(), bytes));
    match lang {
        Lang::En => format!(", {size} asked for, {free} free on the device"),
        Lang::Zh => format!("（请求 {size}，设备空闲 {free}）"),
    }
}

/// An instant for scripts: its name, the entry after which it is, and what an out-of-memory there
/// refused.
fn at_json(a: &Analysis, instant: Instant) -> serde_json::Value {
    let at = a.event_of(instant);
    let oom = at.filter(|t| a.replay.ooms.contains(t)).map(|t| {
        let (size, free) = refused(a, t);
        json!({ "requested": size, "device_free": free })
    });
    json!({
        "instant": instant.to_string(),
        "entry": at.map(|t| a.name(Named::Event(t))),
        "oom": oom,
    })
}

/// Nanoseconds between two entries, where the source has times.
fn between(a: &Analysis, from: TraceId, to: TraceId) -> Option<u64> {
    let time = |t: TraceId| a.snapshot().events.time_ns.get(t.index());
    time(to)?.checked_sub(time(from)?)
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn paths_are_cut_to_their_last_two_parts() {
        for (path, shown) in [
            ("/home/u/train/record.py", "train/record.py"),
            ("D:\\dev\\x\\a.py", "x\\a.py"),
            ("/a.py", "/a.py"),
            ("a.py", "a.py"),
            ("", ""),
        ] {
            assert_eq!(tail(path), shown);
        }
    }
}
