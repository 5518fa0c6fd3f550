//! What is said about two recordings.

use report::analyze::diff::align::Matched;
use report::analyze::diff::figures::Quantity;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::LiveDiff;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::groups::{By, Key, Match};
use report::analyze::diff::{Cannot, Comparison, Side, Status, Which};
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::Instant;

use super::Seen;
use crate::chart::Column;
use crate::units::{bytes, delta, percent};
use crate::visible::short;
use crate::words::{Lang, Word};

/// Reasons that a headline names.
const REASONS: usize = 3;
/// A reason is worth a word from this part of the difference on, or of the larger total.
const WORTH: u64 = 50;
/// Names are cut here.
const NAME: usize = 80;

/// The word for what became of something.
#[must_use]
pub fn status_word(status: Status) -> Word {
    match status {
        Status::New => Word::DiffNew,
        Status::Gone => Word::DiffGone,
        Status::Grown => Word::DiffGrown,
        Status::Shrunk => Word::DiffShrunk,
        Status::Same => Word::DiffSame,
    }
}

/// What a side is called: its source, its rank's number, its device.
#[must_use]
pub fn name(side: &Side, lang: Lang) -> String {
    let mut out = short(&side.rank.source.name, NAME).into_owned();
    if let Some(n) = side.rank.number() {
        out += &match lang {
            Lang::En => format!(", rank {n}"),
            Lang::Zh => format!("，进程 {n}"),
        };
    }
    #[cfg(feature = "snapshot")]
    if let Some(a) = side.snapshot.as_ref().filter(|a| !a.is_main()) {
        out += if lang == Lang::En { ", " } else { "，" };
        out += &crate::sentences::snapshot::device(a.device, lang);
        return out;
    }
    if let Some(device) = side.rank.device() {
        out += if lang == Lang::En { ", " } else { "，" };
        out += &short(&device, NAME);
    }
    out
}

/// The one sentence: which side holds more, by how much, and what that comes from.
#[must_use]
pub fn headline(seen: &Seen, lang: Lang) -> String {
    let c = &seen.comparison;
    #[cfg(feature = "snapshot")]
    if let Some(live) = &seen.live {
        let (a, b) = (live.total.a.unwrap_or(0), live.total.b.unwrap_or(0));
        let requested = match lang {
            Lang::En => "requested",
            Lang::Zh => "已请求",
        };
        let what = what(live.at, lang);
        return with(
            difference(&what, a, b, requested, lang),
            live_reasons(live, lang),
            lang,
        );
    }
    let peak = |q: Quantity| c.figures.iter().find(|f| f.quantity == q).map(|f| f.pair);
    for (quantity, word) in [
        (Quantity::PeakAllocated, Word::Allocated),
        (Quantity::HighestSample, Word::StepPeak),
        (Quantity::PeakReserved, Word::Reserved),
    ] {
        if let Some(pair) = peak(quantity)
            && let (Some(a), Some(b)) = (pair.a, pair.b)
        {
            let reasons = if quantity == Quantity::PeakAllocated {
                runtime_reasons(c, lang)
            } else {
                Vec::new()
            };
            let what = match lang {
                Lang::En => ("B's peak".to_owned(), "A's".to_owned()),
                Lang::Zh => ("B 的峰值".to_owned(), "A".to_owned()),
            };
            return with(
                difference(&what, a, b, word.text(lang), lang),
                reasons,
                lang,
            );
        }
    }
    match lang {
        Lang::En => "A and B have no figure in common.".to_owned(),
        Lang::Zh => "A 与 B 没有共同的指标。".to_owned(),
    }
}

/// What is compared: `B's peak` with `A's`.
#[cfg(feature = "snapshot")]
fn what((a, b): (Instant, Instant), lang: Lang) -> (String, String) {
    match (a == b, a, lang) {
        (true, Instant::Peak, Lang::En) => ("B's peak".to_owned(), "A's".to_owned()),
        (true, Instant::Peak, Lang::Zh) => ("B 的峰值".to_owned(), "A".to_owned()),
        (_, _, Lang::En) => (format!("B at {b}"), format!("A at {a}")),
        (_, _, Lang::Zh) => (format!("B 在 {b} 时"), format!("A 在 {a} 时")),
    }
}

fn difference((this, that): &(String, String), a: u64, b: u64, figure: &str, lang: Lang) -> String {
    let by = b.abs_diff(a);
    let share = if a > 0 {
        let share = percent(by as f64 / a as f64);
        match lang {
            Lang::En => format!(" ({share})"),
            Lang::Zh => format!("（{share}）"),
        }
    } else {
        String::new()
    };
    let (from, to, by) = (bytes(a), bytes(b), bytes(by));
    match (b.cmp(&a), lang) {
        (std::cmp::Ordering::Equal, Lang::En) => {
            format!("{this} is as high as {that}: {to} {figure}")
        }
        (std::cmp::Ordering::Equal, Lang::Zh) => format!("{this}与 {that} 相同：{figure} {to}"),
        (std::cmp::Ordering::Greater, Lang::En) => {
            format!("{this} is {by}{share} higher than {that}: {from} → {to} {figure}")
        }
        (std::cmp::Ordering::Greater, Lang::Zh) => {
            format!("{this}比 {that} 高 {by}{share}：{figure} {from} → {to}")
        }
        (std::cmp::Ordering::Less, Lang::En) => {
            format!("{this} is {by}{share} lower than {that}: {from} → {to} {figure}")
        }
        (std::cmp::Ordering::Less, Lang::Zh) => {
            format!("{this}比 {that} 低 {by}{share}：{figure} {from} → {to}")
        }
    }
}

