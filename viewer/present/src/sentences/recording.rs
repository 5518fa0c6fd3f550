//! What a recorder's own facts say, in sentences.

use report::analyze::recording::cost;
use report::model::Rank;
use report::model::recording::{Oom, Recording};

use crate::units::{bytes, count, percent, seconds};
use crate::visible::short;
use crate::words::Lang;

/// Names in sentences are cut here.
const NAME: usize = 120;

/// `step 7, backward, layers.3`; empty when nothing is known.
fn place(step: Option<i64>, parts: &[&str], lang: Lang) -> String {
    let mut out: Vec<String> = Vec::new();
    if let Some(step) = step {
        out.push(match lang {
            Lang::En => format!("step {step}"),
            Lang::Zh => format!("第 {step} 步"),
        });
    }
    for part in parts.iter().filter(|p| !p.is_empty()) {
        let part = short(part, NAME).into_owned();
        if !out.contains(&part) {
            out.push(part);
        }
    }
    out.join(if lang == Lang::En { ", " } else { "，" })
}

/// Where a recording that did not say that it was done ended; `None` for one that did.
#[must_use]
pub fn died(r: &Recording, lang: Lang) -> Option<String> {
    if r.complete {
        return None;
    }
    let e = &r.ending;
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    let (phase, module, edge) = (text(&e.phase), text(&e.module), text(&e.edge));
    let at = place(e.step, &[&phase, &module], lang);
    let mut out = match (at.is_empty(), lang) {
        (true, Lang::En) => "Incomplete recording: it died before the first step".to_owned(),
        (true, Lang::Zh) => "记录不完整：在第一步之前中断".to_owned(),
        (false, Lang::En) => format!("Incomplete recording: it died in {at}"),
        (false, Lang::Zh) => format!("记录不完整：中断于 {at}"),
    };
    if !edge.is_empty() {
        out += &match lang {
            Lang::En => format!(", after {}", short(&edge, NAME)),
            Lang::Zh => format!("，在 {} 之后", short(&edge, NAME)),
        };
    }
    if let Some(seq) = e.last_seq {
        out += &match lang {
            Lang::En => format!(" (last record {seq})"),
            Lang::Zh => format!("（最后一条记录 {seq}）"),
        };
    }
    Some(out)
}

/// How the recording ended, for one line of a list.
#[must_use]
pub fn ending(r: &Recording, lang: Lang) -> String {
    if let Some(died) = died(r, lang) {
        return died;
    }
    let reason = r.ending.reason.as_deref().unwrap_or("exit");
    let error = r.ending.error.as_deref().unwrap_or_default();
    let said = match (reason, lang) {
        ("exit", Lang::En) => return "complete".to_owned(),
        ("exit", Lang::Zh) => return "完整".to_owned(),
        (other, Lang::En) => format!("complete; the program ended with {}", short(other, NAME)),
        (other, Lang::Zh) => format!("完整；程序以 {} 结束", short(other, NAME)),
    };
    if error.is_empty() {
        said
    } else {
        format!("{said}: {}", short(error, NAME))
    }
}

fn oom(o: &Oom, lang: Lang) -> String {
    let at = place(o.step, &[&o.phase, &o.module], lang);
    let size = |b: Option<u64>| b.map(bytes);
    let mut out = match (size(o.requested), lang) {
        (Some(n), Lang::En) => format!("Out of memory: {n} asked for"),
        (None, Lang::En) => "Out of memory".to_owned(),
        (Some(n), Lang::Zh) => format!("显存不足：请求 {n}"),
        (None, Lang::Zh) => "显存不足".to_owned(),
    };
    if let Some(free) = size(o.device_free) {
        out += &match lang {
            Lang::En => format!(", {free} free on the device"),
            Lang::Zh => format!("，设备空闲 {free}"),
        };
    }
    if !at.is_empty() {
        out += &match lang {
            Lang::En => format!(" — {at}"),
            Lang::Zh => format!(" — {at}"),
        };
    }
    out
}

/// What goes ahead of the headline: that the recording is cut short, that memory ran out. `None` when
/// neither happened.
#[must_use]
pub fn ahead(rank: &Rank, lang: Lang) -> Option<String> {
    let r = rank.recording.as_ref()?;
    let said: Vec<String> = died(r, lang)
        .into_iter()
        .chain(r.ooms.last().map(|o| oom(o, lang)))
        .collect();
    let stop = if lang == Lang::En { ". " } else { "。" };
    (!said.is_empty()).then(|| said.iter().map(|s| format!("{s}{stop}")).collect())
}

/// What else is worth a sentence: overhead, what was left out, sources that do not work, other processes.
#[must_use]
pub fn notes(rank: &Rank, lang: Lang) -> Vec<String> {
    let Some(r) = &rank.recording else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if let Some(o) = &r.overhead {
        let c = cost(o);
        if let Some(share) = c.share {
            let each = c.native_ns_per_record.map(|ns| seconds(ns as u64));
            out.push(match (each, lang) {
                (Some(each), Lang::En) => format!(
                    "Recording took {} of the steps' time; writing a record took {each}.",
                    percent(share)
                ),
                (None, Lang::En) => {
                    format!("Recording took {} of the steps' time.", percent(share))
                }
                (Some(each), Lang::Zh) => {
                    format!(
                        "记录占步骤时间的 {}；写一条记录用时 {each}。",
                        percent(share)
                    )
                }
                (None, Lang::Zh) => format!("记录占步骤时间的 {}。", percent(share)),
            });
        }
    }
    for d in &r.dropped {
        let what = short(&d.what, NAME);
        let reason = short(&d.reason, NAME);
        let n = d.count.map(count);
        out.push(match (n, lang) {
            (Some(n), Lang::En) => format!("Left out: {n} × {what} ({reason})."),
            (None, Lang::En) => format!("Left out: {what} ({reason})."),
            (Some(n), Lang::Zh) => format!("略去：{n} × {what}（{reason}）。"),
            (None, Lang::Zh) => format!("略去：{what}（{reason}）。"),
        });
    }
    for s in r.sources.iter().filter(|s| s.status != "active") {
        let (name, status) = (short(&s.name, NAME), short(&s.status, NAME));
        let reason = if s.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", short(&s.reason, 2 * NAME))
        };
        out.push(match lang {
            Lang::En => format!("Source {name} is {status}{reason}."),
            Lang::Zh => format!("数据来源 {name} 状态为 {status}{reason}。"),
        });
    }
    for o in &r.others {
        let pid = o.pid.map_or_else(|| "?".to_owned(), |p| p.to_string());
        let (host, n) = (short(&o.host, NAME), count(o.events));
        out.push(match lang {
            Lang::En => format!(
                "Process {pid} on {host} left a journal for the same rank, with {n} events; it is not shown here."
            ),
            Lang::Zh => {
                format!("{host} 上的进程 {pid} 也为该 rank 留下了日志（{n} 个事件），此处未显示。")
            }
        });
    }
    out
}
