//! A page in the browser, and what a person does with it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

/// How long anything may take that should happen at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// A page in the browser.
pub struct Page {
    /// The session.
    pub driver: WebDriver,
    pub(super) expected: Mutex<Vec<String>>,
}

impl Page {
    /// Errors that contain this are no failure.
    pub fn expect(&self, part: &str) {
        self.expected
            .lock()
            .expect("no panic before")
            .push(part.to_owned());
    }

    /// A call of Chromium's own protocol.
    pub async fn cdp(&self, method: &str, params: Value) -> Value {
        let answer = self.driver.cdp().send_raw(method, params).await;
        answer.unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    /// What the system says of light and dark.
    pub async fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.cdp("Emulation.setEmulatedMedia", feature).await;
    }

    /// Goes to an address.
    pub async fn goto(&self, url: &str) {
        self.driver
            .goto(url)
            .await
            .unwrap_or_else(|e| panic!("{url}: {e}"));
    }

    /// Goes to an address and waits until the viewer has started and drawn. A page that differs
    /// in its hash alone is loaded anew as well.
    pub async fn open(&self, url: &str) {
        self.goto("about:blank").await;
        self.goto(url).await;
        self.started().await;
    }

    /// Waits until the viewer has started and drawn.
    pub async fn started(&self) {
        let start = "globalThis.memscopeMarks?.started || document.getElementById('memscope-error')?.textContent";
        let said = self.wait("the viewer has started", start).await;
        assert!(said.is_number(), "the viewer did not start: {said}");
        self.settle().await;
    }

    /// Runs a script: the body of a function.
    pub async fn js(&self, script: &str) -> Value {
        self.js_with(script, Vec::new()).await
    }

