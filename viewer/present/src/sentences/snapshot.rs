//! What is said about a memory snapshot.

use report::analyze::snapshot::figures::Place;
use report::analyze::snapshot::findings::FindingKind;
use report::analyze::snapshot::group::{By, Key, group};
use report::analyze::snapshot::{Analysis, Instant, state};
use report::model::snapshot::{Device, FrameId, TraceId};

use crate::units::{bytes, count, percent};
use crate::visible::short;
use crate::words::Lang;

use super::NAME;

/// Parts of a path that a sentence shows: the file and the folder it lies in.
const PATH_PARTS: usize = 2;

/// The last parts of a path: `model/block.py`.
#[must_use]
pub fn file(path: &str) -> &str {
    let mut cut = path.len();
    for _ in 0..PATH_PARTS {
        match path.get(..cut).and_then(|p| p.rfind(['/', '\\'])) {
            Some(at) => cut = at,
            None => return path,
        }
    }
    path.get(cut + 1..).unwrap_or(path)
}

/// What is said of a snapshot without anything in it.
#[must_use]
pub fn empty(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "The memory snapshot is empty: no device has segments or a history (was the allocator \
             used, and recording on, before it was taken?)."
        }
        Lang::Zh => {
            "显存快照为空：没有任何设备有段或历史（拍摄前是否使用过分配器并已开启记录？）。"
        }
    }
}

/// The size of an empty snapshot.
#[must_use]
pub fn none_of_each(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "0 segments, 0 entries",
        Lang::Zh => "0 个段，0 个条目",
    }
}

/// A line of code: `model/block.py:31 (forward)`; the function alone where there is no file.
#[must_use]
pub fn line(a: &Analysis, frame: FrameId) -> String {
    let f = a.snapshot().frames.get(frame);
    let (name, path) = (a.strings().get(f.name), a.strings().get(f.file));
    let name = short(name, NAME);
    if path.is_empty() || path == "??" {
        return name.into_owned();
    }
    format!("{}:{} ({name})", short(file(path), NAME), f.line)
}

/// The line of the user's code that an entry of the trace came from.
fn line_of(a: &Analysis, event: TraceId) -> Option<String> {
    let stack = a.snapshot().events.stack(event.index())?;
    a.sites().line(stack).map(|frame| line(a, frame))
}

/// `step 2, Optimizer.step#AdamW.step`; empty where the source tells neither.
#[must_use]
pub fn place(a: &Analysis, place: &Place, lang: Lang) -> String {
    let mut parts = Vec::new();
    if let Some(step) = place.step {
        parts.push(match lang {
            Lang::En => format!("step {step}"),
            Lang::Zh => format!("第 {step} 步"),
        });
    }
    if let Some(phase) = place.phase {
        let name = a.strings().get(phase);
        let is_step = name.starts_with("ProfilerStep#");
        if !name.is_empty() && !is_step {
            parts.push(short(name, NAME).into_owned());
        }
    }
    parts.join(if lang == Lang::En { ", " } else { "，" })
}

/// The largest holder at an instant by line, and its share of what lives.
fn largest(a: &Analysis, at: Instant, lang: Lang) -> Option<String> {
    let ids = a.live_at(at);
    let groups = group(&a.replay, a.sites(), a.categories(), &ids, By::Line);
    let total: u64 = groups.iter().fold(0, |n, g| n.saturating_add(g.bytes));
    // A named line says more than "not recorded", but only where it holds a good part.
    let named = groups.iter().find(|g| g.key != Key::Line(None));
    let first = groups.first().filter(|g| g.bytes > 0)?;
    let g = named
        .filter(|n| n.bytes.saturating_mul(2) >= first.bytes)
        .unwrap_or(first);
    let share = percent(g.bytes as f64 / total.max(1) as f64);
    let size = bytes(g.bytes);
    Some(match (g.key, lang) {
        (Key::Line(Some(frame)), Lang::En) => {
            format!("largest holder: {} from {} ({share})", size, line(a, frame))
        }
        (Key::Line(Some(frame)), Lang::Zh) => {
            format!("最大占用：{} 来自 {}（{share}）", size, line(a, frame))
        }
        (_, Lang::En) => format!("{size} ({share}) have no recorded stack"),
        (_, Lang::Zh) => format!("{size}（{share}）没有记录调用栈"),
    })
}

