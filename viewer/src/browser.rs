//! Thin calls to the browser. Each answers "no" instead of failing: pages in sandboxes have no
//! storage, no clipboard, or no address of their own.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, HtmlElement, Url};

/// The window's document.
#[must_use]
pub fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}

/// The element with an id.
#[must_use]
pub fn element(id: &str) -> Option<web_sys::Element> {
    document()?.get_element_by_id(id)
}

/// The element that has the focus.
#[must_use]
pub fn focused() -> Option<HtmlElement> {
    document()?.active_element()?.dyn_into().ok()
}

/// Moves the focus to an element.
pub fn focus(id: &str) {
    if let Some(e) = element(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        e.focus().ok();
    }
}

/// Scrolls an element's scroller, not the page, so that the element shows.
pub fn into_view(e: &web_sys::Element) {
    let Some(scroller) = e.closest(".scroll").ok().flatten() else {
        return;
    };
    let (row, frame) = (
        e.get_bounding_client_rect(),
        scroller.get_bounding_client_rect(),
    );
    // The sticky head covers about two lines.
    let (above, below) = (
        row.top() - frame.top() - 48.0,
        row.bottom() - frame.bottom(),
    );
    let by = if above < 0.0 { above } else { below.max(0.0) };
    scroller.set_scroll_top(scroller.scroll_top() + by as i32);
}

/// The address's hash, with `#`.
#[must_use]
pub fn hash() -> String {
    web_sys::window()
        .and_then(|w| w.location().hash().ok())
        .unwrap_or_default()
}

/// What is shown first: what the page says, and over it what the address does.
#[must_use]
pub fn link() -> String {
    let body = document().and_then(|d| d.body());
    let own = body
        .and_then(|b| b.get_attribute("data-link"))
        .unwrap_or_default();
    // Where both speak of one thing, the later counts.
    format!("{own}&{}", hash().trim_start_matches('#'))
}

/// Replaces the address's hash without a new entry in the history.
pub fn set_hash(hash: &str) {
    let Some(window) = web_sys::window() else {
        return;
    };
    let url = format!("#{hash}");
    if let Ok(history) = window.history() {
        history
            .replace_state_with_url(&JsValue::NULL, "", Some(&url))
            .ok();
    }
}

/// Puts the address with another hash into the history, as a step that "back" takes back.
#[cfg(feature = "snapshot")]
pub fn push_hash(hash: &str) {
    let history = web_sys::window().and_then(|w| w.history().ok());
    if let Some(history) = history {
        let url = format!("#{hash}");
        history
            .push_state_with_url(&JsValue::NULL, "", Some(&url))
            .ok();
    }
}

/// The page's address.
#[must_use]
pub fn address() -> String {
    web_sys::window()
        .and_then(|w| w.location().href().ok())
        .unwrap_or_default()
}

/// The browser's first language.
#[must_use]
pub fn language() -> String {
    web_sys::window()
        .and_then(|w| w.navigator().language())
        .unwrap_or_default()
}

/// Whether the system asks for dark ground.
#[must_use]
pub fn prefers_dark() -> bool {
    web_sys::window()
        .and_then(|w| w.match_media("(prefers-color-scheme: dark)").ok().flatten())
        .is_some_and(|m| m.matches())
}

/// Device pixels per CSS pixel.
#[must_use]
pub fn pixel_ratio() -> f64 {
    web_sys::window().map_or(1.0, |w| w.device_pixel_ratio().clamp(0.5, 4.0))
}

/// Runs `f` before the next frame.
pub fn next_frame(f: impl FnOnce() + 'static) {
    let f = Closure::once_into_js(f);
    if let Some(window) = web_sys::window() {
        window.request_animation_frame(f.unchecked_ref()).ok();
    }
}

/// Offers bytes as a download.
pub fn download(name: &str, mime: &str, bytes: &[u8]) -> bool {
    let parts = Array::of1(&Uint8Array::from(bytes));
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let Ok(blob) = Blob::new_with_u8_array_sequence_and_options(&parts, &options) else {
        return false;
    };
    let Ok(url) = Url::create_object_url_with_blob(&blob) else {
        return false;
    };
    let link = document()
        .and_then(|d| d.create_element("a").ok())
        .and_then(|e| e.dyn_into::<HtmlAnchorElement>().ok());
    let Some(link) = link else { return false };
    link.set_href(&url);
    link.set_download(name);
    link.click();
    // Revoked later: some browsers read the blob only after the click has returned.
    let revoke = Closure::once_into_js(move || {
        Url::revoke_object_url(&url).ok();
    });
    if let Some(window) = web_sys::window() {
        window
            .set_timeout_with_callback_and_timeout_and_arguments_0(revoke.unchecked_ref(), 10_000)
            .ok();
    }
    true
}

/// Puts text on the clipboard; `done` hears whether it worked.
pub fn copy(text: &str, done: impl FnOnce(bool) + 'static) {
    let clipboard = web_sys::window().map(|w| w.navigator().clipboard());
    // Absent in insecure contexts, whatever its type says.
    let promise = clipboard
        .filter(|c| !AsRef::<JsValue>::as_ref(c).is_undefined())
        .map(|c| c.write_text(text));
    let text = text.to_owned();
    wasm_bindgen_futures::spawn_local(async move {
        let ok = match promise {
            Some(p) => wasm_bindgen_futures::JsFuture::from(p).await.is_ok(),
            None => false,
        };
        done(ok || copy_by_selection(&text));
    });
}

/// The old way, which works from `file://` and in sandboxes.
fn copy_by_selection(text: &str) -> bool {
    let area = document().and_then(|d| {
        let area = d.create_element("textarea").ok()?;
        d.body()?.append_child(&area).ok()?;
        area.dyn_into::<web_sys::HtmlTextAreaElement>().ok()
    });
    let Some(area) = area else { return false };
    area.set_value(text);
    area.select();
    let command = js_sys::Reflect::get(&js_sys::global(), &"document".into())
        .and_then(|d| js_sys::Reflect::get(&d, &"execCommand".into()).map(|f| (d, f)));
    let ok = command.is_ok_and(|(d, f)| {
        f.dyn_into::<js_sys::Function>()
            .ok()
            .and_then(|f| f.call1(&d, &"copy".into()).ok())
            .is_some_and(|v| v.is_truthy())
    });
    area.remove();
    ok
}

/// Whether the user is typing, so that letter keys are not commands.
#[must_use]
pub fn typing(event: &web_sys::KeyboardEvent) -> bool {
    event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok())
        .is_some_and(|e| match e.tag_name().as_str() {
            // A check box takes no letters.
            "INPUT" => e.get_attribute("type").is_none_or(|t| t != "checkbox"),
            tag => matches!(tag, "TEXTAREA" | "SELECT"),
        })
}
