//! The figures of the instant, and what they mean.

use leptos::prelude::*;
use present::allocator::{figure_list, reason, untold};
use present::units::{bytes, exact};

use super::Looked;
use crate::state::State;

/// The figures, each with its meaning as a hint, and the sentences.
#[component]
pub(super) fn Figures(state: State, look: Looked) -> impl IntoView {
    let list = move || {
        let lang = state.lang.get();
        let look = look.get();
        look.map(|l| {
            figure_list(&l.figures, l.requested)
                .into_iter()
                .map(|(name, value, means)| {
                    let hint = format!("{}: {}", exact(value), means.text(lang));
                    view! {
                        <div title=hint data-figure=format!("{name:?}") data-raw=value.to_string()>
                            <dt>{name.text(lang)}</dt>
                            <dd>{bytes(value)}</dd>
                        </div>
                    }
                })
                .collect_view()
        })
    };
    let said = move || {
        let lang = state.lang.get();
        let look = look.get();
        look.map(|l| {
            let mut said = reason(&l.names, &l.figures, &l.pins, l.instant, lang);
            said.extend(untold(&l.analysis, &l.untold, lang));
            said.into_iter()
                .map(|text| view! { <p class="said">{text}</p> })
                .collect_view()
        })
    };
    view! {
        <dl class="figures" data-testid="state-figures">{list}</dl>
        <div data-testid="state-reason">{said}</div>
    }
}
