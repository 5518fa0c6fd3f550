//! What is said about a rank, in whole sentences.

#[cfg(feature = "snapshot")]
pub mod recording;
#[cfg(feature = "snapshot")]
pub mod series;
#[cfg(feature = "snapshot")]
pub mod snapshot;

use std::sync::Arc;

use report::analyze::growth::{Growth, Kind, growth};
use report::analyze::holders::{Holder, Holders, What, holders};
use report::analyze::peak::{Peak, peak};
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::Analysis;
use report::analyze::steps;
use report::model::Rank;
#[cfg(feature = "snapshot")]
use report::model::snapshot::Device;

use crate::units::{bytes, count, delta, percent_signed};
use crate::visible::short;
use crate::words::Lang;

/// Names in sentences are cut here; tables show them whole.
const NAME: usize = 80;
/// Kinds of skipped content that one line names.
#[cfg(feature = "snapshot")]
const SKIPPED: usize = 4;

/// What the sentences are made of; computed once a rank.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Peaks.
    pub peak: Peak,
    /// Growth findings.
    pub growth: Vec<Growth>,
    /// What holds the peak.
    pub holders: Option<Holders>,
    /// Number of steps.
    pub steps: usize,
    /// Whether the last step was recorded to its end.
    pub complete: Option<bool>,
    /// The device of the memory snapshot that is shown, played.
    #[cfg(feature = "snapshot")]
    pub snapshot: Option<Arc<Analysis>>,
}

impl Facts {
    /// Asks the analyses.
    #[must_use]
    pub fn of(rank: &Arc<Rank>) -> Self {
        Self {
            #[cfg(feature = "snapshot")]
            snapshot: Analysis::of(Arc::clone(rank)).map(Arc::new),
            ..Self::of_events(rank)
        }
    }

    /// As [`Self::of`], of the chosen device where the snapshot has it.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn on(rank: &Arc<Rank>, device: Option<Device>) -> Self {
        Self {
            snapshot: Analysis::chosen(Arc::clone(rank), device).map(Arc::new),
            ..Self::of_events(rank)
        }
    }

    /// As [`Self::on`], with pauses in what is long.
    #[cfg(feature = "snapshot")]
    pub async fn in_pieces(
        rank: &Arc<Rank>,
        device: Option<Device>,
        pauses: report::pause::Pauses<'_>,
    ) -> Self {
        let found = Analysis::in_pieces(Arc::clone(rank), device, pauses);
        Self {
            snapshot: found.await.map(Arc::new),
            ..Self::of_events(rank)
        }
    }

    fn of_events(rank: &Rank) -> Self {
        let growth = growth(rank);
        let all = steps::steps(rank);
        Self {
            peak: peak(rank),
            holders: holders(rank, &growth),
            growth,
            steps: steps::count(&all),
            complete: steps::complete(rank, &all),
            #[cfg(feature = "snapshot")]
            snapshot: None,
        }
    }

    /// The snapshot, where it tells more of the peak than the events of a runtime report: there are
    /// none, they are about another device, or its history saw at least as high a peak.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn leading(&self) -> Option<&Arc<Analysis>> {
        let snapshot = self.snapshot.as_ref()?;
        let Some(events) = self.peak.allocated else {
            return Some(snapshot);
        };
        if !snapshot.is_main() {
            return Some(snapshot);
        }
        let seen = snapshot.figures().peak_allocated;
        let higher = seen.is_some_and(|p| p.bytes >= events.bytes);
        (higher || !snapshot.replay.ooms.is_empty()).then_some(snapshot)
    }

    /// The peak that lists and titles show: allocated, else requested, bytes.
    #[must_use]
    pub fn peak_bytes(&self) -> Option<u64> {
        let events = self.peak.allocated.map(|p| p.bytes);
        #[cfg(feature = "snapshot")]
        {
            let seen = self.snapshot.as_ref().and_then(|s| {
                let f = s.figures();
                f.peak_allocated
                    .or(f.peak_requested)
                    .map(|p| p.bytes)
                    .or(Some(f.end.allocated))
            });
            if self.snapshot.as_ref().is_some_and(|s| !s.is_main()) {
                return seen;
            }
            events.max(seen)
        }
        #[cfg(not(feature = "snapshot"))]
        events
    }
}

