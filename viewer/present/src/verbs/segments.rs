//! `memscope segments`: every reserved range with its blocks, and what pins it.

use std::fmt::Write as _;

use report::analyze::snapshot::pages::{self, Use};
use report::analyze::snapshot::state::{Pin, State, StateBlock, pins};
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::analyze::summary;
use report::model::snapshot::BlockState;
use serde_json::json;

use super::folded::state_word;
use super::table::{Table, size, text};
use super::{at_json, place_since, pool, stream, title, when};
use crate::names::{pool_name, stream_name};
use crate::rows::{Cell, Column, figure, text as column};
use crate::units::{bytes, count};
use crate::words::{Lang, Word};

/// Pins listed for a terminal.
const PINS: usize = 10;

/// The name of a block: that of what it holds.
fn holds(a: &Analysis, block: &StateBlock) -> String {
    let id = block.allocation;
    id.map_or_else(String::new, |id| a.name(Named::Allocation(id)))
}

fn state(state: BlockState, lang: Lang) -> &'static str {
    match (state, lang) {
        (BlockState::Allocated, Lang::En) => "allocated",
        (BlockState::Allocated, Lang::Zh) => "已分配",
        (BlockState::PendingFree, Lang::En) => "pending free",
        (BlockState::PendingFree, Lang::Zh) => "等待释放",
        (BlockState::Inactive, Lang::En) => "free",
        (BlockState::Inactive, Lang::Zh) => "空闲",
    }
}

/// For a terminal.
#[must_use]
pub fn segments_text(a: &Analysis, at: Instant, lang: Lang) -> String {
    let now = a.state_at(at);
    let mut out = format!("{}: {}\n", title(a, lang), when(a, at, lang));
    for here in &now.spans {
        let Some(span) = a.replay.spans.get(here.span) else {
            continue;
        };
        let used = pages::of_span(&a.replay, here);
        let _ = write!(
            out,
            "\n{} {:#x} {}",
            a.name(Named::Span(here.span)),
            span.address,
            bytes(span.size)
        );
        let sums = [
            (used.allocated(), "allocated", "已分配"),
            (used.pending, "pending free", "等待释放"),
            (used.free(), "free", "空闲"),
        ];
        for (value, en, zh) in sums.into_iter().filter(|s| s.0 > 0) {
            let _ = match lang {
                Lang::En => write!(out, ", {} {en}", bytes(value)),
                Lang::Zh => write!(out, "，{zh} {}", bytes(value)),
            };
        }
        let (stream, pool) = (
            stream_name(a, span.stream, lang),
            pool_name(a, span.pool, lang),
        );
        let _ = match lang {
            Lang::En => write!(out, "; {stream}, {pool}"),
            Lang::Zh => write!(out, "；{stream}，{pool}"),
        };
        if span.expandable {
            out += if lang == Lang::En {
                ", expandable"
            } else {
                "，可扩展"
            };
        }
        let born = span.born.map(|t| a.name(Named::Event(t)));
        let _ = match (born, lang) {
            (Some(t), Lang::En) => write!(
                out,
                "; since {t}, {}",
                place_since(a, span.stack, span.born, lang)
            ),
            (Some(t), Lang::Zh) => write!(
                out,
                "；始于 {t}，{}",
                place_since(a, span.stack, span.born, lang)
            ),
            (None, Lang::En) => write!(out, "; from before the history"),
            (None, Lang::Zh) => write!(out, "；历史开始之前已有"),
        };
        out.push('\n');
        for block in &here.blocks {
            let offset = block.address.saturating_sub(span.address);
            let _ = write!(
                out,
                "  +{offset:<#12x} {:>9}  {:<12}",
                bytes(block.size),
                state(block.state, lang)
            );
            if let Some(id) = block.allocation {
                let asked = a.replay.allocations.size(id);
                let _ = write!(out, "  {}", holds(a, block));
                if asked < block.size {
                    let _ = match lang {
                        Lang::En => write!(out, ", {} requested", bytes(asked)),
                        Lang::Zh => write!(out, "，请求 {}", bytes(asked)),
                    };
                }
                let stack = a.replay.allocations.stack(id);
                if let Some(s) = stack {
                    let _ = write!(out, "  {}", a.name(Named::Stack(s)));
                }
                let born = a.replay.allocations.get(id).and_then(|al| al.born);
                let _ = write!(out, "  {}", place_since(a, stack, born, lang));
            }
            let trimmed = out.trim_end().len();
            out.truncate(trimmed);
            out.push('\n');
        }
    }
    outside(a, &now, lang, &mut out);
    pinned(a, &now, lang, &mut out);
    out
}

fn outside(a: &Analysis, now: &State, lang: Lang, out: &mut String) {
    if now.outside.is_empty() {
        return;
    }
    let names: Vec<String> = now
        .outside
        .iter()
        .take(20)
        .map(|&id| a.name(Named::Allocation(id)))
        .collect();
    let (n, names) = (count(now.outside.len() as u64), names.join(" "));
    let _ = match lang {
        Lang::En => writeln!(out, "\nOutside every known segment: {n} blocks ({names})"),
        Lang::Zh => writeln!(out, "\n不在任何已知段内：{n} 个块（{names}）"),
    };
}

