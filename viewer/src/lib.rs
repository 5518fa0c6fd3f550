//! The page. Leptos components over the tables and analyses of `report`, said and drawn by
//! `present`; no figure is computed here.
//!
//! * [`state`]: what the page shows, as signals; [`hash`]: the same as a link.
//! * [`data`]: a rank with its analyses, made when first asked for.
//! * [`timeline`]: the chart with its input; [`components`]: tables, buttons, sheets.
//! * `memory`: the chart of a memory snapshot (feature `snapshot`).
//! * `compare`: a second report beside the open one (feature `snapshot`).
//! * [`views`]: one tab a file.
//! * [`open`]: reports that are dropped on the page, read in a worker where there may be one.
//! * `pieces`: long work with pauses in it (feature `snapshot`).
//! * [`browser`]: what the web has no typed call for.
//!
//! Every failure is shown in the page; nothing panics on what a file holds.

pub mod app;
pub mod browser;
#[cfg(feature = "snapshot")]
pub mod compare;
pub mod components;
pub mod data;
pub mod hash;
#[cfg(feature = "snapshot")]
pub mod memory;
pub mod open;
#[cfg(feature = "snapshot")]
mod pieces;
pub mod selection;
pub mod state;
pub mod timeline;
pub mod views;

use wasm_bindgen::prelude::*;

/// Starts the page. `container` is the packed report, or empty for a viewer without data; `parts`
/// are the sizes of the file's parts in bytes: program, glue and style, static part, data.
///
/// # Errors
/// Says what is wrong with the container.
#[wasm_bindgen]
pub fn start(container: Vec<u8>, parts: Vec<f64>) -> Result<(), JsValue> {
    let opened = if container.is_empty() {
        None
    } else {
        let container = report::container::Container::open("this report", container)
            .map_err(|e| JsValue::from_str(&e.to_string()))?;
        Some(container)
    };
    app::mount(opened, parts);
    Ok(())
}

/// Waits until the report that [`start`] was given is shown. Only what is long takes time after it.
#[cfg(feature = "snapshot")]
#[wasm_bindgen]
pub async fn shown() {
    pieces::all_done().await;
}

/// Reads any supported input and packs it, for the worker: what comes back is a container.
///
/// # Errors
/// Says what is wrong with the input.
#[wasm_bindgen]
pub fn read_report(name: &str, bytes: &[u8]) -> Result<Vec<u8>, JsValue> {
    open::to_container(name, bytes).map_err(|e| JsValue::from_str(&e))
}

/// As [`read_report`], from a file that is read in pieces, for the worker. `progress` is called with
/// the share that is read.
///
/// # Errors
/// As [`read_report`].
#[cfg(feature = "snapshot")]
#[wasm_bindgen]
pub fn read_file(
    name: &str,
    file: web_sys::File,
    progress: &js_sys::Function,
) -> Result<Vec<u8>, JsValue> {
    open::file_to_container(name, file, progress).map_err(|e| JsValue::from_str(&e))
}