/// `step 5, backward, lm_head.output[0]`
#[must_use]
pub fn place(rank: &Rank, event: usize, lang: Lang) -> String {
    let row = rank.events.row(event);
    let mut parts = Vec::new();
    if let Some(step) = row.step {
        parts.push(match lang {
            Lang::En => format!("step {step}"),
            Lang::Zh => format!("第 {step} 步"),
        });
    }
    for id in [row.phase, row.module] {
        let text = rank.strings.get(id);
        if !text.is_empty() {
            parts.push(short(text, NAME).into_owned());
        }
    }
    parts.join(if lang == Lang::En { ", " } else { "，" })
}

/// The one sentence: peak, place, what holds most of it, and what grows.
#[must_use]
pub fn headline(rank: &Rank, facts: &Facts, lang: Lang) -> String {
    #[cfg(feature = "snapshot")]
    if let Some(ahead) = recording::ahead(rank, lang) {
        return ahead + &answer(rank, facts, lang);
    }
    answer(rank, facts, lang)
}

fn answer(rank: &Rank, facts: &Facts, lang: Lang) -> String {
    #[cfg(feature = "snapshot")]
    if let Some(a) = facts.leading() {
        return snapshot::headline(a, lang);
    }
    #[cfg(feature = "snapshot")]
    if let Some(series) = rank.series.as_ref().filter(|_| rank.events.is_empty()) {
        return series::headline(series, lang);
    }
    #[cfg(feature = "snapshot")]
    if facts.peak.allocated.is_none() && rank.events.is_empty() && rank.snapshot.is_some() {
        return snapshot::empty(lang).to_owned();
    }
    let Some(top) = facts.peak.allocated else {
        return match (rank.events.is_empty(), lang) {
            (true, Lang::En) => "No events were recorded.".to_owned(),
            (true, Lang::Zh) => "没有记录任何事件。".to_owned(),
            (false, Lang::En) => "The events carry no memory figures.".to_owned(),
            (false, Lang::Zh) => "事件中没有显存数据。".to_owned(),
        };
    };
    if top.bytes == 0 {
        let n = count(rank.events.len() as u64);
        return match lang {
            Lang::En => format!(
                "No device memory was used: all {n} events show 0 bytes (a run on the CPU?)."
            ),
            Lang::Zh => {
                format!("未使用设备显存：全部 {n} 个事件均为 0 字节（是否在 CPU 上运行？）。")
            }
        };
    }
    let reserved = facts.peak.reserved.map(|r| bytes(r.bytes));
    let mut out = match (lang, reserved) {
        (Lang::En, Some(r)) => format!("Peak {} allocated, {r} reserved", bytes(top.bytes)),
        (Lang::En, None) => format!("Peak {} allocated", bytes(top.bytes)),
        (Lang::Zh, Some(r)) => format!("峰值：已分配 {}，已保留 {r}", bytes(top.bytes)),
        (Lang::Zh, None) => format!("峰值：已分配 {}", bytes(top.bytes)),
    };
    match (top.event, lang) {
        (Some(event), Lang::En) => out += &format!(" — {}", place(rank, event, lang)),
        (Some(event), Lang::Zh) => out += &format!(" — {}", place(rank, event, lang)),
        (None, Lang::En) => out += ", reached before the first recorded event",
        (None, Lang::Zh) => out += "，在首个记录事件之前达到",
    }
    if let Some(part) = facts.holders.as_ref().and_then(|h| h.parts.first()) {
        let (what, size) = (holder(rank, part, lang), bytes(part.bytes.unsigned_abs()));
        match lang {
            Lang::En => out += &format!("; largest part: {size} {what}"),
            Lang::Zh => out += &format!("；其中最大部分 {size}：{what}"),
        }
    }
    for g in facts.growth.iter().filter(|g| g.kind == Kind::Leak) {
        let rate = bytes(g.bytes_per_step.unsigned_abs());
        match lang {
            Lang::En => {
                out += &format!(
                    "; {rate} more stays after every step since step {}",
                    g.since_step
                )
            }
            Lang::Zh => out += &format!("；自第 {} 步起每步多留下 {rate}", g.since_step),
        }
    }
    out += if lang == Lang::En { "." } else { "。" };
    out
}