/// The one sentence: the OOM where there is one, else the peak; what holds most; what grows.
#[must_use]
pub fn headline(a: &Analysis, lang: Lang) -> String {
    let mut parts = if let Some(&oom) = a.replay.ooms.first() {
        vec![out_of_memory(a, oom, lang)]
    } else {
        vec![peak(a, lang)]
    };
    parts.extend(largest(a, a.first_instant(), lang));
    parts.extend(a.figures().growth.first().map(|g| {
        let rate = bytes(g.survivors.bytes_per_step);
        let from = g.line.map(|f| line(a, f));
        match (lang, from) {
            (Lang::En, Some(from)) => format!("{rate} more stays after every step, from {from}"),
            (Lang::En, None) => format!("{rate} more stays after every step"),
            (Lang::Zh, Some(from)) => format!("每步多留下 {rate}，来自 {from}"),
            (Lang::Zh, None) => format!("每步多留下 {rate}"),
        }
    }));
    match lang {
        Lang::En => parts.join("; ") + ".",
        Lang::Zh => parts.join("；") + "。",
    }
}

fn out_of_memory(a: &Analysis, oom: TraceId, lang: Lang) -> String {
    let row = a.snapshot().events.row(oom.index());
    let free = a
        .snapshot()
        .events
        .device_free
        .iter()
        .find(|(t, _)| *t == oom)
        .map(|(_, b)| *b);
    let index = (oom.0 - a.replay.first) as usize;
    let after = |c: &report::analyze::snapshot::replay::Curve| {
        bytes(c.after.get(index).copied().unwrap_or(c.start))
    };
    let (allocated, reserved) = (after(&a.replay.allocated), after(&a.replay.reserved));
    let at = state::fragmentation(&a.replay, &state::after(&a.replay, a.live(), oom));
    let unused = at.free_in_used.saturating_add(at.free_in_unused);
    let size = bytes(row.size);
    let rest = match (lang, unused) {
        (Lang::En, 0) => "all of it in use".to_owned(),
        (Lang::Zh, 0) => "全部在用".to_owned(),
        (Lang::En, n) => format!(
            "{} of it free, in pieces of at most {}",
            bytes(n),
            bytes(at.largest_free)
        ),
        (Lang::Zh, n) => format!("空闲 {}，最大空闲块 {}", bytes(n), bytes(at.largest_free)),
    };
    let asked = line_of(a, oom);
    match lang {
        Lang::En => {
            let by = asked.map_or_else(String::new, |l| format!(" by {l}"));
            let free = free.map_or_else(String::new, |f| {
                format!(", {} of the device were free", bytes(f))
            });
            format!(
                "Out of memory: {size} asked for{by}{free}; {allocated} allocated of {reserved} \
                 reserved, {rest}"
            )
        }
        Lang::Zh => {
            let by = asked.map_or_else(String::new, |l| format!("（{l}）"));
            let free = free.map_or_else(String::new, |f| format!("，当时设备空闲 {}", bytes(f)));
            format!(
                "显存不足：请求 {size}{by}{free}；已保留 {reserved}，其中已分配 {allocated}，{rest}"
            )
        }
    }
}

