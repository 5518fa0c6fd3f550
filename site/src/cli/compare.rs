//! `memscope compare`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use present::Lang;
use present::chart::Theme;
use present::compare::{self as said, Seen, Wanted};
use report::analyze::diff::answer::Most;
use report::analyze::diff::snapshot::answer::answer;
use report::analyze::diff::snapshot::groups::By;
use report::analyze::diff::{Comparison, Side};
use report::analyze::snapshot::flame::Direction;
use report::analyze::snapshot::{Analysis, Instant};
use report::container::Headline;
use report::model::snapshot::Device;
use report::model::{Rank, Report};

use super::args::{Compare, CompareBy, CompareFormat};
use super::failure::Usage;
use super::{find, note, read, refuse_clash, terminal_lang, wrote};
use crate::input::{Input, shown};
use crate::output::{Output, Target};
use crate::pack::{self, Judgement, Page};
use crate::progress::Progress;

/// Rows of each table for people, when nobody says.
const TOP: usize = 20;

/// Two inputs side by side.
pub(super) fn compare(arguments: &Compare) -> Result<()> {
    let paths = [&arguments.a, &arguments.b];
    if paths.iter().all(|p| p.as_os_str() == "-") {
        return Err(Usage("only one of the two can be stdin".to_owned()).into());
    }
    let together = find(&[arguments.a.clone(), arguments.b.clone()])?;
    let inputs = [
        inputs(&arguments.a, &together)?,
        inputs(&arguments.b, &together)?,
    ];
    let target = Target::of(arguments.output.as_deref().unwrap_or(Path::new("-")));
    for inputs in &inputs {
        refuse_clash(&target, inputs)?;
    }
    let format = format(arguments, &target);
    if format == CompareFormat::Html && !pack::has_viewer() {
        return Err(pack::Error::NoViewer.into());
    }
    let mut out = Output::open(&target)?;
    let mut progress = Progress::stderr();
    let [x, y] = inputs;
    let mut a = rank(
        read(&x, &mut progress)?,
        arguments.rank.as_deref(),
        "A",
        &arguments.a,
        &mut progress,
    )?;
    let number = arguments.rank_b.as_deref().or(arguments.rank.as_deref());
    let mut b = rank(
        read(&y, &mut progress)?,
        number,
        "B",
        &arguments.b,
        &mut progress,
    )?;
    tell_apart(&mut a, &x, &mut b, &y);
    let size = match format {
        CompareFormat::Html => html(arguments, a, b, &mut progress, &mut out)?,
        _ => {
            let seen = seen(arguments, a, b)?;
            let text = rendered(arguments, format, &seen)?;
            progress.clear();
            out.write_all(text.as_bytes())
                .context("cannot write the comparison")?;
            text.len() as u64
        }
    };
    drop(progress);
    out.commit()?;
    match &target {
        Target::File(path) => wrote(path, size),
        Target::Stdout => Ok(()),
    }
}

/// One side's inputs, with names that tell them from the other side's.
fn inputs(argument: &PathBuf, together: &[Input]) -> Result<Vec<Input>> {
    let mut own = crate::input::find(std::slice::from_ref(argument))?.inputs;
    for input in &mut own {
        if let Some(named) = together.iter().find(|t| t.place == input.place) {
            input.name.clone_from(&named.name);
        }
    }
    Ok(own)
}

/// What is asked for, else what the output's name says.
fn format(arguments: &Compare, target: &Target) -> CompareFormat {
    let by_name = || {
        let Target::File(path) = target else {
            return None;
        };
        Some(
            match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
                "html" | "htm" => CompareFormat::Html,
                "json" => CompareFormat::Json,
                "md" => CompareFormat::Markdown,
                "svg" => CompareFormat::Svg,
                _ => return None,
            },
        )
    };
    arguments
        .format
        .or_else(by_name)
        .unwrap_or(CompareFormat::Text)
}

/// The rank of a side that is compared: the one asked for, else the one with the highest peak.
fn rank(
    report: Report,
    wanted: Option<&str>,
    letter: &str,
    argument: &Path,
    progress: &mut Progress,
) -> Result<Rank> {
    let name = shown(argument);
    let mut ranks = report.ranks;
    let n = ranks.len();
    if let Some(wanted) = wanted {
        let said = present::visible::short(wanted, 80);
        return match super::snapshot::named(&ranks, wanted).as_slice() {
            [i] => Ok(ranks.swap_remove(*i)),
            [] => Err(Usage(format!(
                "{name} has no rank {said}; it has {}",
                listed(ranks.iter())
            ))
            .into()),
            several => {
                let several = several.iter().filter_map(|&i| ranks.get(i));
                let which = listed(several);
                Err(Usage(format!("{name} has several ranks {said}: {which}")).into())
            }
        };
    }
    let peaks: Vec<Option<u64>> = if n > 1 {
        ranks
            .iter()
            .map(|r| Headline::of(r).peak_allocated)
            .collect()
    } else {
        vec![None; n]
    };
    let best = (0..n).max_by_key(|&i| (peaks.get(i).copied().flatten(), std::cmp::Reverse(i)));
    let best = best.ok_or_else(|| Usage(format!("{name} holds no recording")))?;
    let rank = ranks.swap_remove(best);
    if n > 1 {
        progress.clear();
        let which = rank.number().map_or_else(
            || present::visible::short(&rank.source.name, 200).into_owned(),
            |n| format!("rank {n}"),
        );
        note(&format!(
            "{letter}: {which} of {name} is compared, the one of {n} with the highest peak; \
             choose with {}",
            if letter == "A" { "--rank" } else { "--rank-b" }
        ));
    }
    Ok(rank)
}

