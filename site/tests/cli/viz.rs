//! `trace`, `stats` and `segments` held against what `torch.cuda._memory_viz` printed for the same
//! snapshots; where that is wrong, the test says so.

use std::collections::HashMap;
use std::io::Read as _;

use serde_json::Value;

use crate::support::{fixture, fixtures, memscope};

/// Snapshots with torch's printouts.
pub(crate) const SNAPSHOTS: [(&str, &str); 18] = [
    ("annotated", "snapshot.pickle.xz"),
    ("cpp_pickle", "snapshot.pickle.zst"),
    ("cuda_graphs", "snapshot.pickle"),
    ("cycle_garbage", "snapshot.pickle"),
    ("ddp/rank00000", "snapshot.pickle.xz"),
    ("ddp/rank00001", "snapshot.pickle.xz"),
    ("eval_accumulates", "snapshot.pickle.xz"),
    ("expandable_same_work", "snapshot.pickle"),
    ("gpt2_adamw_amp", "snapshot.pickle.xz"),
    ("gpt2_adamw_fp32", "snapshot.pickle.xz"),
    ("kv_cache_generate", "snapshot.pickle.xz"),
    ("multi_stream", "snapshot.pickle.xz"),
    ("oom_fragmentation", "snapshot.pickle"),
    ("oom_too_big", "snapshot.pickle.xz"),
    ("other_process", "snapshot.pickle"),
    ("outside_allocator", "snapshot.pickle"),
    ("resnet50_profiler", "snapshot.pickle.xz"),
    ("ring_overflow", "snapshot.pickle.xz"),
];

fn printed(folder: &str, what: &str) -> Option<String> {
    let path = fixtures().join(folder).join(format!("viz_{what}.txt.gz"));
    let file = std::fs::File::open(path).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    Some(text)
}

pub(crate) fn answer(verb: &str, folder: &str, file: &str, more: &[&str]) -> Value {
    let path = format!("{folder}/{file}");
    let mut arguments = vec![verb, &path, "--format", "json"];
    arguments.extend(more);
    serde_json::from_str(memscope(arguments).ok()).unwrap()
}

pub(crate) fn stat(folder: &str, name: &str) -> u64 {
    let truth: Value = serde_json::from_slice(&fixture(&format!("{folder}/truth.json"))).unwrap();
    truth["memory_stats"][name].as_u64().unwrap()
}

/// A size as torch prints it.
fn torch(bytes: i64) -> String {
    let mut n = bytes as f64;
    for unit in ["", "Ki", "Mi", "Gi"] {
        if n.abs() < 1024.0 {
            return format!("{n:.1}{unit}B");
        }
        n /= 1024.0;
    }
    format!("{n:.1}TiB")
}

/// One entry of torch's printout: its action, its address where that can be told, its size.
#[derive(Debug, PartialEq)]
struct Entry {
    action: &'static str,
    address: Option<u64>,
    size: String,
}

