//! Buttons that take tables and charts out of the page.

use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::chart::DrawError;
use present::export::{csv, json, markdown};
use present::rows::Rows;
use wasm_bindgen::JsCast as _;
use web_sys::HtmlCanvasElement;

use crate::browser::{copy, download};
use crate::state::State;

/// The order in which a table shows its rows.
pub type Order = Arc<Vec<u32>>;

/// CSV, JSON and Markdown of a table, in the order shown.
#[component]
pub fn TableActions(
    state: State,
    rows: Signal<Arc<dyn Rows>>,
    order: Signal<Order>,
) -> impl IntoView {
    let save = move |kind: &'static str| {
        let (rows, order, lang) = (
            rows.get_untracked(),
            order.get_untracked(),
            state.lang.get_untracked(),
        );
        let name = format!("memscope-{}.{kind}", rows.name());
        let (mime, text) = match kind {
            "csv" => ("text/csv", csv(rows.as_ref(), Some(&order), lang)),
            _ => ("application/json", json(rows.as_ref(), Some(&order), lang)),
        };
        download(&name, mime, text.as_bytes());
    };
    let copy_markdown = move |_| {
        let (rows, order, lang) = (
            rows.get_untracked(),
            order.get_untracked(),
            state.lang.get_untracked(),
        );
        let text = markdown(rows.as_ref(), Some(&order), lang);
        copy(&text, move |ok| say(state, ok));
    };
    view! {
        <div class="actions" role="group" aria-label=state.text(Word::Export)>
            <button type="button" data-testid="csv" on:click=move |_| save("csv")>"CSV"</button>
            <button type="button" data-testid="json" on:click=move |_| save("json")>"JSON"</button>
            <button type="button" data-testid="markdown" on:click=copy_markdown>
                {state.text(Word::CopyMarkdown)}
            </button>
        </div>
    }
}

/// Says in the live region whether the clipboard took it.
pub(crate) fn say(state: State, ok: bool) {
    let word = if ok { Word::Copied } else { Word::CopyFailed };
    state
        .status
        .set(word.text(state.lang.get_untracked()).to_owned());
}

/// SVG and PNG of a chart. `draw` draws it anew as SVG; the PNG is the canvas.
#[component]
pub fn ChartActions(
    /// Its name in file names and for tests.
    name: &'static str,
    canvas: NodeRef<leptos::html::Canvas>,
    draw: Callback<(), Result<String, DrawError>>,
) -> impl IntoView {
    let save_svg = move |_| {
        if let Ok(text) = draw.run(()) {
            let file = format!("memscope-{name}.svg");
            download(&file, "image/svg+xml", text.as_bytes());
        }
    };
    let save_png = move |_| {
        let Some(canvas) = canvas.get_untracked() else {
            return;
        };
        let canvas: &HtmlCanvasElement = canvas.unchecked_ref();
        let Ok(url) = canvas.to_data_url_with_type("image/png") else {
            return;
        };
        let Some(bytes) = url.split_once(',').and_then(|(_, b)| base64(b)) else {
            return;
        };
        download(&format!("memscope-{name}.png"), "image/png", &bytes);
    };
    view! {
        <div class="actions" role="group">
            <button type="button" data-testid=format!("{name}-svg") on:click=save_svg>"SVG"</button>
            <button type="button" data-testid=format!("{name}-png") on:click=save_png>"PNG"</button>
        </div>
    }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let raw = web_sys::window()?.atob(text).ok()?;
    raw.chars().map(|c| u8::try_from(c as u32).ok()).collect()
}
