//! What is said about a profiler's memory timeline.

use report::analyze::series::{self, Moment};
use report::model::{Series, SeriesCategory};

use crate::names::series_word;
use crate::units::{bytes, count, percent, seconds};
use crate::words::Lang;

/// The largest category of a moment; `None` when nothing is live.
fn largest(m: &Moment) -> Option<SeriesCategory> {
    let all = SeriesCategory::ALL.into_iter().rev();
    all.max_by_key(|&c| m.of(c)).filter(|&c| m.of(c) > 0)
}

/// `3,274 moments in 662 ms`
#[must_use]
pub fn subline(series: &Series, lang: Lang) -> String {
    let moments = count(series.len() as u64);
    let span = match (series.time_ns.first(), series.time_ns.last()) {
        (Some(first), Some(last)) => seconds(last.saturating_sub(*first)),
        _ => "–".to_owned(),
    };
    match lang {
        Lang::En => format!("{moments} moments in {span}"),
        Lang::Zh => format!("{span} 内 {moments} 个时刻"),
    }
}

/// The one sentence: how high memory stood, when, and what most of it was for.
#[must_use]
pub fn headline(series: &Series, lang: Lang) -> String {
    let Some(peak) = series::peak(series) else {
        return match lang {
            Lang::En => "The memory timeline has no moments.".to_owned(),
            Lang::Zh => "显存时间线为空。".to_owned(),
        };
    };
    let start = series.time_ns.first().copied().unwrap_or(0);
    let (total, after) = (
        bytes(peak.total),
        seconds(peak.time_ns.saturating_sub(start)),
    );
    let mut out = match lang {
        Lang::En => format!("Peak {total} by the profiler's timeline, {after} after its start"),
        Lang::Zh => format!("分析器时间线的峰值为 {total}，位于开始后 {after}"),
    };
    if let Some(category) = largest(&peak) {
        let share = percent(peak.of(category) as f64 / peak.total as f64);
        let (word, size) = (series_word(category).text(lang), bytes(peak.of(category)));
        out += &match lang {
            Lang::En => format!(": {share} of it {word} ({size})"),
            Lang::Zh => format!("，其中{word}占 {share}（{size}）"),
        };
    }
    out.push_str(if lang == Lang::En { "." } else { "。" });
    out
}
