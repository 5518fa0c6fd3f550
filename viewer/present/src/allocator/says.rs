//! Sentences.

use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::state::{
    Fragmentation, Pin, PinningLine, State, StateBlock, Untold, pinning_lines,
};
use report::analyze::snapshot::{Analysis, Instant};
use report::model::snapshot::{BlockState, TraceId};

use super::{allocation_name, span_name};
use crate::names::{Names, category_word, certainty_word};
use crate::units::{bytes, count, exact};
use crate::words::{Lang, Word};

/// `3 segments`
#[must_use]
pub fn segments(n: u64, lang: Lang) -> String {
    match (n, lang) {
        (1, Lang::En) => "1 segment".to_owned(),
        (n, Lang::En) => format!("{} segments", count(n)),
        (n, Lang::Zh) => format!("{} 个段", count(n)),
    }
}

fn blocks(n: u64, lang: Lang) -> String {
    match (n, lang) {
        (1, Lang::En) => "1 block".to_owned(),
        (n, Lang::En) => format!("{} blocks", count(n)),
        (n, Lang::Zh) => format!("{} 个块", count(n)),
    }
}

/// Everything about a block: name, sizes, state, category, age, line.
#[must_use]
pub fn block(
    names: &Names,
    state: &State,
    span: usize,
    block: &StateBlock,
    at: Option<TraceId>,
    lang: Lang,
) -> String {
    let analysis = names.analysis();
    let range = state.spans.get(span).map(|h| h.span);
    let within = range.map_or_else(String::new, |id| span_name(analysis, id));
    let all = &analysis.replay.allocations;
    let Some((id, a)) = block.allocation.and_then(|id| Some((id, all.get(id)?))) else {
        let word = if block.state == BlockState::Inactive {
            Word::Free
        } else {
            Word::NotInHistory
        };
        let parts = [
            format!("0x{:x}", block.address),
            format!("{} {}", bytes(block.size), word.text(lang)),
            exact(block.size),
            within,
        ];
        return parts.join(" · ");
    };
    let mut parts = vec![allocation_name(analysis, id)];
    let sizes = if a.size == block.size {
        bytes(block.size)
    } else {
        let asked = match lang {
            Lang::En => "requested",
            Lang::Zh => "请求",
        };
        format!("{} ({asked} {})", bytes(block.size), exact(a.size))
    };
    parts.push(sizes);
    parts.push(
        match block.state {
            BlockState::PendingFree => Word::PendingFree,
            _ => Word::InUse,
        }
        .text(lang)
        .to_owned(),
    );
    let (category, certainty) = analysis.categories().get(id);
    let own = category_word(category).text(lang);
    parts.push(match (category, certainty) {
        (Category::Unknown, _) => Word::CategoryUnknown.text(lang).to_owned(),
        (_, sure) => format!("{own} ({})", certainty_word(sure).text(lang)),
    });
    parts.push(age(analysis, a.born, at, lang));
    parts.push(within);
    parts.push(match a.stack.and_then(|s| analysis.sites().place(s)) {
        Some(frame) => names.whole(frame),
        None => names.site_since(None, a.born, lang),
    });
    parts.join(" · ")
}

/// How long ago an allocation was made.
fn age(analysis: &Analysis, born: Option<TraceId>, at: Option<TraceId>, lang: Lang) -> String {
    let Some((born, at)) = born.zip(at) else {
        return Word::FromBefore.text(lang).to_owned();
    };
    let events = count(u64::from(at.0.saturating_sub(born.0)));
    let time = |t: TraceId| analysis.snapshot().events.time_ns.get(t.index());
    let took = time(born).zip(time(at)).and_then(|(b, a)| a.checked_sub(b));
    let took = took.map_or_else(String::new, |ns| format!(", {}", duration(ns)));
    match lang {
        Lang::En => format!("{events} events old{took}"),
        Lang::Zh => format!("已存活 {events} 个事件{took}"),
    }
}

/// `12.4 ms`, `3.20 s`
fn duration(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    if ms < 0.1 {
        format!("{} µs", ns / 1000)
    } else if ms < 1000.0 {
        format!("{ms:.1} ms")
    } else {
        format!("{:.2} s", ms / 1e3)
    }
}