/// What --rank takes for each.
fn listed<'a>(ranks: impl Iterator<Item = &'a Rank>) -> String {
    let each: Vec<String> = ranks.map(super::snapshot::called).collect();
    match each.as_slice() {
        [] => "none".to_owned(),
        all => all.join(", "),
    }
}

/// Ranks of containers keep their names, which may be the same.
fn tell_apart(a: &mut Rank, x: &[Input], b: &mut Rank, y: &[Input]) {
    if a.source.name != b.source.name {
        return;
    }
    for (rank, inputs) in [(a, x), (b, y)] {
        if let [input] = inputs
            && input.name != rank.source.name
        {
            rank.source.name = format!("{}: {}", input.name, rank.source.name);
        }
    }
}

/// The instant that a text names in a side's history.
fn instant(side: &Analysis, text: &str, option: &str, letter: &str) -> Result<Instant> {
    side.instant(text).map_err(|e| {
        let shown = present::visible::short(text, 80);
        Usage(format!("{option} {shown}: in {letter}, {e}")).into()
    })
}

/// A side, with the device asked for.
fn side(rank: Rank, device: Option<Device>, option: &str) -> Result<Side> {
    let rank = Arc::new(rank);
    let Some(device) = device else {
        return Ok(Side::of(rank));
    };
    super::snapshot::has(&rank, device, option)?;
    let of = Side::on(Arc::clone(&rank), device);
    Ok(of.unwrap_or_else(|| Side::of(rank)))
}

fn seen(arguments: &Compare, a: Rank, b: Rank) -> Result<Seen> {
    let lang = terminal_lang(arguments.lang);
    for rank in [&a, &b] {
        super::snapshot::say_skipped(rank, lang);
    }
    let other = arguments.device_b.or(arguments.device);
    let comparison = Comparison::of(
        side(a, arguments.device, "--device")?,
        side(b, other, "--device-b")?,
    );
    let (at, at_b) = (&arguments.at, &arguments.at_b);
    let live = match &comparison.snapshot {
        Some(diff) => {
            let in_a = instant(&diff.a, at, "--at", "A")?;
            let in_b = match at_b {
                Some(text) => instant(&diff.b, text, "--at-b", "B")?,
                None => instant(&diff.b, at, "--at", "B")?,
            };
            Some(diff.at(in_a, in_b))
        }
        None if at != "peak" || at_b.as_ref().is_some_and(|b| b != "peak") => {
            let text = "--at needs a memory snapshot on both sides";
            return Err(Usage(text.to_owned()).into());
        }
        None => None,
    };
    Ok(Seen { comparison, live })
}

/// What tables are shown: the grouping asked for, else those that fit a page.
fn wanted(arguments: &Compare, format: CompareFormat) -> Wanted {
    let by = match (arguments.by, format) {
        (Some(by), _) => vec![by.into()],
        (None, CompareFormat::Json) => By::ALL.to_vec(),
        (None, CompareFormat::Text) => vec![By::Line, By::Category],
        (None, _) => vec![By::Line, By::Function, By::Category],
    };
    Wanted {
        by,
        most: arguments.top.unwrap_or(TOP),
    }
}

fn rendered(arguments: &Compare, format: CompareFormat, seen: &Seen) -> Result<String> {
    let lang = terminal_lang(arguments.lang);
    let wanted = wanted(arguments, format);
    Ok(match format {
        CompareFormat::Text | CompareFormat::Html => said::text(seen, &wanted, lang),
        CompareFormat::Markdown => said::markdown(seen, &wanted, lang),
        CompareFormat::Json => {
            let most = Most {
                rows: arguments.top,
            };
            let answer = answer(&seen.comparison, seen.live.as_ref(), &wanted.by, most);
            let text = serde_json::to_string_pretty(&answer);
            text.context("the comparison cannot be written as JSON")? + "\n"
        }
        CompareFormat::Svg => {
            let flame = match arguments.by {
                Some(CompareBy::Stack) => {
                    said::flame_svg(seen, Direction::RootFirst, &Theme::LIGHT, lang)?
                }
                _ => None,
            };
            match flame {
                Some(drawn) => drawn,
                None => said::chart_svg(seen, &Theme::LIGHT, lang)?,
            }
        }
    })
}

/// One page with both, which opens on the comparison.
fn html(
    arguments: &Compare,
    a: Rank,
    b: Rank,
    progress: &mut Progress,
    out: &mut Output,
) -> Result<u64> {
    if arguments.device_b.is_some() && arguments.device_b != arguments.device {
        return Err(Usage(
            "--device-b: a page shows the same device of both; take another --format".to_owned(),
        )
        .into());
    }
    progress.stage("packing");
    let report = Report { ranks: vec![a, b] };
    let data = pack::container(&report)?;
    let mut ranks = report.ranks.into_iter();
    let (Some(a), Some(b)) = (ranks.next(), ranks.next()) else {
        return Ok(0);
    };
    let seen = seen(arguments, a, b)?;
    let lang = arguments.lang.map_or(Lang::En, Lang::from);
    let mut link = "view=compare&rank=0&with=1".to_owned();
    if let Some(live) = &seen.live {
        link += &format!("&at={}&atb={}", live.at.0, live.at.1);
    }
    if let Some(device) = arguments.device {
        link += &format!("&device={}", device.word());
    }
    if let Some(by) = arguments.by {
        link += &format!("&by={}", By::from(by).word());
    }
    let wanted = wanted(arguments, CompareFormat::Html);
    let page = Page::comparison(&seen, &wanted, data, link, lang)?;
    let size = page.size()?;
    let judgement = pack::judge(size, arguments.force)?;
    progress.clear();
    if let Judgement::Warn(text) = judgement {
        note(&text);
    }
    page.write(out)?;
    Ok(size)
}
