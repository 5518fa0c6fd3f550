//! Sentences on memory snapshots, in English and Chinese.

use report::analyze::snapshot::lifetimes::{Brief, Pending, Survivors};
use report::analyze::snapshot::moment::Moment;
use report::analyze::snapshot::{Instant, Named};

use report::model::snapshot::StackId;

use crate::names::Names;
use crate::units::{bytes, count};
use crate::visible::visible;
use crate::words::{Lang, Word};

/// The name of an instant on a button.
#[must_use]
pub fn instant(instant: Instant, ooms: usize, lang: Lang) -> String {
    match instant {
        Instant::Peak => Word::AtPeak.text(lang).to_owned(),
        Instant::End => Word::AtEnd.text(lang).to_owned(),
        Instant::Start => Word::AtStart.text(lang).to_owned(),
        Instant::Oom(n) if ooms > 1 => format!("{} {}", Word::AtOom.text(lang), n + 1),
        Instant::Oom(_) => Word::AtOom.text(lang).to_owned(),
        Instant::Event(_) => instant.to_string(),
    }
}

/// What lives at an instant, where that is, and how much is reserved.
#[must_use]
pub fn moment(names: &Names, m: &Moment, lang: Lang) -> String {
    let mut at = match (m.event, lang) {
        (Some(e), Lang::En) => format!("after {}", names.analysis().name(Named::Event(e))),
        (Some(e), Lang::Zh) => format!("{} 之后", names.analysis().name(Named::Event(e))),
        (None, Lang::En) => "before the first event".to_owned(),
        (None, Lang::Zh) => "第一个事件之前".to_owned(),
    };
    if let Some(step) = m.step {
        at += &match lang {
            Lang::En => format!(", step {step}"),
            Lang::Zh => format!("，第 {step} 步"),
        };
    }
    if let Some(phase) = m.phase {
        at += ", ";
        at += &visible(names.analysis().strings().get(phase));
    }
    let (live, n) = (bytes(m.requested), count(m.ids.len() as u64));
    let reserved = bytes(m.reserved);
    match lang {
        Lang::En => format!("{live} live in {n} allocations {at}; {reserved} reserved"),
        Lang::Zh => format!("{at}：{n} 个分配共 {live} 存活；已保留 {reserved}"),
    }
}

/// Where memory comes from, within a sentence.
fn origin(names: &Names, stack: Option<StackId>, lang: Lang) -> String {
    match (stack, lang) {
        (Some(_), _) => visible(&names.site(stack, lang)).into_owned(),
        (None, Lang::En) => format!("code ({})", names.nowhere(lang)),
        (None, Lang::Zh) => format!("代码（{}）", names.nowhere(lang)),
    }
}

/// What the survivors show. `steps` is how many steps are annotated, `k` how many more they lived.
#[must_use]
pub fn survivors(names: &Names, list: &[Survivors], steps: usize, k: usize, lang: Lang) -> String {
    if steps == 0 {
        return match lang {
            Lang::En => "The run is not annotated with steps (ProfilerStep#N or Optimizer.step), so what stays from step to step cannot be told.",
            Lang::Zh => "运行未标注训练步（ProfilerStep#N 或 Optimizer.step），因此无法判断逐步留存的显存。",
        }
        .to_owned();
    }
    // The first step is left out, and one must be followed by k more.
    if steps < k + 2 {
        return match lang {
            Lang::En => format!(
                "To live through {k} more steps takes a run of at least {} steps; this one has {steps}.",
                k + 2
            ),
            Lang::Zh => format!(
                "要再存活 {k} 步，运行至少需要 {} 步；此运行只有 {steps} 步。",
                k + 2
            ),
        };
    }
    let suspects: Vec<&Survivors> = list.iter().filter(|s| s.suspect).collect();
    let worst = suspects.iter().max_by_key(|s| s.bytes_per_step);
    match (worst, list.first()) {
        (Some(s), _) => {
            let (size, site) = (bytes(s.bytes_per_step), origin(names, s.stack, lang));
            let since = s.since.unwrap_or_default();
            let more = suspects.len() - 1;
            match lang {
                Lang::En => {
                    let rest = match more {
                        0 => String::new(),
                        1 => "; one more place grows".to_owned(),
                        n => format!("; {n} more places grow"),
                    };
                    format!(
                        "{size} per step stay from {site} since step {since}: a leak looks like this, and so does a cache that fills{rest}."
                    )
                }
                Lang::Zh => {
                    let rest = if more == 0 {
                        String::new()
                    } else {
                        format!("；另有 {more} 处增长")
                    };
                    format!(
                        "自第 {since} 步起，{site} 每步留存 {size}：泄漏如此，逐渐填充的缓存亦如此{rest}。"
                    )
                }
            }
        }
        (None, Some(s)) => {
            let (size, site) = (bytes(s.bytes), origin(names, s.stack, lang));
            match lang {
                Lang::En => format!(
                    "Nothing grows to the end; most of what outlived {k} more steps is {size} from {site}."
                ),
                Lang::Zh => format!(
                    "没有持续增长到结束的显存；再存活 {k} 步以上的主要是 {site} 的 {size}。"
                ),
            }
        }
        (None, None) => match lang {
            Lang::En => {
                format!("Nothing that was allocated after the first step lived through {k} more.")
            }
            Lang::Zh => format!("第一步之后分配的显存都没有再存活 {k} 步。"),
        },
    }
}

/// What the pending frees show.
#[must_use]
pub fn pending(names: &Names, list: &[Pending], lang: Lang) -> String {
    let Some(longest) = list.iter().max_by_key(|p| (p.events, p.bytes)) else {
        return match lang {
            Lang::En => {
                "Every block was free as soon as it was given back: none waited for another stream."
            }
            Lang::Zh => "所有块归还后立即可用：没有块等待其他流。",
        }
        .to_owned();
    };
    let open = list.iter().filter(|p| p.open).count();
    let name = names.analysis().name(Named::Allocation(longest.allocation));
    let (size, events) = (bytes(longest.bytes), count(longest.events));
    match lang {
        Lang::En => format!(
            "{} freed blocks waited for another stream, {open} of them still at the end; the longest wait was {events} events, {name} with {size}.",
            count(list.len() as u64)
        ),
        Lang::Zh => format!(
            "{} 个已释放的块曾等待其他流，其中 {open} 个到结束仍在等待；最长等待 {events} 个事件：{name}，{size}。",
            count(list.len() as u64)
        ),
    }
}

/// What the short-lived large allocations show. `events` is how long they live at most.
#[must_use]
pub fn brief(names: &Names, list: &[Brief], events: u32, lang: Lang) -> String {
    let Some(b) = list.first() else {
        return match lang {
            Lang::En => format!(
                "No allocation of a hundredth of the peak or more was freed within {events} events."
            ),
            Lang::Zh => format!("没有达到峰值百分之一的分配在 {events} 个事件内释放。"),
        };
    };
    let (size, site, n) = (
        bytes(b.largest),
        origin(names, b.stack, lang),
        count(b.count),
    );
    match lang {
        Lang::En => format!(
            "The largest is {size} from {site}, {n} times, each freed within {events} events: while it lasts it raises the peak."
        ),
        Lang::Zh => format!(
            "最大的是 {site} 的 {size}，共 {n} 次，均在 {events} 个事件内释放：存在期间会抬高峰值。"
        ),
    }
}