/// What keeps free memory from use, in a sentence: at an OOM why the request failed; else which
/// line's blocks hold most.
#[must_use]
pub fn reason(
    names: &Names,
    f: &Fragmentation,
    pins: &[Pin],
    instant: Instant,
    lang: Lang,
) -> Vec<String> {
    let mut out = Vec::new();
    let analysis = names.analysis();
    let at = analysis.event_of(instant);
    if let Some(oom) = at.filter(|t| analysis.replay.ooms.contains(t)) {
        let events = &analysis.snapshot().events;
        let asked = events.size.get(oom.index()).copied().unwrap_or(0);
        let left = events
            .device_free
            .iter()
            .find(|(t, _)| *t == oom)
            .map(|d| d.1);
        out.push(failed(f, asked, left, lang));
    }
    let lines = pinning_lines(&analysis.replay, analysis.sites(), pins);
    match lines.first() {
        Some(line) => out.push(holding(names, line, pins.len(), lang)),
        None if !pins.is_empty() => {
            let held = pins.iter().fold(0u64, |sum, p| sum.saturating_add(p.held));
            let live = pins.iter().fold(0u64, |sum, p| sum.saturating_add(p.live));
            let n = segments(pins.len() as u64, lang);
            out.push(match lang {
                Lang::En => format!(
                    "Live blocks ({}) keep {} free in {n} from going back to the device.",
                    bytes(live),
                    bytes(held)
                ),
                Lang::Zh => format!(
                    "存活的块（{}）使 {n} 中的 {} 空闲显存无法归还设备。",
                    bytes(live),
                    bytes(held)
                ),
            });
        }
        None => out.push(Word::NothingPinned.text(lang).to_owned()),
    }
    out
}

fn failed(f: &Fragmentation, asked: u64, left: Option<u64>, lang: Lang) -> String {
    // Only where all free memory together would have served it, its pieces are the reason.
    let pieces = f.free() >= asked;
    let (asked, free, largest) = (bytes(asked), bytes(f.free()), bytes(f.largest_free));
    let left = left.map_or_else(String::new, |b| match lang {
        Lang::En => format!(" The device had {} left.", bytes(b)),
        Lang::Zh => format!("设备剩余 {}。", bytes(b)),
    });
    match lang {
        Lang::En if !pieces => format!(
            "A request of {asked} failed here: only {free} of the reserved memory is free.{left}"
        ),
        Lang::Zh if !pieces => {
            format!("此处 {asked} 的请求失败：已保留的显存中仅有 {free} 空闲。{left}")
        }
        Lang::En => format!(
            "A request of {asked} failed here: {free} of the reserved memory is free, but the largest free block has {largest}.{left}"
        ),
        Lang::Zh => {
            format!(
                "此处 {asked} 的请求失败：已保留的显存中有 {free} 空闲，但最大的空闲块只有 {largest}。{left}"
            )
        }
    }
}

fn holding(names: &Names, line: &PinningLine, pinned: usize, lang: Lang) -> String {
    let place = line.line.map_or_else(
        || names.nowhere(lang).to_owned(),
        |frame| names.place(frame),
    );
    let (n, live, held) = (
        blocks(line.blocks, lang),
        bytes(line.live),
        bytes(line.held),
    );
    let of = count(pinned as u64);
    let spans = count(line.spans);
    match lang {
        Lang::En => {
            let keep = if line.blocks == 1 { "keeps" } else { "keep" };
            format!(
                "{n} ({live}) from {place} alone {keep} {held} of free memory reserved: nothing else lives in {spans} of the {of} partly used segments."
            )
        }
        Lang::Zh => format!(
            "仅来自 {place} 的 {n}（{live}）就使 {held} 空闲显存无法归还：{of} 个部分使用的段中有 {spans} 个只有它们存活。"
        ),
    }
}

/// What of the state the file does not tell; `None` when it tells all.
#[must_use]
pub fn untold(analysis: &Analysis, u: &Untold, lang: Lang) -> Option<String> {
    // Without a history nothing is claimed of its beginning.
    if analysis.replay.events().is_empty()
        || analysis.replay.coverage.whole
        || (u.before == 0 && u.rounded == 0)
    {
        return None;
    }
    let before = (blocks(u.before, lang), bytes(u.before_bytes));
    let stackless = (blocks(u.stackless, lang), bytes(u.stackless_bytes));
    let rounded = (blocks(u.rounded, lang), bytes(u.rounded_bytes));
    Some(match lang {
        Lang::En => format!(
            "The history begins late. {} ({}) were there before it; {} ({}) have no recorded stack; the sizes of {} ({}) follow from the allocator's rounding rule, not from the file.",
            before.0, before.1, stackless.0, stackless.1, rounded.0, rounded.1
        ),
        Lang::Zh => format!(
            "历史记录开始较晚：{}（{}）在此之前已存在；{}（{}）未记录调用栈；{}（{}）的大小由分配器的取整规则推算，而非来自文件。",
            before.0, before.1, stackless.0, stackless.1, rounded.0, rounded.1
        ),
    })
}