    /// Runs a script with `arguments`.
    pub async fn js_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        let answer = self.driver.execute(script, arguments).await;
        answer
            .unwrap_or_else(|e| panic!("{script}: {e}"))
            .json()
            .clone()
    }

    /// Runs an async function's body.
    pub async fn js_async(&self, body: &str, arguments: Vec<Value>) -> Value {
        let script = format!(
            "const a = [...arguments], done = a.pop(); \
             (async (...arguments) => {{ {body} }})(...a).then(v => done({{ v }}), e => done({{ e: String(e?.stack ?? e) }}));"
        );
        let answer = self.driver.execute_async(script, arguments).await;
        let answer = answer
            .unwrap_or_else(|e| panic!("{body}: {e}"))
            .json()
            .clone();
        assert!(answer["e"].is_null(), "{body}: {}", answer["e"]);
        answer["v"].clone()
    }

    /// Two frames: what was to be drawn is drawn.
    pub async fn settle(&self) {
        self.js_async(
            "for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);",
            Vec::new(),
        )
        .await;
    }

    /// Waits until an expression is neither null, false, 0 nor empty, and gives it.
    pub async fn wait(&self, what: &str, expression: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.js(&format!("return {expression};")).await;
            let yes = match &value {
                Value::Null | Value::Bool(false) => false,
                Value::String(s) => !s.is_empty(),
                Value::Number(n) => n.as_f64() != Some(0.0),
                _ => true,
            };
            if yes {
                return value;
            }
            assert!(
                Instant::now() < end,
                "waited in vain: {what} ({expression})"
            );
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// The element with a `data-testid`.
    pub async fn find(&self, id: &str) -> WebElement {
        self.css(&format!("[data-testid='{id}']")).await
    }

    /// The first element that a selector finds.
    pub async fn css(&self, selector: &str) -> WebElement {
        let found = self.driver.find(By::Css(selector)).await;
        found.unwrap_or_else(|e| panic!("{selector}: {e}"))
    }

    /// The text of the element with a `data-testid`.
    pub async fn text(&self, id: &str) -> String {
        let script =
            "return document.querySelector(`[data-testid='${arguments[0]}']`)?.textContent ?? null";
        match self.js_with(script, vec![json!(id)]).await {
            Value::String(s) => s,
            _ => panic!("nothing has the data-testid {id}"),
        }
    }

    /// Whether a selector finds anything.
    pub async fn has(&self, selector: &str) -> bool {
        let script = "return !!document.querySelector(arguments[0])";
        self.js_with(script, vec![json!(selector)]).await == json!(true)
    }

    /// Clicks as a person does: the element must be in sight and not covered.
    pub async fn click(&self, id: &str) {
        let element = self.find(id).await;
        element
            .click()
            .await
            .unwrap_or_else(|e| panic!("clicking {id}: {e}"));
        self.settle().await;
    }

    /// Clicks the first element that a selector finds.
    pub async fn click_css(&self, selector: &str) {
        let element = self.css(selector).await;
        element
            .click()
            .await
            .unwrap_or_else(|e| panic!("clicking {selector}: {e}"));
        self.settle().await;
    }

    /// Goes to a tab by a click.
    pub async fn tab(&self, view: &str) {
        self.click_css(&format!("#tab-{view}")).await;
    }

    /// Presses keys, wherever the focus is.
    pub async fn keys(&self, keys: &str) {
        let pressed = self.driver.action_chain().send_keys(keys).perform().await;
        pressed.unwrap_or_else(|e| panic!("pressing {keys:?}: {e}"));
        self.settle().await;
    }

    /// Presses one key that has a name.
    pub async fn key(&self, key: Key) {
        self.keys(&key.value().to_string()).await;
    }

    /// Chooses an option of a list by its value.
    pub async fn choose(&self, id: &str, value: &str) {
        let list = self.find(id).await;
        let option = list.find(By::Css(format!("option[value='{value}']"))).await;
        option
            .unwrap_or_else(|e| panic!("{id} has no {value:?}: {e}"))
            .click()
            .await
            .expect("a click");
        self.settle().await;
    }

    /// Replaces what stands in an input.
    pub async fn fill(&self, id: &str, text: &str) {
        let script = "const e = document.querySelector(`[data-testid='${arguments[0]}']`); e.focus(); e.select();";
        self.js_with(script, vec![json!(id)]).await;
        let key = Key::Delete.value().to_string();
        self.keys(if text.is_empty() { &key } else { text }).await;
    }

    /// The address.
    pub async fn address(&self) -> String {
        self.js("return location.href")
            .await
            .as_str()
            .expect("an address")
            .to_owned()
    }

    /// What has the focus: its id, else its `data-testid`, else its name in lower case.
    pub async fn focused(&self) -> String {
        let script = "const e = document.activeElement; return e.id || e.dataset.testid || e.tagName.toLowerCase()";
        self.js(script).await.as_str().expect("a name").to_owned()
    }

    /// A PNG of what is in sight.
    pub async fn shot(&self) -> Vec<u8> {
        self.driver.screenshot_as_png().await.expect("a screenshot")
    }

    /// The page printed.
    pub async fn pdf(&self) -> Vec<u8> {
        let answer = self
            .cdp("Page.printToPDF", json!({ "printBackground": true }))
            .await;
        let text = answer["data"].as_str().expect("data");
        base64::engine::general_purpose::STANDARD
            .decode(text)
            .expect("base64")
    }

    /// From now on keeps what the page offers as downloads and puts on the clipboard, instead of
    /// giving it to the browser; see [`Self::taken`].
    pub async fn catch_exports(&self) {
        self.js(
            "window.__taken = []; \
             URL.createObjectURL = (b) => { window.__taken.push(b); return 'blob:kept'; }; \
             HTMLAnchorElement.prototype.click = function () { window.__name = this.download; }; \
             const clipboard = { writeText: (t) => { window.__taken.push(new Blob([t])); return Promise.resolve(); } }; \
             Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });",
        )
        .await;
    }

    /// The last of what [`Self::catch_exports`] kept.
    pub async fn taken(&self) -> String {
        let body = "const b = window.__taken.pop(); return b ? await b.text() : null;";
        match self.js_async(body, Vec::new()).await {
            Value::String(s) => s,
            _ => panic!("nothing was exported"),
        }
    }
}
