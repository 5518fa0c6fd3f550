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
    packed_lightly(name, &report)
}

fn packed_lightly(name: &str, report: &report::model::Report) -> Result<Vec<u8>, String> {
    let generator = concat!("memscope ", env!("CARGO_PKG_VERSION"), " viewer");
    pack(report, generator, Level(1)).map_err(|e| format!("{name}: {e}"))
}

/// Bytes of a file that are read at once.
#[cfg(feature = "snapshot")]
const PIECE: usize = 2 << 20;

/// How the worker reads what it is given.
#[cfg(feature = "snapshot")]
const READ: &str = "read_file(m.data.name, m.data.content, (share) => postMessage({ share }))";
#[cfg(not(feature = "snapshot"))]
const READ: &str = "read_report(m.data.name, m.data.content)";

/// Reads a file and shows it.
pub fn open_file(state: State, file: File) {
    let name = file.name();
    state.error.set(None);
    state.progress.set(None);
    state.reading.set(Some(name.clone()));
    spawn_local(async move {
        let result = packed(state, &name, &file).await;
        state.reading.set(None);
        match result.and_then(|bytes| Container::open(&name, bytes).map_err(|e| e.to_string())) {
            Ok(container) => state.receive(container),
            Err(e) => state.error.set(Some(e)),
        }
    });
}

async fn packed(state: State, name: &str, file: &File) -> Result<Vec<u8>, String> {
    // Readers that can read in pieces get the file, others its bytes.
    #[cfg(feature = "snapshot")]
    let content: JsValue = file.into();
    #[cfg(not(feature = "snapshot"))]
    let content: JsValue = Uint8Array::new(&buffer(name, file).await?).into();
    if let Some(promise) = in_worker(state, name, &content) {
        match JsFuture::from(promise).await {
            Ok(container) => return Ok(Uint8Array::new(&container).to_vec()),
            // A worker that could not start says `null`; one that read and refused says why.
            Err(e) if e.is_null() => {}
            Err(e) => return Err(text(&e)),
        }
    }
    let bytes = Uint8Array::new(&buffer(name, file).await?);
    to_container(name, &bytes.to_vec())
}

async fn buffer(name: &str, file: &File) -> Result<JsValue, String> {
    JsFuture::from(file.array_buffer())
        .await
        .map_err(|e| format!("{name}: the browser could not read the file: {}", text(&e)))
}

/// A file that is read in pieces as they are asked for, which a worker may.
#[cfg(feature = "snapshot")]
struct Pieces<'a> {
    reader: web_sys::FileReaderSync,
    file: File,
    /// Bytes read so far, and in all.
    at: f64,
    size: f64,
    progress: &'a Function,
    /// The percent that was told last.
    told: f64,
}

#[cfg(feature = "snapshot")]
impl std::io::Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let end = (self.at + into.len() as f64).min(self.size);
        if end <= self.at {
            return Ok(0);
        }
        let failed = |e: JsValue| std::io::Error::other(text(&e));
        let piece = self
            .file
            .slice_with_f64_and_f64(self.at, end)
            .map_err(failed)?;
        let bytes = self.reader.read_as_array_buffer(&piece).map_err(failed)?;
        let bytes = Uint8Array::new(&bytes);
        let length = (bytes.length() as usize).min(into.len());
        let Some(part) = into.get_mut(..length) else {
            return Ok(0);
        };
        bytes.subarray(0, length as u32).copy_to(part);
        self.at += length as f64;
        let percent = (100.0 * self.at / self.size).floor();
        if percent > self.told {
            self.told = percent;
            let share = JsValue::from_f64(percent / 100.0);
            self.progress.call1(&JsValue::NULL, &share).ok();
        }
        Ok(length)
    }
}

/// As [`to_container`], from a file, in a worker.
#[cfg(feature = "snapshot")]
pub(crate) fn file_to_container(
    name: &str,
    file: File,
    progress: &Function,
) -> Result<Vec<u8>, String> {
    let reader = web_sys::FileReaderSync::new().map_err(|e| text(&e))?;
    let size = file.size();
    let pieces = Pieces {
        reader,
        file,
        at: 0.0,
        size,
        progress,
        told: 0.0,
    };
    // A call into the browser costs as much as copying some hundred kilobytes.
    let source = std::io::BufReader::with_capacity(PIECE, pieces);
    let report = report::read::read_sized(name, source, Some(size as u64));
    let report = report.map_err(|e| e.to_string())?;
    packed_lightly(name, &report)
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
           try { const out = ",
    );
    out.push_str(READ);
    out.push_str(
        "; postMessage({ out }, [out.buffer]); }\n\
           catch (e) { postMessage({ failed: typeof e == \"string\" ? e : 0 }); }\n\
         };\n",
    );
    out
}

/// Starts a worker on the file or its bytes; `None` where the page may not have one.
fn in_worker(state: State, name: &str, content: &JsValue) -> Option<js_sys::Promise> {
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
    Reflect::set(&message, &"content".into(), content).ok()?;
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
            let name = name.to_owned();
            let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |m: MessageEvent| {
                let share = Reflect::get(&m.data(), &"share".into());
                if let Some(share) = share.ok().and_then(|s| s.as_f64()) {
                    state.progress.set(Some(share));
                    return;
                }
                ended();
                match Reflect::get(&m.data(), &"out".into()) {
                    Ok(out) if !out.is_undefined() => resolve.call1(&JsValue::NULL, &out).ok(),
                    _ => {
                        let mut why =
                            Reflect::get(&m.data(), &"failed".into()).unwrap_or(JsValue::NULL);
                        // A program that stopped: its own words name an instruction.
                        if why.as_f64().is_some() {
                            why = stopped(&name).into();
                        }
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

/// What is said when reading ended without an answer.
fn stopped(name: &str) -> String {
    format!(
        "{name}: reading stopped, most likely for want of memory in the browser; make the report \
         outside of it: memscope render {name}"
    )
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