fn peak(a: &Analysis, lang: Lang) -> String {
    let f = a.figures();
    if let Some(top) = f.peak_allocated.filter(|_| f.peak_requested.is_none()) {
        return peak_allocated(a, &top, lang);
    }
    let Some(top) = f.peak_requested else {
        let (allocated, reserved) = (bytes(f.end.allocated), bytes(f.end.reserved));
        return match lang {
            Lang::En => format!(
                "{allocated} allocated of {reserved} reserved when the snapshot was taken; no history was recorded"
            ),
            Lang::Zh => format!("快照时已分配 {allocated}，已保留 {reserved}；没有记录历史"),
        };
    };
    let requested = bytes(top.bytes);
    let mut figures = Vec::new();
    if let Some(p) = f.peak_allocated {
        figures.push(match lang {
            Lang::En => format!("{} allocated", bytes(p.bytes)),
            Lang::Zh => format!("已分配 {}", bytes(p.bytes)),
        });
    }
    if let Some(p) = f.peak_reserved {
        figures.push(match lang {
            Lang::En => format!("{} reserved", bytes(p.bytes)),
            Lang::Zh => format!("已保留 {}", bytes(p.bytes)),
        });
    }
    let pending = top.event.map_or(0, |at| {
        let row = at.0.saturating_sub(a.replay.first) as usize;
        let allocated = a.replay.allocated.after.get(row).copied();
        allocated.map_or(0, |b| top.bytes.saturating_sub(b))
    });
    if f.peak_allocated.is_some() && pending > 0 {
        let size = bytes(pending);
        figures.push(match lang {
            Lang::En => format!("{size} freed but waiting for another stream"),
            Lang::Zh => format!("{size} 已释放但等待其他流"),
        });
    }
    let figures = figures.join(if lang == Lang::En { ", " } else { "，" });
    let place = place(a, &top, lang);
    match (lang, place.is_empty(), top.event) {
        (Lang::En, _, None) => {
            format!("Peak {requested} requested ({figures}), reached before the history begins")
        }
        (Lang::En, true, _) => format!("Peak {requested} requested ({figures})"),
        (Lang::En, false, _) => format!("Peak {requested} requested ({figures}) — {place}"),
        (Lang::Zh, _, None) => format!("峰值：请求 {requested}（{figures}），在历史开始之前达到"),
        (Lang::Zh, true, _) => format!("峰值：请求 {requested}（{figures}）"),
        (Lang::Zh, false, _) => format!("峰值：请求 {requested}（{figures}）— {place}"),
    }
}

/// Of a profiler's trace, which does not know what was requested.
fn peak_allocated(a: &Analysis, top: &Place, lang: Lang) -> String {
    let allocated = bytes(top.bytes);
    let reserved = a.figures().peak_reserved.map(|p| bytes(p.bytes));
    let figures = match (lang, reserved) {
        (Lang::En, Some(r)) => format!("Peak {allocated} allocated ({r} reserved)"),
        (Lang::En, None) => format!("Peak {allocated} allocated"),
        (Lang::Zh, Some(r)) => format!("峰值：已分配 {allocated}（已保留 {r}）"),
        (Lang::Zh, None) => format!("峰值：已分配 {allocated}"),
    };
    let place = place(a, top, lang);
    match (lang, place.is_empty(), top.event) {
        (Lang::En, _, None) => format!("{figures}, reached before the trace begins"),
        (Lang::Zh, _, None) => format!("{figures}，在跟踪开始之前达到"),
        (_, true, _) => figures,
        (_, false, _) => format!("{figures} — {place}"),
    }
}

/// The device, the size of the history, what it does not know.
#[must_use]
pub fn subline(a: &Analysis, lang: Lang) -> Vec<String> {
    let mut out = Vec::new();
    out.push(device(a.device, lang));
    let n = a.replay.events().len();
    if n > 0 {
        let events = count(n as u64);
        let seconds = duration(a);
        out.push(match (lang, seconds) {
            (Lang::En, Some(s)) => format!("{events} allocator events in {s}"),
            (Lang::En, None) => format!("{events} allocator events"),
            (Lang::Zh, Some(s)) => format!("{s} 内 {events} 个分配器事件"),
            (Lang::Zh, None) => format!("{events} 个分配器事件"),
        });
    }
    let steps = a.steps().len();
    if steps > 0 {
        let steps = count(steps as u64);
        out.push(match lang {
            Lang::En => format!("{steps} steps"),
            Lang::Zh => format!("{steps} 步"),
        });
    }
    let segments = a
        .snapshot()
        .segments
        .iter()
        .filter(|s| s.device == a.device);
    let (mut all, mut expandable) = (0u64, false);
    for s in segments {
        all += 1;
        expandable |= s.expandable == Some(true);
    }
    if all > 0 {
        out.push(match (lang, expandable) {
            (Lang::En, true) => format!(
                "{} at the end, expandable",
                crate::allocator::segments(all, lang)
            ),
            (Lang::En, false) => format!("{} at the end", crate::allocator::segments(all, lang)),
            (Lang::Zh, true) => format!("结束时 {all} 个段（可扩展）"),
            (Lang::Zh, false) => format!("结束时 {all} 个段"),
        });
    }
    let others = a.snapshot().device_list();
    let others: Vec<String> = others
        .into_iter()
        .filter(|d| *d != a.device)
        .map(|d| device(d, lang))
        .collect();
    if !others.is_empty() {
        let others = others.join(", ");
        out.push(match lang {
            Lang::En => format!("also recorded: {others}"),
            Lang::Zh => format!("另有记录：{others}"),
        });
    }
    out.extend(before(a, lang));
    out
}

