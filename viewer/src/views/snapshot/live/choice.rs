//! How what is live is grouped and shown, as words of a link.

use present::Word;
use report::analyze::snapshot::flame::Direction;
use report::analyze::snapshot::group::By;

use crate::state::State;

use leptos::prelude::*;

/// The groupings that are offered, with their words in links.
pub(super) const GROUPINGS: [(By, &str, Word); 6] = [
    (By::Stack, "stack", Word::ByStack),
    (By::Line, "line", Word::ByLine),
    (By::Function, "function", Word::ByFunction),
    (By::Category, "category", Word::ByCategory),
    (By::Pool, "pool", Word::ByPool),
    (By::Stream, "stream", Word::ByStream),
];

/// The pictures that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picture {
    Table,
    Flame,
    Tree,
}

/// How groups are shown: `flame`, `flame.leaf`, `flame.leaf.full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    pub(super) picture: Picture,
    pub(crate) direction: Direction,
    /// Whether frames of torch and C++ are left out.
    pub(crate) fold: bool,
}

impl How {
    pub(super) fn of_word(text: &str) -> Self {
        let has = |part: &str| text.split('.').any(|p| p == part);
        Self {
            picture: if has("flame") {
                Picture::Flame
            } else if has("tree") {
                Picture::Tree
            } else {
                Picture::Table
            },
            direction: if has("leaf") {
                Direction::LeafFirst
            } else {
                Direction::RootFirst
            },
            fold: !has("full"),
        }
    }

    pub(super) fn word(self) -> String {
        let mut parts = vec![match self.picture {
            Picture::Table => "table",
            Picture::Flame => "flame",
            Picture::Tree => "tree",
        }];
        if self.direction == Direction::LeafFirst {
            parts.push("leaf");
        }
        if !self.fold {
            parts.push("full");
        }
        let word = parts.join(".");
        if word == "table" { String::new() } else { word }
    }
}

impl State {
    /// Whether what is live is shown as groups, of which the picked one is shown in detail.
    pub(crate) fn has_groups(self) -> bool {
        self.how().picture != Picture::Flame
    }

    pub(super) fn grouping(self) -> By {
        let by = self.shown.with(|s| s.by.clone());
        let found = GROUPINGS.iter().find(|g| g.1 == by);
        found.map_or(By::Stack, |g| g.0)
    }

    pub(crate) fn how(self) -> How {
        How::of_word(&self.shown.with(|s| s.how.clone()))
    }

    pub(crate) fn set_how(self, change: impl FnOnce(&mut How)) {
        self.shown.update(|s| {
            let mut how = How::of_word(&s.how);
            change(&mut how);
            let word = how.word();
            if word != s.how {
                // Another tree has other nodes.
                s.flame.clear();
            }
            s.how = word;
        });
    }
}

/// The buttons.
#[component]
pub(super) fn Choices(state: State) -> impl IntoView {
    let pictures = [
        (Picture::Table, "table", Word::AsTable),
        (Picture::Flame, "flame", Word::AsFlame),
        (Picture::Tree, "tree", Word::AsTree),
    ];
    let by = Memo::new(move |_| state.grouping());
    let how = Memo::new(move |_| state.how());
    let flame = move || how.get().picture == Picture::Flame;
    let direction = move |word: Word, id: &'static str, to: Direction| {
        view! {
            <button type="button" data-testid=id aria-pressed=move || (how.get().direction == to).to_string()
                on:click=move |_| state.set_how(|h| h.direction = to)>{state.text(word)}</button>
        }
    };
    view! {
        <div class="filters">
            <div class="segmented" role="group" aria-label=state.text(Word::ShowAs)>
                {pictures.map(|(picture, id, word)| view! {
                    <button type="button" data-testid=format!("how-{id}")
                        aria-pressed=move || (how.get().picture == picture).to_string()
                        on:click=move |_| state.set_how(|h| h.picture = picture)>{state.text(word)}</button>
                }).collect_view()}
            </div>
            <Show when=move || !flame()>
                <span class="quiet">{state.text(Word::GroupBy)}</span>
                <div class="segmented" role="group" aria-label=state.text(Word::GroupBy)>
                    {GROUPINGS.map(|(value, id, word)| view! {
                        <button type="button" data-testid=format!("by-{id}")
                            aria-pressed=move || (by.get() == value).to_string()
                            on:click=move |_| state.shown.update(|s| {
                                s.by = if value == By::Stack { String::new() } else { id.to_owned() };
                                s.sort = None;
                            })>{state.text(word)}</button>
                    }).collect_view()}
                </div>
            </Show>
            <Show when=flame>
                <div class="segmented" role="group">
                    {direction(Word::RootFirst, "flame-root", Direction::RootFirst)}
                    {direction(Word::LeafFirst, "flame-leaf", Direction::LeafFirst)}
                </div>
                <Fold state=state/>
            </Show>
        </div>
    }
}

/// Whether frames of torch and C++ are shown.
#[component]
pub(super) fn Fold(state: State) -> impl IntoView {
    let fold = Memo::new(move |_| state.how().fold);
    view! {
        <label class="check">
            <input type="checkbox" data-testid="fold" prop:checked=move || fold.get()
                on:change=move |e| {
                    let yes = event_target_checked(&e);
                    state.set_how(|h| h.fold = yes);
                }/>
            {state.text(Word::FoldFrames)}
        </label>
    }
}
