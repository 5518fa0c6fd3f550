//! The page as a whole: its parts, its keys, its address.

use leptos::prelude::*;
use present::chart::AxisKind;
use present::sentences::title;
use present::{Lang, Word};
use report::container::Container;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;

use crate::browser;
use crate::components::{Header, Help, Tabs, toggle_lang, toggle_theme};
use crate::hash;
use crate::open::open_file;
use crate::state::{State, View};
use crate::timeline::TimelineChart;
use crate::views;

/// Puts the page into the document.
pub(crate) fn mount(container: Option<Container>, parts: Vec<f64>) {
    leptos::mount::mount_to_body(move || {
        let dark = RwSignal::new(browser::prefers_dark());
        let lang = Lang::of_tag(&browser::language());
        let state = State::new(container, parts, &browser::link(), lang, dark);
        follow_address(state);
        follow_system(dark);
        follow_printer(state);
        document_attributes(state);
        keys(state);
        drops(state);
        view! { <App state=state/> }
    });
}

#[component]
fn App(state: State) -> impl IntoView {
    let view = Memo::new(move |_| state.view());
    // Which chart there is. It stays when another rank is shown: a chart that is made anew in the
    // place of its like leaves listeners behind that ask signals which are gone. The comparison has
    // a chart of its own.
    let chart = Memo::new(move |_| {
        let has = state.data.with(|d| {
            let d = d.as_ref()?;
            Some((d.has_snapshot(), !d.rank.events.is_empty()))
        });
        has.filter(|_| view.get() != View::Compare)
    });
    view! {
        <a class="skip" href="#panel" on:click=move |e| {
            // The address is ours: a jump must not overwrite it.
            e.prevent_default();
            browser::focus("panel");
        }>{state.text(Word::Skip)}</a>
        <Header state=state/>
        <main>
            {move || chart.get().map(|has| match has {
                #[cfg(feature = "snapshot")]
                (true, _) => view! { <crate::memory::MemoryChart state=state/> }.into_any(),
                (false, true) => view! { <TimelineChart state=state/> }.into_any(),
                _ => ().into_any(),
            })}
            <Show when=move || !state.working.get() && state.data.with(Option::is_some)>
                <Tabs state=state/>
                <section id="panel" role="tabpanel" tabindex="-1"
                    aria-labelledby=move || format!("tab-{}", view.get().word())>
                    {move || match view.get() {
                        #[cfg(feature = "snapshot")]
                        View::Compare => view! { <views::Compare state=state/> }.into_any(),
                        #[cfg(not(feature = "snapshot"))]
                        View::Compare => ().into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Live => view! { <views::snapshot::Live state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::State => view! { <views::snapshot::StateView state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Entries => view! { <views::snapshot::Entries state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Lifetimes => view! { <views::snapshot::Lifetimes state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Lines => view! { <views::snapshot::Lines state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Series => view! { <views::snapshot::Series state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::Device => view! { <views::snapshot::DeviceView state=state/> }.into_any(),
                        #[cfg(feature = "snapshot")]
                        View::ByName => view! { <views::snapshot::ByName state=state/> }.into_any(),
                        #[cfg(not(feature = "snapshot"))]
                        View::Series => ().into_any(),
                        #[cfg(not(feature = "snapshot"))]
                        View::Live | View::State | View::Entries | View::Lifetimes | View::Lines => ().into_any(),
                        View::Peak => view! { <views::Peak state=state/> }.into_any(),
                        View::Steps => view! { <views::Steps state=state/> }.into_any(),
                        View::Phases => view! { <views::Phases state=state/> }.into_any(),
                        View::Top => view! { <views::Top state=state/> }.into_any(),
                        View::Modules => view! { <views::ModulesView state=state/> }.into_any(),
                        View::Tensors => view! { <views::Tensors state=state/> }.into_any(),
                        View::About => view! { <views::About state=state/> }.into_any(),
                    }}
                </section>
            </Show>
        </main>
        <p class="status" role="status" data-testid="status">{move || state.status.get()}</p>
        <Help state=state/>
    }
}

/// Browsers let a page change its address about a hundred times in 30 seconds (WebKit; Chromium 200)
/// and drop what is beyond that. So many changes may come at once...
const CHANGES: f64 = 60.0;
/// ...and then one in so many milliseconds, as while a slider is dragged or a history plays.
const CHANGE: f64 = 750.0;

/// Writes what is shown to the address, and reads it back when the user changes it.
fn follow_address(state: State) {
    // How many changes are left, and when that was counted.
    let left = StoredValue::new((CHANGES, 0.0));
    let waiting = StoredValue::new(false);
    #[cfg(feature = "snapshot")]
    let flame = StoredValue::new(state.shown.with_untracked(|s| s.flame.clone()));
    Effect::new(move |first: Option<()>| {
        let hash = state.shown.with(hash::write);
        // A zoom of the flame graph is a step of its own, which the browser's "back" takes back.
        #[cfg(feature = "snapshot")]
        {
            let now = state.shown.with_untracked(|s| s.flame.clone());
            let steps = flame.with_value(|was| *was != now);
            flame.set_value(now);
            if steps && first.is_some() && browser::hash().trim_start_matches('#') != hash {
                browser::push_hash(&hash);
                return;
            }
        }
        // The address that the page was opened with stays until something changes.
        if first.is_none() || waiting.get_value() {
            return;
        }
        let now = js_sys::Date::now();
        let (n, since) = left.get_value();
        let n = (n + (now - since).max(0.0) / CHANGE).min(CHANGES);
        if n >= 1.0 {
            left.set_value((n - 1.0, now));
            browser::set_hash(&hash);
            return;
        }
        left.set_value((n, now));
        waiting.set_value(true);
        let late = move || {
            waiting.set_value(false);
            let (n, since) = left.get_value();
            left.set_value((n - 1.0, since));
            browser::set_hash(&state.shown.with_untracked(hash::write));
        };
        set_timeout(late, std::time::Duration::from_millis(CHANGE as u64));
    });
    let changed = Closure::<dyn FnMut()>::new(move || state.follow(&browser::hash()));
    if let Some(window) = web_sys::window() {
        window
            .add_event_listener_with_callback("hashchange", changed.as_ref().unchecked_ref())
            .ok();
    }
    changed.forget();
}

/// Follows the system when it changes between light and dark.
fn follow_system(dark: RwSignal<bool>) {
    let query = web_sys::window()
        .and_then(|w| w.match_media("(prefers-color-scheme: dark)").ok().flatten());
    let Some(query) = query else { return };
    let changed = Closure::<dyn FnMut()>::new(move || dark.set(browser::prefers_dark()));
    query
        .add_event_listener_with_callback("change", changed.as_ref().unchecked_ref())
        .ok();
    changed.forget();
}

/// Paints in light for paper, and back.
fn follow_printer(state: State) {
    let heard = Closure::<dyn FnMut(web_sys::Event)>::new(move |e: web_sys::Event| {
        state.printing.set(e.type_() == "beforeprint");
    });
    if let Some(window) = web_sys::window() {
        for name in ["beforeprint", "afterprint"] {
            window
                .add_event_listener_with_callback(name, heard.as_ref().unchecked_ref())
                .ok();
        }
    }
    heard.forget();
}

/// Language, ground and title of the document.
fn document_attributes(state: State) {
    Effect::new(move |_| {
        let Some(document) = browser::document() else {
            return;
        };
        let lang = state.lang.get();
        if let Some(root) = document.document_element() {
            root.set_attribute("lang", lang.tag()).ok();
            let theme = if state.dark.get() { "dark" } else { "light" };
            root.set_attribute("data-theme", theme).ok();
        }
        if let Some(data) = state.data.get() {
            document.set_title(&title([data.facts.as_ref()], lang));
        }
    });
}

/// Keys that work everywhere on the page.
fn keys(state: State) {
    let pressed =
        Closure::<dyn FnMut(web_sys::KeyboardEvent)>::new(move |e: web_sys::KeyboardEvent| {
            let key = e.key();
            if key == "Escape" {
                escape(state, &e);
                return;
            }
            if e.ctrl_key() || e.meta_key() || e.alt_key() || browser::typing(&e) {
                return;
            }
            if state.help.get_untracked() {
                if key == "?" {
                    state.help.set(false);
                }
                return;
            }
            if command(state, &key) {
                e.prevent_default();
            }
        });
    if let Some(window) = web_sys::window() {
        window
            .add_event_listener_with_callback("keydown", pressed.as_ref().unchecked_ref())
            .ok();
    }
    pressed.forget();
}

fn escape(state: State, e: &web_sys::KeyboardEvent) {
    if state.help.get_untracked() {
        state.help.set(false);
    } else if browser::typing(e) {
        browser::focus("panel");
    } else if state.pick.get_untracked().is_some() {
        state.set_pick(None);
    } else if state.selection.get_untracked().is_some() {
        state.select(None);
    } else {
        state.error.set(None);
    }
}

fn command(state: State, key: &str) -> bool {
    let ranks = state
        .container
        .with_untracked(|c| c.as_ref().map_or(0, |c| c.header().ranks.len()));
    let rank = state.rank.get_untracked();
    let snapshot = state
        .data
        .with_untracked(|d| d.as_ref().is_some_and(|d| d.has_snapshot()));
    match key {
        "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => {
            let at = key.parse::<usize>().unwrap_or(1) - 1;
            let Some(&view) = untrack(|| state.views()).get(at) else {
                return false;
            };
            state.go(view);
        }
        "/" => {
            let now = untrack(|| state.view());
            if !matches!(now, View::Top | View::Entries) {
                state.go(if snapshot { View::Entries } else { View::Top });
            }
            browser::next_frame(|| browser::focus("search"));
        }
        "?" => {
            state.help.set(true);
        }
        "x" => state.shown.update(|s| {
            s.axis = match s.axis {
                AxisKind::Event if snapshot => AxisKind::Time,
                AxisKind::Event => AxisKind::Step,
                AxisKind::Step | AxisKind::Time => AxisKind::Event,
            };
            s.zoom = (0.0, 1.0);
        }),
        "+" | "=" => zoom(state, 0.5),
        "-" | "_" => zoom(state, 2.0),
        "0" => state.shown.update(|s| s.zoom = (0.0, 1.0)),
        "[" if rank > 0 => state.set_rank(rank - 1),
        "]" if rank + 1 < ranks => state.set_rank(rank + 1),
        #[cfg(feature = "snapshot")]
        "d" => next_device(state),
        "t" => toggle_theme(state),
        "l" => toggle_lang(state),
        "g" => browser::focus("timeline"),
        _ => return false,
    }
    true
}

/// The device after the one that is shown, round about.
#[cfg(feature = "snapshot")]
fn next_device(state: State) {
    let all = untrack(|| state.devices());
    let now = untrack(|| state.snapshot()).map(|a| a.device);
    let asked = state.shown.with_untracked(|s| s.device).or(now);
    let at = all.iter().position(|d| Some(d.0) == asked);
    if let Some((device, _)) = at.and_then(|at| all.get((at + 1) % all.len())) {
        state.set_device(*device);
    }
}

fn zoom(state: State, factor: f64) {
    state.shown.update(|s| {
        let (a, b) = s.zoom;
        let (middle, half) = ((a + b) / 2.0, ((b - a) * factor / 2.0).clamp(1e-6, 0.5));
        let start = (middle - half).clamp(0.0, 1.0 - 2.0 * half);
        s.zoom = (start, start + 2.0 * half);
    });
}

/// Files dropped anywhere on the page are opened.
fn drops(state: State) {
    let over = Closure::<dyn FnMut(web_sys::DragEvent)>::new(move |e: web_sys::DragEvent| {
        e.prevent_default()
    });
    let drop = Closure::<dyn FnMut(web_sys::DragEvent)>::new(move |e: web_sys::DragEvent| {
        e.prevent_default();
        let file = e
            .data_transfer()
            .and_then(|d| d.files())
            .and_then(|f| f.get(0));
        if let Some(file) = file {
            open_file(state, file);
        }
    });
    if let Some(window) = web_sys::window() {
        for (name, f) in [("dragover", &over), ("drop", &drop)] {
            window
                .add_event_listener_with_callback(name, f.as_ref().unchecked_ref())
                .ok();
        }
    }
    over.forget();
    drop.forget();
}