/// Reads torch's pseudo-Python; `segments` are the addresses behind its numbered names.
fn entries(text: &str, segments: &[u64]) -> Vec<Entry> {
    let mut names: HashMap<&str, u64> = HashMap::new();
    let mut out = Vec::new();
    let resolve = |names: &HashMap<&str, u64>, name: &str| match names.get(name) {
        Some(address) => Some(*address),
        // What was there before has no name but its address.
        None => name.parse().ok(),
    };
    for line in text.lines() {
        let mut push = |action, address, size: &str| {
            out.push(Entry {
                action,
                address,
                size: size.to_owned(),
            });
        };
        if let Some(rest) = line.strip_prefix("del ") {
            let (name, size) = rest.split_once(" # ").unwrap();
            push("free_requested", resolve(&names, name), size);
        } else if let Some(rest) = line.strip_prefix("# free completed for ") {
            let (name, size) = rest.split_once(' ').unwrap();
            push("free_completed", resolve(&names, name), size);
        } else if let Some(rest) = line.strip_prefix("cudaFree(") {
            let (name, size) = rest.split_once(") # ").unwrap();
            push("segment_free", resolve(&names, name), size);
        } else if let Some(rest) = line.strip_prefix("raise OutOfMemoryError # ") {
            let (size, free) = rest.split_once(" requested, ").unwrap();
            let free = free.strip_suffix(" free in CUDA").unwrap();
            push("oom", None, &format!("{size} of {free}"));
        } else if line.starts_with("{'action': '") {
            // What it has no words for is printed as it stands in the file.
            let field = |key: &str| {
                let (_, rest) = line.split_once(&format!("'{key}': ")).unwrap();
                rest.split([',', '}']).next().unwrap().to_owned()
            };
            let action = match field("action").as_str() {
                "'segment_map'" => "segment_map",
                "'segment_unmap'" => "segment_unmap",
                "'snapshot'" => "snapshot",
                other => panic!("{other}"),
            };
            let size = torch(field("size").parse().unwrap());
            push(action, field("addr").parse().ok(), &size);
        } else if let Some((name, made)) = line.split_once(" = ") {
            let address = if let Some(rest) = made.strip_prefix("cudaMalloc(") {
                let (address, size) = rest.strip_suffix(')').unwrap().split_once(", ").unwrap();
                let address = address.parse().ok();
                push("segment_alloc", address, size);
                address
            } else {
                let (base, rest) = made.strip_suffix(']').unwrap().split_once('[').unwrap();
                let (offset, size) = rest.split_once(':').unwrap();
                let offset: u64 = offset.parse().unwrap();
                let address = match base {
                    "MEM" => Some(offset),
                    // Segments from before have the number of their place in the file.
                    _ => Some(match base.strip_prefix("seg_") {
                        Some(n) => segments[n.parse::<usize>().unwrap()] + offset,
                        None => names[base] + offset,
                    }),
                };
                push("alloc", address, size);
                address
            };
            names.insert(name, address.unwrap());
        }
    }
    out
}

