//! A snapshot of two devices: everything that is shown follows the device that is chosen.

use std::path::{Path, PathBuf};

use e2e::harness::{Options, Page, with};
use e2e::{file_url, render, units};
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::live::figures;
use crate::pages::temporary;

const MIB: u64 = 1 << 20;

/// A device's entries and its segment: blocks one behind the other, those of `freed` freed in turn.
fn device(number: u64, reserved: u64, sizes: &[u64], freed: &[usize]) -> (Vec<Value>, Value) {
    let base = 0x7000_0000_0000 + (number << 40);
    let mut clock = 1_000 + 500 * number;
    let mut entries = Vec::new();
    let mut entry = |action: &str, address: u64, size: u64, frames: Value| {
        clock += 3 + number;
        entries.push(json!({
            "action": action, "addr": address, "size": size, "stream": 0, "time_us": clock,
            "frames": frames,
        }));
    };
    entry("segment_alloc", base, reserved, json!([]));
    let (mut at, mut places, mut blocks) = (base, Vec::new(), Vec::new());
    for (i, &size) in sizes.iter().enumerate() {
        let line = 10 + i;
        let frames =
            json!([{ "filename": "/w/train.py", "name": format!("f{number}_{i}"), "line": line }]);
        entry("alloc", at, size, frames);
        let whole = size.next_multiple_of(512);
        let lives = !freed.contains(&i);
        blocks.push(json!({
            "address": at, "size": whole, "requested_size": if lives { size } else { 0 },
            "state": if lives { "active_allocated" } else { "inactive" }, "frames": [],
        }));
        places.push(at);
        at += whole;
    }
    for &i in freed {
        entry("free_requested", places[i], sizes[i], json!([]));
        entry("free_completed", places[i], sizes[i], json!([]));
    }
    let rest = base + reserved - at;
    blocks.push(json!({ "address": at, "size": rest, "requested_size": 0, "state": "inactive", "frames": [] }));
    let used: u64 = blocks
        .iter()
        .filter(|b| b["state"] != "inactive")
        .map(|b| b["size"].as_u64().unwrap())
        .sum();
    let segment = json!({
        "device": number, "address": base, "total_size": reserved, "stream": 0,
        "segment_type": "large", "allocated_size": used, "active_size": used, "blocks": blocks,
    });
    (entries, segment)
}

/// A snapshot of two devices as JSON; `more` is added to every size of the second.
fn write(name: &str, more: u64) -> PathBuf {
    let first = device(0, 64 * MIB, &[10 * MIB, 20 * MIB + 7, 5 * MIB], &[1]);
    let second = [33 * MIB + 1 + more, 60 * MIB + 9 + more];
    let second = device(1, 256 * MIB, &second, &[0]);
    let dump = json!({ "segments": [first.1, second.1], "device_traces": [first.0, second.0] });
    let path = temporary(name);
    std::fs::write(&path, dump.to_string()).unwrap();
    path
}

/// What a device's raw trace says: entries, highest and last requested bytes, sizes that live at
/// the highest.
struct Said {
    entries: usize,
    peak: u64,
    live: Vec<u64>,
    reserved: u64,
}