fn with(sentence: String, reasons: Vec<String>, lang: Lang) -> String {
    match (reasons.is_empty(), lang) {
        (true, Lang::En) => sentence + ".",
        (true, Lang::Zh) => sentence + "。",
        (false, Lang::En) => format!("{sentence}; {}.", reasons.join(", ")),
        (false, Lang::Zh) => format!("{sentence}；{}。", reasons.join("，")),
    }
}

/// Whether a part is worth naming among others whose absolute differences sum to `whole`.
fn worth(part: i64, whole: u128) -> bool {
    part != 0 && u128::from(part.unsigned_abs()) * u128::from(WORTH) >= whole
}

#[cfg(feature = "snapshot")]
fn live_reasons(live: &LiveDiff, lang: Lang) -> Vec<String> {
    let rows = live.groups(By::Line);
    let whole = rows
        .iter()
        .map(|r| u128::from(r.delta().unsigned_abs()))
        .sum();
    rows.iter()
        .filter(|r| worth(r.delta(), whole))
        .take(REASONS)
        .map(|r| {
            let place = match r.key {
                Key::Unrecorded => match lang {
                    Lang::En => format!("where {}", super::tables::nowhere(live).text(lang)),
                    Lang::Zh => super::tables::nowhere(live).text(lang).to_owned(),
                },
                key => match lang {
                    Lang::En => format!("at {}", super::tables::place(live, key, lang)),
                    Lang::Zh => super::tables::place(live, key, lang),
                },
            };
            format!("{} {place}", delta(r.delta()))
        })
        .collect()
}

fn runtime_reasons(c: &Comparison, lang: Lang) -> Vec<String> {
    let parts = c.runtime.as_ref().and_then(|r| r.parts.as_ref());
    let Some(parts) = parts else {
        return Vec::new();
    };
    let whole = parts
        .iter()
        .map(|p| u128::from(p.delta().unsigned_abs()))
        .sum();
    parts
        .iter()
        .filter(|p| worth(p.delta(), whole))
        .take(REASONS)
        .map(|p| format!("{} {}", delta(p.delta()), super::tables::part(c, p, lang)))
        .collect()
}

/// What a reader must know: how the two were laid over each other, what was matched loosely, what
/// cannot be compared.
#[must_use]
pub fn notes(seen: &Seen, lang: Lang) -> Vec<String> {
    let c = &seen.comparison;
    let mut out = vec![aligned(c.curves.align.matched, lang)];
    #[cfg(feature = "snapshot")]
    if let Some(live) = &seen.live {
        out.extend(matching(live, lang));
        for (which, side) in [(Which::A, &live.diff.a), (Which::B, &live.diff.b)] {
            let coverage = side.replay.coverage;
            if coverage.whole {
                continue;
            }
            let (letter, before) = (which.letter(), bytes(coverage.requested_before));
            out.push(match lang {
                Lang::En => format!(
                    "{letter}'s history begins late: {before} were there before it, with stacks not recorded."
                ),
                Lang::Zh => format!("{letter} 的历史不完整：此前已有 {before}，未记录调用栈。"),
            });
        }
    }
    out.extend(c.cannot.iter().map(|&cannot| cannot_be(cannot, lang)));
    out
}

fn aligned(matched: Matched, lang: Lang) -> String {
    match (matched, lang) {
        (
            Matched::Steps {
                shared,
                only: (0, 0),
            },
            Lang::En,
        ) => {
            format!("The timelines are aligned by step: all {shared} are in both.")
        }
        (
            Matched::Steps {
                shared,
                only: (0, 0),
            },
            Lang::Zh,
        ) => {
            format!("时间线按步对齐：{shared} 步两侧均有。")
        }
        (
            Matched::Steps {
                shared,
                only: (a, b),
            },
            Lang::En,
        ) => format!(
            "The timelines are aligned by step: {shared} are in both, {a} only in A, {b} only in B."
        ),
        (
            Matched::Steps {
                shared,
                only: (a, b),
            },
            Lang::Zh,
        ) => {
            format!("时间线按步对齐：{shared} 步两侧均有，仅 A 有 {a} 步，仅 B 有 {b} 步。")
        }
        (Matched::Order { .. }, Lang::En) => "No step number is in both: the timelines are \
            aligned by order, the first step over the first."
            .to_owned(),
        (Matched::Order { .. }, Lang::Zh) => {
            "两侧没有相同的步号：时间线按次序对齐，首步对首步。".to_owned()
        }
        (Matched::Stretched, Lang::En) => "A side has no steps: the timelines are stretched to \
            the same length, so equal places need not be equal moments."
            .to_owned(),
        (Matched::Stretched, Lang::Zh) => {
            "有一侧没有步：两条时间线被拉伸至等长，相同位置不一定是同一时刻。".to_owned()
        }
    }
}