/// What the reader could not use, in one line for a terminal; `None` when it used everything.
#[cfg(feature = "snapshot")]
#[must_use]
pub fn skipped(rank: &Rank, lang: Lang) -> Option<String> {
    if rank.skipped.is_empty() {
        return None;
    }
    let name = short(&rank.source.name, NAME);
    let kinds = rank.skipped.iter().count();
    let mut each: Vec<String> = rank
        .skipped
        .iter()
        .take(SKIPPED)
        .map(|s| format!("{} ×{}", short(&s.what, NAME), count(s.count)))
        .collect();
    let rest = (kinds.saturating_sub(SKIPPED)) as u64;
    let n = count(rank.skipped.total());
    Some(match lang {
        Lang::En => {
            if rest > 0 {
                each.push(format!("{} more kinds", count(rest)));
            }
            format!("{name}: {n} not used: {}", each.join("; "))
        }
        Lang::Zh => {
            if rest > 0 {
                each.push(format!("另有 {} 种", count(rest)));
            }
            format!("{name}：{n} 项未使用：{}", each.join("；"))
        }
    })
}

/// [`headline`] with the rank's number in front, where the report has several `ranks`.
#[must_use]
pub fn headline_among(ranks: usize, rank: &Rank, facts: &Facts, lang: Lang) -> String {
    let said = headline(rank, facts, lang);
    match (rank.number().filter(|_| ranks > 1), lang) {
        (Some(n), Lang::En) => format!("Rank {n}: {}", uncapitalised(&said)),
        (Some(n), Lang::Zh) => format!("进程 {n}：{said}"),
        (None, _) => said,
    }
}

fn uncapitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

