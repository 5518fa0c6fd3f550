//! A memory snapshot in a few tables: for the terminal, Markdown and the static part of a page.

use std::sync::Arc;

use report::analyze::snapshot::group::{By, group};
use report::analyze::snapshot::state::{fragmentation, pins};
use report::analyze::snapshot::{Analysis, lifetimes};

use crate::allocator::{figure_list, segments};
use crate::names::Names;
use crate::rows::snapshot::{GroupRows, SurvivorRows};
use crate::rows::{FactRows, PinRows, Rows};
use crate::said;
use crate::sentences::snapshot::finding;
use crate::units::{bytes, count, exact};
use crate::words::{Lang, Word};

/// Rows of a table, at most.
const TOP: usize = 20;

/// A heading and its table.
pub type Section = (String, Box<dyn Rows>);

/// What lives at the instant that matters by line, function and category, the allocator's figures
/// then, what pins segments, what stays from step to step, and what does not fit together.
#[must_use]
pub fn sections(a: &Arc<Analysis>, lang: Lang) -> Vec<Section> {
    let names = Arc::new(Names::of(Arc::clone(a)));
    let moment = a.moment(a.first_instant());
    let when = said::moment(&names, &moment, lang);
    let mut out: Vec<Section> = Vec::new();
    for (word, by) in [
        (Word::ByLine, By::Line),
        (Word::ByFunction, By::Function),
        (Word::ByCategory, By::Category),
    ] {
        let mut groups = group(&a.replay, a.sites(), a.categories(), &moment.ids, by);
        groups.truncate(TOP);
        let title = match (by, lang) {
            (By::Line, Lang::En) => format!("{}, by line — {when}", Word::Live.text(lang)),
            (By::Line, Lang::Zh) => format!("{}，按代码行 — {when}", Word::Live.text(lang)),
            (_, Lang::En) => format!("{}, by {}", Word::Live.text(lang), word.text(lang)),
            (_, Lang::Zh) => format!("{}，按{}", Word::Live.text(lang), word.text(lang)),
        };
        let rows = GroupRows::new(Arc::clone(&names), Arc::new(groups), by, None);
        out.push((title, Box::new(rows)));
    }
    let state = a.state_at(moment.instant);
    let figures = fragmentation(&a.replay, &state);
    let facts = figure_list(&figures, moment.requested)
        .into_iter()
        .map(|(word, n, _)| {
            let value = format!("{} = {}", bytes(n), exact(n));
            (word.text(lang).to_owned(), value)
        })
        .collect();
    let heading = format!(
        "{} — {}",
        Word::AllocatorState.text(lang),
        segments(state.spans.len() as u64, lang)
    );
    out.push((heading, Box::new(FactRows::of("state", facts))));
    let mut pinning = pins(&a.replay, &state);
    pinning.truncate(TOP / 2);
    out.push((
        Word::Pins.text(lang).to_owned(),
        Box::new(PinRows::new(Arc::clone(&names), Arc::new(pinning))),
    ));
    let mut stay = lifetimes::survivors(&a.replay, a.steps(), 1);
    let sentence = said::survivors(&names, &stay, a.steps().len(), 1, lang);
    stay.truncate(TOP / 2);
    out.push((
        format!("{} — {sentence}", Word::Survivors.text(lang)),
        Box::new(SurvivorRows::new(Arc::clone(&names), stay)),
    ));
    let findings = a
        .replay
        .findings
        .rows
        .iter()
        .map(|f| {
            let at = f.first.map_or_else(String::new, |t| format!(" · t{}", t.0));
            let value = format!("{} × · {}{at}", count(f.count), bytes(f.bytes));
            (finding(f.kind, lang).to_owned(), value)
        })
        .collect();
    out.push((
        Word::Inconsistent.text(lang).to_owned(),
        Box::new(FactRows::of("findings", findings)),
    ));
    out.retain(|(_, rows)| !rows.is_empty());
    out
}