#[cfg(feature = "snapshot")]
fn matching(live: &LiveDiff, lang: Lang) -> Vec<String> {
    let mut out = Vec::new();
    let frames = live.diff.frames();
    let moved = frames.moved();
    if moved > 0 {
        out.push(match lang {
            Lang::En => format!(
                "{moved} frames stand on other lines in B and were matched by function, order and \
                 what they call."
            ),
            Lang::Zh => format!("{moved} 个帧在 B 中行号不同，按函数、次序和被调函数匹配。"),
        });
    }
    if let Some((a, b)) = frames.elsewhere.first() {
        let (n, a, b) = (frames.elsewhere.len(), short(a, NAME), short(b, NAME));
        out.push(match lang {
            Lang::En => format!("{n} files lie elsewhere in B and were matched by the end of their paths, such as {a} and {b}."),
            Lang::Zh => format!("{n} 个文件在 B 中路径不同，按路径末尾匹配，例如 {a} 与 {b}。"),
        });
    }
    if let Some((a, b)) = frames.renamed.first() {
        let (n, a, b) = (frames.renamed.len(), short(a, NAME), short(b, NAME));
        out.push(match (lang, n) {
            (Lang::En, 1) => format!("The function {a} is called {b} in B and was matched by what it calls and what calls it."),
            (Lang::En, _) => format!("{n} functions have other names in B and were matched by what they call and what calls them, such as {a} and {b}."),
            (Lang::Zh, _) => format!("{n} 个函数在 B 中改名，按其调用者与被调函数匹配，例如 {a} 与 {b}。"),
        });
    }
    let stacks = live.groups(By::Stack);
    let matched = |how| stacks.iter().filter(|r| r.how == how).count();
    let inner = matched(Match::Inner);
    if inner > 0 {
        out.push(match lang {
            Lang::En => format!("{inner} stacks are called from elsewhere in B and were matched by their innermost frames of the program."),
            Lang::Zh => format!("{inner} 个调用栈在 B 中由别处调用，按程序最内层的帧匹配。"),
        });
    }
    let alike = matched(Match::Alike);
    if alike > 0 {
        out.push(match lang {
            Lang::En => format!("{alike} stacks have nothing in common and were matched by category and the sizes of their allocations in order."),
            Lang::Zh => format!("{alike} 个调用栈并无共同之处，按类别及各分配大小的次序匹配。"),
        });
    }
    let folded = matched(Match::Folded);
    if folded > 0 {
        out.push(match lang {
            Lang::En => format!("{folded} stacks differ in torch's own or native frames only and were matched without these."),
            Lang::Zh => format!("{folded} 个调用栈仅 torch 或本地帧不同，匹配时忽略了这些帧。"),
        });
    }
    out
}

fn cannot_be(cannot: Cannot, lang: Lang) -> String {
    let other = |which: Which| match which {
        Which::A => Which::B.letter(),
        Which::B => Which::A.letter(),
    };
    match (cannot, lang) {
        (Cannot::Allocations(has), Lang::En) => format!(
            "Allocations by stack, line, function and category cannot be compared: {} has no memory snapshot.",
            other(has)
        ),
        (Cannot::Allocations(has), Lang::Zh) => {
            format!(
                "无法按调用栈、代码行、函数和类别对比分配：{} 没有显存快照。",
                other(has)
            )
        }
        (Cannot::Events(has), Lang::En) => format!(
            "Phases, modules and the peak's parts cannot be compared: {} has no runtime report.",
            other(has)
        ),
        (Cannot::Events(has), Lang::Zh) => {
            format!(
                "无法对比阶段、模块和峰值组成：{} 没有运行时报告。",
                other(has)
            )
        }
    }
}

/// What both sides have under a column of the drawing.
#[must_use]
pub fn readout(column: &Column, lang: Lang) -> String {
    let mut out = Vec::new();
    if let Some(step) = column.step {
        out.push(match lang {
            Lang::En => format!("step {step}"),
            Lang::Zh => format!("第 {step} 步"),
        });
    }
    for (letter, span) in [("A", column.a), ("B", column.b)] {
        out.push(match span {
            None => format!("{letter} –"),
            Some(s) if s.min == s.max => format!("{letter} {}", bytes(s.max)),
            Some(s) => format!("{letter} {}…{}", bytes(s.min), bytes(s.max)),
        });
    }
    if let (Some(a), Some(b)) = (column.a, column.b) {
        let d = report::analyze::difference(b.max, a.max);
        out.push(format!("B − A {}", delta(d)));
    }
    out.join(" · ")
}