/// Device, dtype, rank of world, parallel sizes, optimizer, size of the recording; what is unknown
/// is left out.
#[must_use]
pub fn subline(rank: &Rank, facts: &Facts, lang: Lang) -> Vec<String> {
    let text = |key: &str| {
        rank.metadata
            .text(key)
            .map(|t| short(&t, NAME).into_owned())
    };
    let mut out = Vec::new();
    #[cfg(feature = "snapshot")]
    let own = facts.snapshot.as_ref().is_none_or(|a| a.is_main());
    #[cfg(not(feature = "snapshot"))]
    let own = true;
    let device = match (text("device_name"), text("device")) {
        (Some(name), Some(device)) if name != device => Some(format!("{name} ({device})")),
        (name, device) => name.or(device),
    };
    out.extend(device.filter(|_| own));
    if let Some(r) = rank.number() {
        out.push(match (rank.world_size(), lang) {
            (Some(w), Lang::En) => format!("rank {r} of {w}"),
            (Some(w), Lang::Zh) => format!("进程 {r}（共 {w}）"),
            (None, Lang::En) => format!("rank {r}"),
            (None, Lang::Zh) => format!("进程 {r}"),
        });
    }
    out.extend(text("dtype"));
    for (key, short) in [
        ("tensor_model_parallel_size", "TP"),
        ("pipeline_model_parallel_size", "PP"),
        ("data_parallel_size", "DP"),
    ] {
        out.extend(text(key).map(|size| format!("{short} {size}")));
    }
    let optimizer = text("optimizer").map(|name| match lang {
        Lang::En => format!("optimizer {name}"),
        Lang::Zh => format!("优化器 {name}"),
    });
    out.extend(optimizer);
    let distributed = rank.metadata.text("use_distributed_optimizer");
    if distributed.is_some_and(|t| t.eq_ignore_ascii_case("true")) {
        out.push(
            if lang == Lang::En {
                "distributed optimizer"
            } else {
                "分布式优化器"
            }
            .to_owned(),
        );
    }
    #[cfg(feature = "snapshot")]
    if let Some(a) = &facts.snapshot {
        let mut said = snapshot::subline(a, lang);
        if rank.device().is_some() && a.is_main() && !said.is_empty() {
            // The device is named already.
            said.remove(0);
        }
        out.append(&mut said);
        if rank.events.is_empty() {
            return out;
        }
    }
    #[cfg(feature = "snapshot")]
    if let Some(series) = rank.series.as_ref().filter(|_| rank.events.is_empty()) {
        out.push(series::subline(series, lang));
        return out;
    }
    #[cfg(feature = "snapshot")]
    if rank.events.is_empty() && rank.snapshot.is_some() {
        out.push(snapshot::none_of_each(lang).to_owned());
        return out;
    }
    let (steps, events) = (count(facts.steps as u64), count(rank.events.len() as u64));
    out.push(match lang {
        Lang::En => format!("{steps} steps, {events} events"),
        Lang::Zh => format!("{steps} 步，{events} 个事件"),
    });
    if facts.complete == Some(false) {
        out.push(
            match lang {
                Lang::En => "the last step did not reach its end",
                Lang::Zh => "最后一步未完成",
            }
            .to_owned(),
        );
    }
    out
}

/// What else is said of a recording, a sentence each.
#[must_use]
pub fn notes(rank: &Rank, lang: Lang) -> Vec<String> {
    #[cfg(feature = "snapshot")]
    return recording::notes(rank, lang);
    #[cfg(not(feature = "snapshot"))]
    {
        let _ = (rank, lang);
        Vec::new()
    }
}

/// The static estimate held against the measured peak, with sign.
#[must_use]
pub fn estimate(rank: &Rank, facts: &Facts, lang: Lang) -> Option<String> {
    let estimated = rank
        .comparisons
        .number("static_peak_memory_bytes")
        .filter(|&e| e > 0.0)?;
    let measured = facts.peak.allocated?.bytes;
    // Within f64's whole numbers for any real device, as the source's own figure is a float.
    let difference = measured as f64 - estimated;
    let ratio = percent_signed(difference / estimated);
    let (estimated, difference) = (bytes(estimated as u64), delta(difference as i64));
    Some(match lang {
        Lang::En => format!(
            "Static estimate {estimated}: the measured peak differs by {difference} ({ratio})."
        ),
        Lang::Zh => format!("静态估计 {estimated}：实测峰值相差 {difference}（{ratio}）。"),
    })
}

/// Where the peak stands against the samples, when memory between two events made it.
#[must_use]
pub fn between(rank: &Rank, facts: &Facts, lang: Lang) -> Option<String> {
    let extra = bytes(facts.peak.between_events()?);
    let sampled = bytes(facts.peak.sampled?.bytes);
    let event = facts.peak.allocated?.event?;
    let place = place(rank, event, lang);
    Some(match lang {
        Lang::En => format!(
            "Highest sample at an event: {sampled} (what runtime_report.json calls its peak). The \
             allocator's own high-water mark is {extra} higher: allocated and freed between two \
             events, before {place}."
        ),
        Lang::Zh => format!(
            "事件处的最高采样为 {sampled}（即 runtime_report.json 所称的峰值）。\
             分配器自身的历史峰值高出 {extra}：这些显存在两个事件之间分配并释放，在“{place}”之前。"
        ),
    })
}

