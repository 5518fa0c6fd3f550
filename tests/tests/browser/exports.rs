//! Real downloads into a real folder.

use std::path::{Path, PathBuf};

use e2e::expect;
use e2e::harness::{Page, on};
use serde_json::{Value, json};

use crate::pages;

/// Sends downloads into an empty folder.
async fn downloads(page: &Page, name: &str) -> PathBuf {
    let folder = pages::temporary(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let params = json!({ "behavior": "allow", "downloadPath": folder });
    page.cdp("Browser.setDownloadBehavior", params).await;
    folder
}

/// Clicks and waits for the file.
async fn download(page: &Page, button: &str, folder: &Path, name: &str) -> Vec<u8> {
    page.click(button).await;
    let path = folder.join(name);
    for _ in 0..400 {
        if let Ok(bytes) = std::fs::read(&path)
            && !bytes.is_empty()
        {
            return bytes;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let there: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    panic!("{button} gave no {name}; there are {there:?}");
}

/// RFC 4180.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            _ => field.push(c),
        }
    }
    assert!(
        field.is_empty() && row.is_empty() && !quoted,
        "the last line ends"
    );
    rows
}

#[test]
fn csv_and_json_hold_every_row() {
    let run = pages::single_run();
    on(pages::single(), async |page: &Page| {
        let folder = downloads(page, "tables").await;
        page.tab("top").await;
        page.click("each").await;
        let mut must = expect::events(&run, |_| true);
        expect::sort(&mut must, 6, true, false);
        let text =
            String::from_utf8(download(page, "csv", &folder, "memscope-events.csv").await).unwrap();
        let rows = csv(&text);
        assert_eq!(rows.len(), must.len() + 1);
        for (is, must) in rows[1..].iter().zip(&must) {
            let must: Vec<&str> = must
                .iter()
                .map(|c| c.raw.as_deref().unwrap_or(&c.text))
                .collect();
            assert_eq!(is, &must);
        }
        page.tab("phases").await;
        let bytes = download(page, "json", &folder, "memscope-phases.json").await;
        let rows: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
        let must = expect::phases(&run);
        assert_eq!(rows.len(), must.len());
        for (is, must) in rows.iter().zip(&must) {
            assert_eq!(is["phase"], must[0].text.as_str());
            for (id, cell) in ["count", "max_allocated", "max_delta", "sum_delta"]
                .iter()
                .zip(&must[1..])
            {
                assert_eq!(Some(is[*id].to_string()), cell.raw, "{id}");
            }
        }
    });
}

#[test]
fn charts_as_svg_and_png() {
    pages::on_rank(0, async |page: &Page| {
        let folder = downloads(page, "charts").await;
        for (tab, chart, words) in [
            ("peak", "timeline", "peak 2.59 GiB"),
            ("peak", "peak", "624 MiB"),
            ("phases", "phases", "forward_backward_end"),
        ] {
            page.tab(tab).await;
            let svg = download(
                page,
                &format!("{chart}-svg"),
                &folder,
                &format!("memscope-{chart}.svg"),
            )
            .await;
            let svg = String::from_utf8(svg).unwrap();
            assert!(
                svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"),
                "{chart}"
            );
            assert!(svg.contains(words), "{chart}.svg names {words}");
            assert!(!svg.contains("<script") && !svg.contains("href"), "{chart}");
            let png = download(
                page,
                &format!("{chart}-png"),
                &folder,
                &format!("memscope-{chart}.png"),
            )
            .await;
            assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
            let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
            let shown = page
                .js("return document.querySelector('canvas.base').width")
                .await;
            assert!(
                width > 300 && u64::from(width) <= shown.as_u64().unwrap() + 60,
                "{chart} is {width} wide"
            );
            assert!(png.len() > 500, "{chart}.png has {} bytes", png.len());
        }
    });
}
