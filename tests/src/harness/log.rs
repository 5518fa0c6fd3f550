//! What the browser saw: requests and the console.

use serde_json::Value;

use super::Page;

/// Requests that a page must not make, and errors and warnings that no test expects.
pub(super) async fn faults(page: &Page, port: Option<u16>) -> Vec<String> {
    let mut out = Vec::new();
    for entry in page
        .driver
        .get_log("performance")
        .await
        .expect("the performance log")
    {
        let message: Value = serde_json::from_str(&entry.message).expect("JSON");
        let (method, params) = (&message["message"]["method"], &message["message"]["params"]);
        let url = match method.as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => params["request"]["url"].as_str(),
            "Network.webSocketCreated" | "Network.webTransportCreated" => params["url"].as_str(),
            "Page.javascriptDialogOpening" => {
                out.push(format!("dialog: {params}"));
                None
            }
            _ => None,
        };
        let Some(url) = url else { continue };
        let document = params["type"] == "Document";
        let own = url.starts_with("file://") && document
            || ["data:", "blob:", "about:"]
                .iter()
                .any(|s| url.starts_with(s))
            || port.is_some_and(|p| {
                let host = format!("http://127.0.0.1:{p}/");
                url.starts_with(&host) && (document || url.ends_with("/favicon.ico"))
            });
        if !own {
            out.push(format!("request: {url}"));
        }
    }
    let expected = page.expected.lock().expect("no panic before").clone();
    for entry in page.driver.browser_log().await.expect("the console") {
        let severe = matches!(entry.level.as_str(), "SEVERE" | "WARNING");
        if severe && !expected.iter().any(|e| entry.message.contains(e)) {
            out.push(format!("console: {} {}", entry.level, entry.message));
        }
    }
    out
}