/// A growth finding as a sentence for lists.
#[must_use]
pub fn finding(rank: &Rank, g: &Growth, lang: Lang) -> String {
    let n = g.since_step;
    match (g.kind, lang) {
        (Kind::Leak, Lang::En) => format!(
            "{} a step since step {n}: {} stay behind in all. Memory that each step adds and nothing frees.",
            delta(g.bytes_per_step),
            bytes(g.bytes.unsigned_abs())
        ),
        (Kind::Leak, Lang::Zh) => format!(
            "自第 {n} 步起每步 {}，共留下 {}：每步新增且未被释放的显存。",
            delta(g.bytes_per_step),
            bytes(g.bytes.unsigned_abs())
        ),
        (Kind::Baseline, _) => baseline(rank, g, lang),
        (Kind::Reserved, Lang::En) => format!(
            "reserved {} in step {n}, while the high-water mark of allocated rose by {} only: \
             the free memory that was reserved already did not fit (fragmentation).",
            delta(g.bytes),
            bytes(g.allocated_rise.unwrap_or(0).unsigned_abs())
        ),
        (Kind::Reserved, Lang::Zh) => format!(
            "第 {n} 步已保留 {}，而已分配的历史峰值只上升 {}：已保留的空闲显存无法满足请求（碎片）。",
            delta(g.bytes),
            bytes(g.allocated_rise.unwrap_or(0).unsigned_abs())
        ),
        (Kind::Normal, Lang::En) => format!(
            "Since step {n} memory comes back to {} after every step.",
            g.level.map_or_else(|| "?".to_owned(), bytes)
        ),
        (Kind::Normal, Lang::Zh) => format!(
            "自第 {n} 步起，每步结束后显存都回到 {}。",
            g.level.map_or_else(|| "?".to_owned(), bytes)
        ),
    }
}

/// The boundary's phase without its `_end`: what went on before it.
fn during(rank: &Rank, event: usize) -> String {
    let phase = rank.strings.get(rank.events.row(event).phase);
    short(phase.strip_suffix("_end").unwrap_or(phase), NAME).into_owned()
}

fn baseline(rank: &Rank, g: &Growth, lang: Lang) -> String {
    let n = g.since_step;
    let rise = delta(g.bytes);
    let Some((event, part)) = g.during else {
        return match lang {
            Lang::En => format!("{rise} in step {n}, stays."),
            Lang::Zh => format!("第 {n} 步 {rise}，此后保持。"),
        };
    };
    let name = during(rank, event);
    let optimizer = name.starts_with("optimizer");
    let state = match (optimizer, lang) {
        (false, _) => "",
        (true, Lang::En) => ": optimizer state",
        (true, Lang::Zh) => "：优化器状态",
    };
    let most = part >= g.bytes - g.bytes / 20;
    match (most, lang) {
        (true, Lang::En) => format!("{rise} after {name} of step {n}, stays{state}."),
        (true, Lang::Zh) => format!("第 {n} 步 {name} 之后 {rise}，此后保持{state}。"),
        (false, Lang::En) => format!(
            "{rise} in step {n}, stays; {} of it came in {name}{state}.",
            bytes(part.unsigned_abs())
        ),
        (false, Lang::Zh) => format!(
            "第 {n} 步 {rise}，此后保持；其中 {} 来自 {name}{state}。",
            bytes(part.unsigned_abs())
        ),
    }
}

