//! Reports that are dropped on the page. Reading happens in a worker where the page may have one,
//! so that the page stays alive; else on the main thread. Nothing is sent anywhere.

use js_sys::{Array, Function, Object, Reflect, Uint8Array};
use leptos::prelude::*;
use report::container::{Container, Level, pack};
use report::read::{Input, read};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, File, MessageEvent, Url, Worker};

use crate::state::State;

/// Reads any supported input and packs it. Packed lightly: it is opened at once and then dropped.
pub(crate) fn to_container(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let report = read(Input { name, bytes }).map_err(|e| e.to_string())?;
    let generator = concat!("memscope ", env!("CARGO_PKG_VERSION"), " viewer");
    pack(&report, generator, Level(1)).map_err(|e| format!("{name}: {e}"))
}

/// Reads a file and shows it.
pub fn open_file(state: State, file: File) {
    let name = file.name();
    state.error.set(None);
    state.reading.set(Some(name.clone()));
    spawn_local(async move {
        let result = match JsFuture::from(file.array_buffer()).await {
            Ok(buffer) => packed(&name, Uint8Array::new(&buffer)).await,
            Err(e) => Err(format!(
                "{name}: the browser could not read the file: {}",
                text(&e)
            )),
        };
        state.reading.set(None);
        match result.and_then(|bytes| Container::open(&name, bytes).map_err(|e| e.to_string())) {
            Ok(container) => state.receive(container),
            Err(e) => state.error.set(Some(e)),
        }
    });
}

async fn packed(name: &str, bytes: Uint8Array) -> Result<Vec<u8>, String> {
    match in_worker(name, &bytes) {
        Some(promise) => match JsFuture::from(promise).await {
            Ok(container) => Ok(Uint8Array::new(&container).to_vec()),
            // A worker that could not start says `null`; one that read and refused says why.
            Err(e) if e.is_null() => to_container(name, &bytes.to_vec()),
            Err(e) => Err(text(&e)),
        },
        None => to_container(name, &bytes.to_vec()),
    }
}

/// The worker's program: the page's own glue, minus what only a module may say, and a few lines.
fn worker_source(glue: &str) -> String {
    let end = glue.find("const memscopeBoot").unwrap_or(glue.len());
    let mut out = String::from("\"use strict\";\n");
    for line in glue[..end].lines() {
        if line.starts_with("export {") || line.starts_with("export default") {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        out.push_str(&line.replace("import.meta.url", "\"\""));
        out.push('\n');
    }
    out.push_str(
        "onmessage = async (m) => {\n\
           try { await __wbg_init({ module_or_path: m.data.program }); }\n\
           catch (e) { postMessage({ failed: null }); return; }\n\
           try { const out = read_report(m.data.name, m.data.bytes); postMessage({ out }, [out.buffer]); }\n\
           catch (e) { postMessage({ failed: String(e) }); }\n\
         };\n",
    );
    out
}

/// Starts a worker on the bytes; `None` where the page may not have one.
fn in_worker(name: &str, bytes: &Uint8Array) -> Option<js_sys::Promise> {
    let parts = Reflect::get(&js_sys::global(), &"memscopeWorker".into()).ok()?;
    let glue = Reflect::get(&parts, &"glue".into()).ok()?.as_string()?;
    let program = Reflect::get(&parts, &"program".into()).ok()?;
    if glue.is_empty() || program.is_undefined() {
        return None;
    }
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let source = Array::of1(&worker_source(&glue).into());
    let blob = Blob::new_with_str_sequence_and_options(&source, &options).ok()?;
    let url = Url::create_object_url_with_blob(&blob).ok()?;
    let worker = Worker::new(&url).ok()?;
    let message = Object::new();
    Reflect::set(&message, &"name".into(), &name.into()).ok()?;
    Reflect::set(&message, &"program".into(), &program).ok()?;
    Reflect::set(&message, &"bytes".into(), bytes).ok()?;
    Some(js_sys::Promise::new(
        &mut |resolve: Function, reject: Function| {
            let done = {
                let (worker, url) = (worker.clone(), url.clone());
                move || {
                    worker.terminate();
                    Url::revoke_object_url(&url).ok();
                }
            };
            let failed = reject.clone();
            let ended = done.clone();
            let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |m: MessageEvent| {
                ended();
                match Reflect::get(&m.data(), &"out".into()) {
                    Ok(out) if !out.is_undefined() => resolve.call1(&JsValue::NULL, &out).ok(),
                    _ => {
                        let why =
                            Reflect::get(&m.data(), &"failed".into()).unwrap_or(JsValue::NULL);
                        failed.call1(&JsValue::NULL, &why).ok()
                    }
                };
            });
            let broken = Closure::<dyn FnMut(web_sys::Event)>::new(move |e: web_sys::Event| {
                // Blocked by the page's host (a CSP without worker-src): read on the main thread.
                e.prevent_default();
                done();
                reject.call1(&JsValue::NULL, &JsValue::NULL).ok();
            });
            worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
            worker.set_onerror(Some(broken.as_ref().unchecked_ref()));
            heard.forget();
            broken.forget();
            if worker.post_message(&message).is_err() {
                worker.terminate();
            }
        },
    ))
}

fn text(e: &JsValue) -> String {
    e.as_string()
        .or_else(|| {
            Reflect::get(e, &"message".into())
                .ok()
                .and_then(|m| m.as_string())
        })
        .unwrap_or_else(|| "unknown error".to_owned())
}