fn said(file: &Path, number: usize) -> Said {
    let dump: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let trace = dump["device_traces"][number].as_array().unwrap();
    let (mut open, mut peak, mut live, mut reserved) = (Vec::new(), 0, Vec::new(), 0);
    for e in trace {
        let (address, size) = (e["addr"].as_u64().unwrap(), e["size"].as_u64().unwrap());
        match e["action"].as_str().unwrap() {
            "alloc" => open.push((address, size)),
            "free_completed" => open.retain(|o| o.0 != address),
            "segment_alloc" => reserved += size,
            _ => {}
        }
        let now: u64 = open.iter().map(|o| o.1).sum();
        if now > peak {
            peak = now;
            live = open.iter().map(|o| o.1).collect();
            live.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    let entries = trace.len();
    Said {
        entries,
        peak,
        live,
        reserved,
    }
}

/// Whether every view speaks of a device.
async fn shows(page: &Page, number: usize, must: &Said) {
    let start = format!("Peak {} requested", units::size(must.peak));
    let there = format!(
        "document.querySelector(\"[data-testid='headline']\").textContent.startsWith({})",
        json!(start)
    );
    page.wait(&start, &there).await;
    page.settle().await;
    let facts = page.text("facts").await;
    assert!(
        facts.starts_with(&format!("cuda:{number}{} allocator events", must.entries)),
        "{facts}"
    );
    let title = page.js("return document.title").await;
    assert_eq!(
        title,
        json!(format!("MemScope: peak {}", units::size(must.peak)))
    );
    let chosen = page
        .js("return document.querySelector(\"[data-testid='device']\").value")
        .await;
    assert_eq!(chosen, json!(number.to_string()));
    page.tab("live").await;
    assert_eq!(figures(page, "live_stack", "bytes").await, must.live);
    page.catch_exports().await;
    page.click_css("[data-testid='csv']").await;
    let csv = page.taken().await;
    assert_eq!(csv.lines().count(), must.live.len() + 1, "{csv}");
    assert!(csv.contains(&must.live[0].to_string()), "{csv}");
    // The chart's picture, from its own drawing.
    page.click("memory-svg").await;
    let svg = page.taken().await;
    let mark = format!("peak {} requested", units::size(must.peak));
    assert!(svg.contains(&mark), "{mark} stands in the picture");
    page.tab("entries").await;
    assert_eq!(page.table("entries").await.rows.len(), must.entries);
    page.tab("state").await;
    let state = page.text("state-figures").await;
    assert!(state.contains(&units::size(must.reserved)), "{state}");
    page.tab("lines").await;
    assert_eq!(
        figures(page, "lines", "peak").await.iter().sum::<u64>(),
        must.peak
    );
}

#[test]
fn every_view_follows_the_device() {
    let file = write("two_devices.json", 0);
    let path = render(&[&file], temporary("two_devices.html"));
    let (first, second) = (said(&file, 0), said(&file, 1));
    assert_ne!(first.entries, second.entries);
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(&path)).await;
        // The longer history is shown first.
        shows(page, 0, &first).await;
        let options = page.find("device").await.text().await.unwrap();
        for (number, of) in [&first, &second].into_iter().enumerate() {
            let must = format!("cuda:{number} · {} reserved", units::size(of.reserved));
            assert!(options.contains(&must), "{options}");
        }
        page.choose("device", "1").await;
        shows(page, 1, &second).await;
        assert!(page.address().await.contains("device=1"));
        // A link opens the same device, and the key leads from one to the next.
        let link = page.address().await;
        page.open(&link).await;
        shows(page, 1, &second).await;
        page.js("document.activeElement.blur()").await;
        page.keys("d").await;
        shows(page, 0, &first).await;
        // By the keyboard alone.
        page.js("document.querySelector(\"[data-testid='device']\").focus()")
            .await;
        page.key(Key::Down).await;
        shows(page, 1, &second).await;
        // What the other device's name says is nothing of this one.
        page.open(&format!("{}#device=1&at=t1&view=live", file_url(&path)))
            .await;
        shows(page, 1, &second).await;
    });
}

#[test]
fn a_comparison_follows_the_device() {
    let (file, other) = (write("devices_a.json", 0), write("devices_b.json", 3 * MIB));
    let path = render(&[&file], temporary("devices_a.html"));
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#device=1", file_url(&path))).await;
        let input = page.find("open").await;
        input.send_keys(other.to_str().unwrap()).await.unwrap();
        page.wait(
            "the comparison",
            "document.getElementById('tab-compare')?.ariaSelected === 'true'",
        )
        .await;
        let by = said(&other, 1).peak - said(&file, 1).peak;
        let must = format!("B's peak is {} ", units::size(by));
        let head = page.text("headline").await;
        assert!(head.starts_with(&must), "{head}: {must}");
        page.choose("device", "0").await;
        // The first device is the same in both.
        let same =
            "!document.querySelector(\"[data-testid='headline']\").textContent.includes('higher')";
        page.wait("the other device on both sides", same).await;
        assert_eq!(said(&other, 0).peak, said(&file, 0).peak);
        // Swapped, the device stays.
        page.choose("device", "1").await;
        page.wait(
            "the device again",
            "document.querySelector(\"[data-testid='headline']\").textContent.includes('higher')",
        )
        .await;
        page.click("compare-swap").await;
        let must = format!("B's peak is {} (", units::size(by));
        let head = page.text("headline").await;
        assert!(
            head.starts_with(&must) && head.contains("lower"),
            "{head}: {must}"
        );
    });
}