/// A growth finding as a label on a chart: a few words.
#[must_use]
pub fn mark(rank: &Rank, g: &Growth, lang: Lang) -> String {
    let n = g.since_step;
    match (g.kind, lang) {
        (Kind::Leak, Lang::En) => format!("{} a step since step {n}", delta(g.bytes_per_step)),
        (Kind::Leak, Lang::Zh) => format!("自第 {n} 步起每步 {}", delta(g.bytes_per_step)),
        (Kind::Reserved, Lang::En) => format!(
            "reserved {} (allocated {})",
            delta(g.bytes),
            delta(g.allocated_rise.unwrap_or(0))
        ),
        (Kind::Reserved, Lang::Zh) => format!(
            "已保留 {}（已分配 {}）",
            delta(g.bytes),
            delta(g.allocated_rise.unwrap_or(0))
        ),
        (Kind::Normal, Lang::En) => {
            format!("back to {}", g.level.map_or_else(|| "?".to_owned(), bytes))
        }
        (Kind::Normal, Lang::Zh) => {
            format!("回到 {}", g.level.map_or_else(|| "?".to_owned(), bytes))
        }
        (Kind::Baseline, _) => {
            let optimizer = g
                .during
                .is_some_and(|(e, _)| during(rank, e).starts_with("optimizer"));
            match (optimizer, lang) {
                (true, Lang::En) => format!("{} stays: optimizer state", delta(g.bytes)),
                (true, Lang::Zh) => format!("{} 保持：优化器状态", delta(g.bytes)),
                (false, Lang::En) => format!("{} stays", delta(g.bytes)),
                (false, Lang::Zh) => format!("{} 保持", delta(g.bytes)),
            }
        }
    }
}

/// A part of the peak, as a phrase.
#[must_use]
pub fn holder(rank: &Rank, part: &Holder, lang: Lang) -> String {
    let event = |e: usize| {
        let row = rank.events.row(e);
        let (module, phase) = (rank.strings.get(row.module), rank.strings.get(row.phase));
        format!("{} {}", short(module, NAME), short(phase, NAME))
    };
    match (&part.what, lang) {
        (What::Before, Lang::En) => {
            "there before the first event (weights and what else was loaded)".to_owned()
        }
        (What::Before, Lang::Zh) => "首个事件之前已存在（权重等）".to_owned(),
        (What::Optimizer(s), Lang::En) => format!("optimizer state, since step {s}"),
        (What::Optimizer(s), Lang::Zh) => format!("优化器状态，自第 {s} 步"),
        (What::Baseline(s), Lang::En) => format!("kept since step {s}"),
        (What::Baseline(s), Lang::Zh) => format!("自第 {s} 步保持"),
        (What::Leak(s), Lang::En) => format!("left behind step by step since step {s}"),
        (What::Leak(s), Lang::Zh) => format!("自第 {s} 步起逐步遗留"),
        (What::Kept, Lang::En) => "kept from earlier steps otherwise".to_owned(),
        (What::Kept, Lang::Zh) => "其他来自先前步骤".to_owned(),
        (What::Module { path, modules }, _) => {
            let path = if path.is_empty() {
                "(root)".into()
            } else {
                short(path, NAME)
            };
            match (*modules, lang) {
                (0 | 1, Lang::En) => format!("added by {path} in this step"),
                (0 | 1, Lang::Zh) => format!("本步由 {path} 增加"),
                (n, Lang::En) => format!("added by {path} ({n} modules) in this step"),
                (n, Lang::Zh) => format!("本步由 {path}（{n} 个模块）增加"),
            }
        }
        (What::Inside(module), Lang::En) => format!("temporary inside {}", short(module, NAME)),
        (What::Inside(module), Lang::Zh) => format!("临时显存，在 {} 内部", short(module, NAME)),
        (What::Between(a, b), Lang::En) => {
            format!("temporary between {} and {}", event(*a), event(*b))
        }
        (What::Between(a, b), Lang::Zh) => {
            format!("临时显存，在 {} 之后、{} 之前", event(*a), event(*b))
        }
    }
}

/// The title of a page about some ranks.
#[must_use]
pub fn title<'a>(ranks: impl IntoIterator<Item = &'a Facts>, lang: Lang) -> String {
    let peak = ranks.into_iter().filter_map(Facts::peak_bytes).max();
    match (peak, lang) {
        (Some(p), Lang::En) => format!("MemScope: peak {}", bytes(p)),
        (Some(p), Lang::Zh) => format!("MemScope：峰值 {}", bytes(p)),
        (None, _) => "MemScope".to_owned(),
    }
}