#[test]
fn the_trace_agrees_entry_by_entry() {
    let mut compared = 0;
    for (folder, file) in SNAPSHOTS {
        let Some(text) = printed(folder, "trace") else {
            continue;
        };
        let state = answer("segments", folder, file, &[]);
        let segments = state["segments"].as_array().unwrap().iter();
        let segments: Vec<u64> = segments.map(|s| s["address"].as_u64().unwrap()).collect();
        let theirs = entries(&text, &segments);
        let answer = answer("trace", folder, file, &[]);
        let ours = answer["entries"].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len(), "{folder}");
        assert!(
            text.contains(&format!("\n{} entries\n", ours.len())),
            "{folder}"
        );
        for (mine, its) in ours.iter().zip(&theirs) {
            let number = |key: &str| mine[key].as_i64();
            assert_eq!(mine["action"], its.action, "{folder} {mine}");
            let size = match number("device_free") {
                Some(free) => format!("{} of {}", torch(number("size").unwrap()), torch(free)),
                None => torch(number("size").unwrap()),
            };
            assert_eq!(size, its.size, "{folder} {mine}");
            let address = mine["address"].as_str().unwrap();
            let address = u64::from_str_radix(address.strip_prefix("0x").unwrap(), 16);
            if let Some(its) = its.address {
                assert_eq!(address, Ok(its), "{folder} {mine}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 17);
}

/// torch's running total is overwritten by the number of the entry, so what it prints in the end
/// is the number of the last entry, with that entry's own bytes added or taken away. Ours is what
/// the allocator itself says.
#[test]
fn torchs_total_is_wrong_and_ours_is_right() {
    for (folder, file) in SNAPSHOTS {
        let Some(text) = printed(folder, "trace") else {
            continue;
        };
        let answer = answer("trace", folder, file, &[]);
        let rows = answer["entries"].as_array().unwrap();
        let last = rows.last().unwrap();
        assert_eq!(
            last["requested"].as_u64(),
            Some(stat(folder, "requested_bytes.all.current")),
            "{folder}"
        );
        assert_eq!(
            last["reserved"].as_u64(),
            Some(stat(folder, "reserved_bytes.all.current")),
            "{folder}"
        );
        let size = last["size"].as_i64().unwrap();
        let own = match last["action"].as_str().unwrap() {
            "alloc" => size,
            "free_completed" => -size,
            _ => 0,
        };
        let total = format!("TOTAL MEM: {}", torch(rows.len() as i64 - 1 + own));
        assert!(text.contains(&total), "{folder}: {total}");
    }
}

/// What torch prints of a segment, from our figures.
fn segment_line(pages: &str, used: &Value, stream: &str) -> String {
    let n = |key: &str| used[key].as_i64().unwrap();
    format!(
        "[{pages}] {} allocated, {} free{}",
        torch(n("reserved")),
        free(&[used]),
        if stream == "0" {
            String::new()
        } else {
            format!(" stream_{stream}")
        }
    )
}

/// Free bytes as torch counts them: with what waits for another stream, and with what rounding
/// took, of which it says the share.
fn free(of: &[&Value]) -> String {
    let sum = |key: &str| of.iter().map(|u| u[key].as_i64().unwrap()).sum::<i64>();
    let all = sum("free") + sum("pending") + sum("rounding");
    if all == 0 {
        return torch(0);
    }
    let share = sum("rounding") as f64 / all as f64 * 100.0;
    format!("{} ({share:.1}% internal)", torch(all))
}

#[test]
fn stats_agree_with_torchs_page_maps_and_totals() {
    for (folder, file) in SNAPSHOTS {
        let text = printed(folder, "segsum").unwrap();
        let answer = answer("stats", folder, file, &[]);
        let parts: Vec<&Value> = answer["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| &p["use"])
            .collect();
        let sum = |key: &str| parts.iter().map(|u| u[key].as_i64().unwrap()).sum::<i64>();
        let mut mine = vec!["Summary of segments >= 20.0MiB in size".to_owned()];
        for s in answer["segments"].as_array().unwrap() {
            let pages = s["pages"].as_str().unwrap();
            mine.push(segment_line(
                pages,
                &s["use"],
                s["stream"].as_str().unwrap(),
            ));
        }
        mine.push(format!("segments: {}", sum("segments")));
        mine.push(format!("total_reserved: {}", torch(sum("reserved"))));
        mine.push(format!("total_allocated: {}", torch(sum("requested"))));
        mine.push(format!("total_free: {}", free(&parts)));
        let theirs: Vec<&str> = text.lines().take_while(|l| !l.is_empty()).collect();
        assert_eq!(mine, theirs, "{folder}");
        // What torch calls allocated is what was asked for; the allocator's own figures are these.
        for (total, name) in [
            ("allocated", "allocated_bytes"),
            ("active", "active_bytes"),
            ("reserved", "reserved_bytes"),
            ("requested", "requested_bytes"),
            ("inactive_split", "inactive_split_bytes"),
        ] {
            let its = stat(folder, &format!("{name}.all.current"));
            assert_eq!(
                answer["totals"][total].as_u64(),
                Some(its),
                "{folder} {total}"
            );
        }
        for (class, pool) in [("small", "small_pool"), ("large", "large_pool")] {
            let of_class = answer["parts"].as_array().unwrap().iter();
            let reserved: u64 = of_class
                .filter(|p| p["requests"] == class)
                .map(|p| p["use"]["reserved"].as_u64().unwrap())
                .sum();
            let its = stat(folder, &format!("reserved_bytes.{pool}.current"));
            assert_eq!(reserved, its, "{folder} {class}");
        }
    }
}

#[test]
fn segments_have_the_blocks_that_torch_adds_up() {
    for (folder, file) in SNAPSHOTS {
        let answer = answer("segments", folder, file, &[]);
        let text = printed(folder, "segsum").unwrap();
        let mut large = 0;
        let mut reserved = 0;
        for s in answer["segments"].as_array().unwrap() {
            let n = |v: &Value, key: &str| v[key].as_u64().unwrap();
            let blocks = s["blocks"].as_array().unwrap();
            // Blocks follow each other without gaps.
            let mut next = n(s, "address");
            for b in blocks {
                assert_eq!(n(b, "address"), next, "{folder}");
                next += n(b, "size");
            }
            assert_eq!(next, n(s, "address") + n(s, "size"), "{folder}");
            let of = |state: &str, key: &str| -> u64 {
                let blocks = blocks.iter().filter(|b| b["state"] == state);
                blocks.map(|b| n(b, key)).sum()
            };
            reserved += n(s, "size");
            if n(s, "size") < 20 << 20 {
                continue;
            }
            large += 1;
            let asked = of("active_allocated", "requested");
            let free = n(s, "size") - asked;
            let line = format!(
                "] {} allocated, {}",
                torch(n(s, "size") as i64),
                torch(free as i64)
            );
            assert!(text.contains(&line), "{folder}: {line}");
        }
        let lines = text.lines().filter(|l| l.starts_with('[')).count();
        assert_eq!(large, lines, "{folder}");
        assert_eq!(
            reserved,
            stat(folder, "reserved_bytes.all.current"),
            "{folder}"
        );
    }
}
