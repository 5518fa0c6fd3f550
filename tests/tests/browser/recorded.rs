//! Pages of runs that the collector recorded, against the journals' own lines.

use std::collections::BTreeMap;
use std::path::Path;

use e2e::fixture;
use e2e::harness::{Options, Page, with};
use e2e::units;
use serde_json::Value;

use crate::live::{figures, open};

/// Every record of a rank's journals by one writer, in order.
fn records(rank: &Path, writer: &str) -> Vec<Value> {
    let mut all: Vec<Value> = std::fs::read_dir(rank.join("journal"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|f| f.to_string_lossy().contains(&format!(".{writer}.")))
        .flat_map(|f| {
            let text = std::fs::read_to_string(f).unwrap();
            let lines = text.lines().map(|l| serde_json::from_str(l).unwrap());
            lines.collect::<Vec<Value>>()
        })
        .collect();
    all.sort_by_key(|r| r["seq"].as_u64());
    all
}

fn of<'a>(all: &'a [Value], kind: &str) -> Vec<&'a Value> {
    all.iter().filter(|r| r["k"] == kind).collect()
}

#[test]
fn device_memory_is_what_driver_and_allocator_said() {
    let rank = fixture("recorded/train/rank00000");
    let driver = records(&rank, "driver");
    let last = *of(&driver, "live").last().unwrap();
    // The allocator's own calls are what it holds; the others' are named.
    let mut libraries: BTreeMap<String, u64> = BTreeMap::new();
    for by in last["by"].as_array().unwrap() {
        if by["lib"] != "libc10_cuda.so" && by["kind"] == "device" {
            *libraries
                .entry(by["lib"].as_str().unwrap().to_owned())
                .or_default() += by["bytes"].as_u64().unwrap();
        }
    }
    assert!(libraries.len() > 1, "{libraries:?}");
    let python = records(&rank, "python");
    let reserved = of(&python, "sample").last().unwrap()["reserved"]
        .as_u64()
        .unwrap();
    with(Options::default(), async |page: &Page| {
        open(page, "recorded/train", "view=device").await;
        let table = page.table("device_memory").await;
        let end: BTreeMap<String, u64> = table
            .column("holder")
            .iter()
            .zip(table.column("kind"))
            .zip(table.column("end"))
            .filter(|((_, kind), _)| kind.text != "pinned")
            .filter_map(|((holder, _), end)| {
                Some((holder.text.clone(), end.raw.as_ref()?.parse().ok()?))
            })
            .collect();
        for (library, bytes) in &libraries {
            assert_eq!(end.get(library), Some(bytes), "{library} in {end:?}");
        }
        assert_eq!(end.get("allocator, reserved"), Some(&reserved));
        assert_eq!(
            end.get("CUDA context").copied(),
            last["context"].as_u64(),
            "{end:?}"
        );
        // Parts and rest are the whole.
        let whole = end["device used"];
        let sum: u64 = end
            .iter()
            .filter(|(k, _)| *k != "device used")
            .map(|(_, v)| v)
            .sum();
        assert_eq!(sum, whole, "{end:?}");
    });
}

#[test]
fn what_is_known_by_name_is_the_inventory() {
    let rank = fixture("recorded/train/rank00000");
    let python = records(&rank, "python");
    let inventories = of(&python, "inventory");
    // The most complete one is shown: of equals the last.
    let items = inventories
        .iter()
        .map(|i| i["items"].as_array().unwrap())
        .max_by_key(|i| i.len())
        .unwrap();
    let mut sums: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for item in items {
        let storage = item["storage"].as_str().unwrap_or("");
        let bytes = item["storage_bytes"]
            .as_u64()
            .or(item["bytes"].as_u64())
            .unwrap();
        sums.entry(item["kind"].as_str().unwrap())
            .or_default()
            .insert(storage, bytes);
    }
    let parameters: u64 = sums["parameter"].values().sum();
    with(Options::default(), async |page: &Page| {
        open(page, "recorded/train", "view=names").await;
        let table = page.table("by_kind_sums").await;
        let shown: BTreeMap<String, u64> = table
            .column("kind")
            .iter()
            .zip(table.column("bytes"))
            .map(|(kind, bytes)| {
                (
                    kind.text.clone(),
                    bytes.raw.as_ref().unwrap().parse().unwrap(),
                )
            })
            .collect();
        assert_eq!(shown.get("parameter"), Some(&parameters), "{shown:?}");
        let rows = figures(page, "by_name", "bytes").await;
        assert!(!rows.is_empty());
        // The snapshot's allocations at these addresses are parameters, and no guess.
        open(page, "recorded/train", "view=live&group=category&at=end").await;
        page.settle().await;
        let said = page.js("return document.body.innerText").await;
        let said = said.as_str().unwrap();
        assert!(said.contains("parameters (recorded)"), "{said}");
        assert!(said.contains(&units::size(parameters)), "{said}");
    });
}

#[test]
fn an_out_of_memory_is_the_first_line() {
    let rank = fixture("recorded/oom/rank00000");
    let python = records(&rank, "python");
    let oom = of(&python, "oom")[0];
    let requested = oom["requested"].as_u64().unwrap();
    with(Options::default(), async |page: &Page| {
        open(page, "recorded/oom", "").await;
        let headline = page.text("headline").await;
        let start = format!(
            "Out of memory: {} asked for, {} free on the device — step {}",
            units::size(requested),
            units::size(oom["device_free"].as_u64().unwrap()),
            oom["step"]
        );
        assert!(headline.starts_with(&start), "{headline}");
    });
}

#[test]
fn two_ranks_are_side_by_side() {
    let folder = fixture("recorded/ranks");
    let peak = |rank: &str| {
        let python = records(&folder.join(rank), "python");
        let samples = of(&python, "sample");
        samples
            .iter()
            .filter_map(|s| s["max_allocated"].as_u64())
            .max()
            .unwrap()
    };
    let (first, second) = (peak("rank00000"), peak("rank00001"));
    // What torch said of these runs: see the fixture's README.
    assert_eq!((first, second), (297_598_976, 462_937_088));
    with(Options::default(), async |page: &Page| {
        open(page, "recorded/ranks", "view=device").await;
        let said = page.text("imbalance").await;
        assert!(!said.is_empty());
        let body = page.js("return document.body.innerText").await;
        let body = body.as_str().unwrap();
        for peak in [first, second] {
            assert!(body.contains(&units::size(peak)), "{peak}: {body}");
        }
    });
}
