//! What the live memory is for, as one bar with its figures.

use std::collections::BTreeMap;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{CategoryPart, Theme, category_bar, category_color, css, svg};
use present::names::{category_word, certainty_word};
use present::units::{bytes, exact, percent};
use report::analyze::snapshot::categories::{Category, Certainty};
use report::analyze::snapshot::group::{By, Group, Key, certainties, group};

use super::super::held::{Held, Same};
use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{sized, watch_canvas};

const HEIGHT: f64 = 30.0;

type Groups = Memo<Option<Same<Vec<Group>>>>;

/// The bar.
#[component]
pub(super) fn CategoryBar(state: State, held: Memo<Option<Same<Held>>>) -> impl IntoView {
    let groups: Groups = Memo::new(move |_| {
        let held = held.get()?;
        let a = held.names.analysis();
        let ids = &held.moment.ids;
        Some(Same::new(group(
            &a.replay,
            a.sites(),
            a.categories(),
            ids,
            By::Category,
        )))
    });
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let width = RwSignal::new(0.0);
    watch_canvas(canvas, width);
    Effect::new(move |_| {
        let theme = Theme::of(state.dark.get());
        let parts = parts(state, groups);
        let (Some(c), width) = (canvas.get(), width.get()) else {
            return;
        };
        let scale = sized(&c, width, HEIGHT);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            category_bar(&backend.into_drawing_area(), &parts, &theme, scale).ok();
        }
    });
    let export = Callback::new(move |()| {
        let (parts, theme) = untrack(|| (parts(state, groups), Theme::of(state.dark.get())));
        let width = width.get_untracked().max(300.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            category_bar(area, &parts, &theme, 1.0)
        })
    });
    view! {
        <div class="above">
            <h2>{state.text(Word::Categories)}</h2>
            <span class="quiet" data-testid="certainties">{move || {
                let lang = state.lang.get();
                groups.get().map(|g| certain(&g, lang))
            }}</span>
            <span class="grow"></span>
            <ChartActions name="categories" canvas=canvas draw=export/>
        </div>
        <div class="bar-host" role="img" aria-label=state.text(Word::Categories) aria-describedby="category-legend">
            <canvas node_ref=canvas aria-hidden="true" style:height=format!("{HEIGHT}px")></canvas>
        </div>
        <Legend state=state groups=groups/>
    }
}

/// Parts of the bar: one category after the other, the surest part first.
fn ordered(groups: &[Group]) -> Vec<(Category, Certainty, u64, f64)> {
    let mut sums: BTreeMap<Category, u64> = BTreeMap::new();
    let mut out: Vec<_> = groups
        .iter()
        .filter_map(|g| match g.key {
            Key::Category(category, certainty) => Some((category, certainty, g.bytes, g.share)),
            _ => None,
        })
        .collect();
    for &(category, _, bytes, _) in &out {
        let sum = sums.entry(category).or_default();
        *sum = sum.saturating_add(bytes);
    }
    // Unknown comes last, however large.
    out.sort_by_key(|&(category, certainty, ..)| {
        let unknown = category == Category::Unknown;
        (
            unknown,
            std::cmp::Reverse(sums.get(&category).copied()),
            category,
            certainty,
        )
    });
    out
}

fn parts(state: State, groups: Groups) -> Vec<CategoryPart> {
    let lang = state.lang.get();
    let Some(groups) = groups.get() else {
        return Vec::new();
    };
    ordered(&groups)
        .into_iter()
        .map(|(category, certainty, size, _)| CategoryPart {
            category,
            certainty,
            bytes: size,
            label: format!("{} {}", category_word(category).text(lang), bytes(size)),
        })
        .collect()
}

/// How much is how sure.
fn certain(groups: &[Group], lang: present::Lang) -> String {
    let said = certainties(groups)
        .into_iter()
        .filter(|&(_, size)| size > 0)
        .map(|(certainty, size)| {
            format!("{} {}", certainty_word(certainty).text(lang), bytes(size))
        });
    said.collect::<Vec<_>>().join(" · ")
}

/// The parts with their figures; what is only possible has a hatched mark, as in the bar.
#[component]
fn Legend(state: State, groups: Groups) -> impl IntoView {
    view! {
        <ul class="legend categories" id="category-legend" data-testid="category-legend">
            {move || {
                let (lang, dark) = (state.lang.get(), state.dark.get());
                groups.get().map(|g| ordered(&g).into_iter().map(|(category, certainty, size, share)| {
                    let name = category_word(category).text(lang);
                    let sure = match certainty {
                        _ if category == Category::Unknown => String::new(),
                        other => format!(" ({})", certainty_word(other).text(lang)),
                    };
                    let color = css(category_color(category, dark));
                    let mark = if certainty == Certainty::Possible {
                        format!("repeating-linear-gradient(135deg, {color} 0 2px, transparent 2px 4px)")
                    } else {
                        color
                    };
                    view! {
                        <li data-category=category.word() data-raw=size.to_string() title=exact(size)>
                            <i style:background=mark></i>{format!("{name}{sure} ")}<b>{bytes(size)}</b>" "{percent(share)}
                        </li>
                    }
                }).collect_view())
            }}
        </ul>
    }
}
