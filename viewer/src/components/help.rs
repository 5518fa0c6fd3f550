//! The keyboard sheet.

use leptos::prelude::*;
use present::Word;

use crate::browser;
use crate::state::State;

/// Keys and what they do, in the order of use.
const KEYS: &[(&str, Word)] = &[
    ("1 … 9", Word::HelpViews),
    ("/", Word::HelpSearch),
    ("+  −  0", Word::HelpZoom),
    ("←  →", Word::HelpPan),
    ("Enter", Word::HelpPin),
    ("↑  ↓  PgUp  PgDn  Home  End", Word::HelpRows),
    ("→  ←", Word::HelpTree),
    #[cfg(feature = "snapshot")]
    ("←  →  ↑  ↓  Enter", Word::HelpBlocks),
    #[cfg(feature = "snapshot")]
    ("Shift ←  Shift →", Word::HelpStateEvent),
    #[cfg(feature = "snapshot")]
    (",  .", Word::HelpStateSegment),
    #[cfg(feature = "snapshot")]
    ("PgUp  PgDn  Home  End", Word::HelpStatePercent),
    #[cfg(feature = "snapshot")]
    ("Space", Word::HelpPlay),
    #[cfg(feature = "snapshot")]
    ("↑  ↓  ←  →  Enter  Backspace  Home", Word::HelpFlame),
    ("x", Word::HelpAxis),
    ("[  ]", Word::HelpRank),
    #[cfg(feature = "snapshot")]
    ("d", Word::HelpDevice),
    ("t", Word::HelpTheme),
    ("l", Word::HelpLang),
    ("Esc", Word::HelpEscape),
    ("?", Word::HelpThis),
];

/// The sheet, when it is open.
#[component]
pub fn Help(state: State) -> impl IntoView {
    let close = move |_| state.help.set(false);
    // The focus goes to the sheet, and back to where it was, whichever way the sheet is closed.
    let before = StoredValue::new_local(None);
    Effect::new(move |was_open: Option<bool>| {
        let open = state.help.get();
        if open {
            before.set_value(browser::focused());
            browser::next_frame(|| browser::focus("help-close"));
        } else if was_open == Some(true)
            && let Some(element) = before.get_value()
        {
            element.focus().ok();
        }
        open
    });
    view! {
        <Show when=move || state.help.get()>
            <div class="veil" on:click=close>
                <div class="sheet" role="dialog" aria-modal="true" aria-labelledby="help-title"
                    data-testid="help" on:click=|e| e.stop_propagation()
                    // The one button keeps the focus while the sheet is open.
                    on:keydown=|e| if e.key() == "Tab" { e.prevent_default() }>
                    <h2 id="help-title">{state.text(Word::Help)}</h2>
                    <dl>
                        {KEYS.iter().map(|&(keys, word)| view! {
                            <dt><kbd>{keys}</kbd></dt>
                            <dd>{state.text(word)}</dd>
                        }).collect_view()}
                    </dl>
                    <button type="button" id="help-close" autofocus on:click=close>
                        {state.text(Word::Close)}
                    </button>
                </div>
            </div>
        </Show>
    }
}
