//! Chromium through chromedriver. One chromedriver serves all tests that run at the time; each
//! test has a browser of its own with an empty profile.
//!
//! The network is off: every request goes to a [`Trap`], and names resolve to nothing. A test
//! fails on any request but that of its page, on any error in the console, and on any dialog.

mod driver;
mod log;
mod page;
mod table;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;
use thirtyfour::prelude::*;

pub use page::Page;
pub use table::{Cell, Table};

use crate::serve::Trap;

/// How a browser is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// What `navigator.language` says.
    pub lang: &'static str,
    /// Whether the system asks for dark ground.
    pub dark: bool,
    /// Viewport in CSS pixels.
    pub size: (u32, u32),
    /// Whether pages may run scripts.
    pub scripts: bool,
    /// A port of 127.0.0.1 that may be asked for pages.
    pub port: Option<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lang: "en-US",
            dark: false,
            size: (1280, 800),
            scripts: true,
            port: None,
        }
    }
}

/// Runs a test with a browser of its own.
pub fn with(options: Options, test: impl AsyncFnOnce(&Page)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let server = driver::shared();
        let trap = Trap::set();
        let driver = WebDriver::new(&server.url, capabilities(&options, trap.port))
            .await
            .unwrap_or_else(|e| {
                panic!(
                    "chromedriver could not start Chromium: {e}\n{}",
                    driver::INSTALL
                )
            });
        let ended = driver
            .run_and_quit(async |driver| {
                let page = Page {
                    driver,
                    expected: Mutex::default(),
                };
                prepare(&page, &options).await;
                test(&page).await;
                let faults = log::faults(&page, options.port).await;
                assert!(
                    faults.is_empty(),
                    "the page made requests or said errors:\n{}",
                    faults.join("\n")
                );
                Ok::<(), WebDriverError>(())
            })
            .await;
        ended.expect("the browser quits");
        let caught = trap.caught();
        assert!(caught.is_empty(), "requests left the page: {caught:?}");
        drop(Arc::clone(&server));
    });
}

/// Runs a test on a page that has started.
pub fn on(path: &Path, test: impl AsyncFnOnce(&Page)) {
    let url = crate::file_url(path);
    with(Options::default(), async |page: &Page| {
        page.open(&url).await;
        test(page).await;
    });
}

fn capabilities(options: &Options, proxy: u16) -> thirtyfour::ChromeCapabilities {
    let mut caps = DesiredCapabilities::chrome();
    let binary = std::env::var("CHROME").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if Path::new(&binary).exists() {
        caps.set_binary(&binary).expect("a path");
    }
    let own = options
        .port
        .map_or(String::new(), |p| format!(";127.0.0.1:{p}"));
    let mut arguments: Vec<String> = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-features=OptimizationHints,MediaRouter,Translate",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(format!("--proxy-server=127.0.0.1:{proxy}"));
    arguments.push(format!("--proxy-bypass-list=<-loopback>{own}"));
    arguments.push(format!("--lang={}", options.lang));
    arguments.push(format!("--accept-lang={}", options.lang));
    for a in &arguments {
        caps.add_arg(a).expect("an argument");
    }
    let mut prefs = json!({ "intl.accept_languages": options.lang });
    if !options.scripts {
        prefs["profile.managed_default_content_settings.javascript"] = json!(2);
    }
    caps.add_experimental_option("prefs", prefs)
        .expect("preferences");
    for kind in ["browser", "performance"] {
        caps.set_logging_prefs(kind, thirtyfour::LoggingPrefsLogLevel::All)
            .expect("a level");
    }
    caps
}

async fn prepare(page: &Page, options: &Options) {
    let (width, height) = options.size;
    page.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
    )
    .await;
    page.dark(options.dark).await;
}