/// What a device is called.
#[must_use]
pub fn device(device: Device, lang: Lang) -> String {
    match (device.is_host(), lang) {
        (true, Lang::En) => "pinned host memory".to_owned(),
        (true, Lang::Zh) => "锁页主机内存".to_owned(),
        (false, _) => format!("cuda:{}", device.0),
    }
}

/// What was there before the history began, when something was.
#[must_use]
pub fn before(a: &Analysis, lang: Lang) -> Option<String> {
    let c = &a.replay.coverage;
    if c.whole || a.replay.events().is_empty() {
        return None;
    }
    let (held, n) = (bytes(c.requested_before), count(c.allocations_before));
    let reserved = bytes(c.reserved_before);
    Some(match lang {
        Lang::En => format!(
            "the history begins late: {held} in {n} allocations and {reserved} reserved were \
             there before it; only of what lived to the end are stacks known"
        ),
        Lang::Zh => {
            format!(
                "历史记录开始较晚：此前已有 {n} 个分配共 {held}、已保留 {reserved}；仅存活到最后的分配有调用栈"
            )
        }
    })
}

/// Length of the history in time; `None` where the source has no times.
fn duration(a: &Analysis) -> Option<String> {
    let times = &a.snapshot().events.time_ns;
    let events = a.replay.events();
    let (first, last) = (
        times.get(events.start)?,
        times.get(events.end.checked_sub(1)?)?,
    );
    Some(crate::units::seconds(last.saturating_sub(first)))
}

/// A kind of finding in words.
#[must_use]
pub fn finding(kind: FindingKind, lang: Lang) -> &'static str {
    let (en, zh) = match kind {
        FindingKind::NoHistory => (
            "no history: recording was not enabled (torch.cuda.memory._record_memory_history)",
            "没有历史记录：未启用 torch.cuda.memory._record_memory_history",
        ),
        FindingKind::StartsLate => (
            "memory was there before the history begins",
            "历史开始之前已有显存",
        ),
        FindingKind::Overflowed => (
            "the ring buffer overflowed: the beginning is lost (raise max_entries)",
            "环形缓冲区溢出：开头已丢失（可增大 max_entries）",
        ),
        FindingKind::AllocatedTwice => (
            "allocated at an address that was in use",
            "在已被占用的地址上分配",
        ),
        FindingKind::FreeOfUnknown => (
            "freed an address that was not in use",
            "释放了未被占用的地址",
        ),
        FindingKind::FreedTwice => ("freed twice", "重复释放"),
        FindingKind::OutsideSegments => (
            "allocated where nothing was reserved",
            "在未保留的地址上分配",
        ),
        FindingKind::SegmentMismatch => (
            "a segment over another, or released where none was",
            "段重叠，或释放了不存在的段",
        ),
        FindingKind::NotInSnapshot => (
            "live at the end of the history, but not in the snapshot's blocks",
            "历史结束时存活，但不在快照的块中",
        ),
        FindingKind::SizeMismatch => (
            "another size in the snapshot than in the history",
            "快照与历史中的大小不同",
        ),
        FindingKind::NotInHistory => (
            "in use in the snapshot, but never allocated in the history",
            "快照中在用，但历史中从未分配",
        ),
        FindingKind::RequestedMismatch => (
            "requested bytes of history and snapshot differ",
            "历史与快照的请求字节数不同",
        ),
        FindingKind::ReservedMismatch => (
            "reserved bytes of history and snapshot differ",
            "历史与快照的已保留字节数不同",
        ),
        FindingKind::PendingAtEnd => (
            "freed, but still waiting for another stream at the end",
            "已释放，但结束时仍在等待其他流",
        ),
        FindingKind::BlocksMismatch => (
            "the blocks of a segment do not add up to its size",
            "段中各块之和与段大小不符",
        ),
        _ => ("another inconsistency", "其他不一致"),
    };
    if lang == Lang::En { en } else { zh }
}