/// What keeps most free memory from going back with fewest bytes.
fn pinned(a: &Analysis, now: &State, lang: Lang, out: &mut String) {
    let pins = pins(&a.replay, now);
    if pins.is_empty() {
        return;
    }
    *out += match lang {
        Lang::En => "\nWhat pins segments: few bytes that keep much free memory from going back\n",
        Lang::Zh => "\n钉住段的块：少量占用使大量空闲无法归还\n",
    };
    for pin in pins.iter().take(PINS) {
        let first = pin.by.first().copied();
        let name = first.map_or_else(String::new, |id| a.name(Named::Allocation(id)));
        let site = first.map_or_else(String::new, |id| {
            let born = a.replay.allocations.get(id).and_then(|al| al.born);
            place_since(a, a.replay.allocations.stack(id), born, lang)
        });
        let more = pin.by.len().saturating_sub(1);
        let (span, live, held) = (
            a.name(Named::Span(pin.span)),
            bytes(pin.live),
            bytes(pin.held),
        );
        let _ = match (lang, more) {
            (Lang::En, 0) => writeln!(out, "  {span}: {live} keeps {held} free: {name} {site}"),
            (Lang::En, _) => writeln!(
                out,
                "  {span}: {live} keeps {held} free: {name} {site}, and {more} more"
            ),
            (Lang::Zh, 0) => writeln!(
                out,
                "  {span}：{live} 使 {held} 空闲无法归还：{name} {site}"
            ),
            (Lang::Zh, _) => writeln!(
                out,
                "  {span}：{live} 使 {held} 空闲无法归还：{name} {site}，另有 {more} 个"
            ),
        };
    }
    let rest = pins.len().saturating_sub(PINS);
    if rest > 0 {
        let _ = match lang {
            Lang::En => writeln!(out, "  and {rest} more segments"),
            Lang::Zh => writeln!(out, "  另有 {rest} 个段"),
        };
    }
}

const BLOCKS: &[Column] = &[
    column("segment", Word::SegmentHead),
    column("stream", Word::StreamHead),
    column("pool", Word::PoolHead),
    column("address", Word::AddressHead),
    figure("size", Word::Size),
    column("state", Word::StateHead),
    figure("requested", Word::Requested),
    column("allocation", Word::AllocationsHead),
    column("born", Word::BornHead),
    column("stack", Word::StackHead),
    column("line", Word::LineHead),
    column("function", Word::FunctionHead),
];

/// Every block as a row: for CSV.
#[must_use]
pub fn segments_table(a: &Analysis, at: Instant) -> Table {
    let mut table = Table::new("blocks", BLOCKS);
    for here in a.state_at(at).spans {
        let Some(span) = a.replay.spans.get(here.span) else {
            continue;
        };
        for block in &here.blocks {
            let allocation = block.allocation.and_then(|id| a.replay.allocations.get(id));
            let stack = allocation.and_then(|al| al.stack);
            let site = stack.and_then(|s| a.sites().place(s));
            let born = allocation.and_then(|al| al.born);
            let words = |t: Option<String>| text(t.unwrap_or_default());
            table.push(vec![
                text(a.name(Named::Span(here.span))),
                text(stream(a, span.stream)),
                words(pool(a, span.pool)),
                text(format!("{:#x}", block.address)),
                size(block.size),
                text(state_word(block.state)),
                Cell::Bytes(allocation.map(|al| al.size)),
                text(holds(a, block)),
                words(born.map(|t| a.name(Named::Event(t)))),
                words(stack.map(|s| a.name(Named::Stack(s)))),
                words(site.map(|f| super::file_line(a, f, true))),
                words(site.map(|f| super::function(a, f))),
            ]);
        }
    }
    table
}

/// For scripts: `memscope.segments`.
#[must_use]
pub fn segments_json(a: &Analysis, at: Instant) -> String {
    let now = a.state_at(at);
    let event = |t: report::model::snapshot::TraceId| a.name(Named::Event(t));
    let stack = |s: Option<report::model::snapshot::StackId>| s.map(|s| a.name(Named::Stack(s)));
    let segments: Vec<_> = now
        .spans
        .iter()
        .filter_map(|here| {
            let span = a.replay.spans.get(here.span)?;
            let used: Use = pages::of_span(&a.replay, here);
            let blocks: Vec<_> = here
                .blocks
                .iter()
                .map(|b| {
                    let al = b.allocation.and_then(|id| a.replay.allocations.get(id));
                    json!({
                        "address": b.address, "size": b.size, "state": state_word(b.state),
                        "requested": al.map(|al| al.size),
                        "allocation": b.allocation.map(|id| a.name(Named::Allocation(id))),
                        "born": al.and_then(|al| al.born).map(event),
                        "stack": stack(al.and_then(|al| al.stack)),
                        "place": al.and_then(|al| al.stack).and_then(|s| a.sites().place(s))
                            .map(|f| super::frame(a, f, true)),
                    })
                })
                .collect();
            Some(json!({
                "name": a.name(Named::Span(here.span)), "address": span.address,
                "size": span.size, "stream": stream(a, span.stream), "pool": pool(a, span.pool),
                "expandable": span.expandable, "born": span.born.map(event),
                "stack": stack(span.stack),
                "requested": used.requested, "allocated": used.allocated(),
                "pending": used.pending, "free": used.free(), "rounding": used.rounding,
                "largest_free": used.largest_free, "blocks": blocks,
            }))
        })
        .collect();
    let pins: Vec<_> = pins(&a.replay, &now)
        .iter()
        .map(|p: &Pin| {
            json!({
                "segment": a.name(Named::Span(p.span)), "live": p.live, "held": p.held,
                "by": p.by.iter().map(|&id| a.name(Named::Allocation(id))).collect::<Vec<_>>(),
            })
        })
        .collect();
    let answer = json!({
        "format": "memscope.segments", "version": 1,
        "skipped": summary::skipped(&a.rank),
        "source": a.rank.source.name, "rank": a.rank.number(),
        "device": if a.device.is_host() { None } else { Some(a.device.0) },
        "at": at_json(a, at),
        "segments": segments,
        "outside": now.outside.iter().map(|&id| a.name(Named::Allocation(id))).collect::<Vec<_>>(),
        "pins": pins,
    });
    serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n"
}
