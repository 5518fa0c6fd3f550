//! The library that the driver loads, against the simulated driver: what is recorded, what survives,
//! what is said where it cannot be recorded.

#![allow(clippy::unwrap_used)]

mod program;
mod setup;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;
use setup::{Journal, Run, command, run};

const MIB: u64 = 1 << 20;

/// Live bytes by a key of the last `live` record.
fn sums(journal: &Journal, key: &str) -> BTreeMap<String, u64> {
    let last = journal.of("live").last().unwrap();
    let mut out = BTreeMap::new();
    for total in last["by"].as_array().unwrap() {
        let name = total[key].as_str().unwrap_or("").to_owned();
        *out.entry(name).or_insert(0) += total["bytes"].as_u64().unwrap();
    }
    out
}

/// What the driver itself counts, as the program said.
fn counted(run: &Run) -> BTreeMap<String, u64> {
    let lines = run.stdout.lines().filter_map(|l| l.strip_prefix("live "));
    lines
        .filter_map(|l| l.split_once(' '))
        .map(|(k, n)| (k.to_owned(), n.parse().unwrap()))
        .collect()
}

#[test]
fn every_kind_is_recorded_with_its_size_and_who_asked() {
    let run = run("kinds", &[("SIMULATED_CONTEXT", "300000000")]);
    let journal = run.journal();
    assert!(journal.is_whole());
    let header = journal.of("header").next().unwrap();
    assert_eq!(
        (&header["writer"], &header["v"]),
        (&"driver".into(), &1.into())
    );

    let mut by_kind = sums(&journal, "kind");
    assert_eq!(by_kind.remove("imported"), Some(0));
    assert_eq!(by_kind, counted(&run));
    let by_lib = sums(&journal, "lib");
    let own = std::env::current_exe().unwrap();
    let own = own.file_name().unwrap().to_str().unwrap();
    assert_eq!(by_lib["libnccl.so.2"], 32 * MIB);
    // 10 rows of 1000 bytes at a pitch of 1024; 64 x 32 texels of 4 bytes.
    assert_eq!(by_lib["libcublas.so.13"], 10 * 1024 + 64 * 32 * 4);
    assert_eq!(by_lib["libc10_cuda.so"], 20 * MIB + 4096 + 12288);
    assert_eq!(by_lib[own], 8 * MIB);
    assert_eq!(by_lib.len(), 4);

    // One record a call that allocates, with what was asked for.
    let sizes: BTreeMap<_, _> = journal
        .of("alloc")
        .chain(journal.of("create"))
        .map(|r| (r["api"].as_str().unwrap(), r["size"].as_u64()))
        .collect();
    let expected = [
        ("cuMemAlloc_v2", Some(2 * MIB)),
        ("cuMemAllocPitch_v2", Some(10 * 1024)),
        ("cuMemAllocManaged", Some(4096)),
        ("cuMemAllocHost_v2", Some(8192)),
        ("cuMemHostAlloc", Some(12288)),
        ("cuMemHostRegister_v2", Some(16384)),
        ("cuArrayCreate_v2", Some(64 * 32 * 4)),
        ("cuArray3DCreate_v2", Some(8 * 8 * 8 * 4)),
        ("cuMemAllocAsync", Some(MIB)),
        ("cuMemAllocAsync_ptsz", Some(3 * MIB)),
        ("cuMemAllocFromPoolAsync", Some(5 * MIB)),
        ("cuMemAllocFromPoolAsync_ptsz", Some(512)),
        ("cuMemCreate", Some(64 * MIB)),
        ("cuMemImportFromShareableHandle", None),
        ("cuIpcOpenMemHandle_v2", None),
    ];
    assert_eq!(sizes, expected.into_iter().collect());
    // Frees carry what they freed: all but that of an address which nobody had.
    let freed: Vec<_> = journal
        .of("free")
        .map(|r| (r["size"].as_u64(), r["rc"].as_u64().unwrap()))
        .collect();
    let mut expected: Vec<_> = [2 * MIB, 8192, 16384, 8 * 8 * 8 * 4, MIB, 512]
        .map(|s| (Some(s), 0))
        .to_vec();
    expected.extend([(None, 0), (None, 1)]);
    assert_eq!(freed, expected);
    // The device gets memory back when it is unmapped, not when its handles go.
    let freed = |kind| {
        journal
            .of(kind)
            .map(|r| r["freed"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (freed("release"), freed("unmap")),
        (vec![0, 0, 0], vec![64 * MIB])
    );
    let ops: Vec<_> = journal
        .of("pool")
        .map(|r| r["op"].as_str().unwrap())
        .collect();
    assert_eq!(ops, ["create", "trim", "destroy"]);
    assert_eq!(
        journal
            .of("alloc")
            .filter(|r| r["pool"] == "0x9001")
            .count(),
        2
    );
    assert_eq!(
        journal
            .of("alloc")
            .filter(|r| r["stream"] == "0x4d")
            .count(),
        1
    );
    assert!(
        journal
            .of("alloc")
            .all(|r| r["dev"] == 0 && r.get("bt").is_none())
    );

    let last = journal.of("live").last().unwrap();
    assert_eq!(last["context"], 300_000_000);
    let updates: Vec<_> = journal.of("update").collect();
    assert_eq!(updates[0]["sources"][0]["status"], "active");
    assert_eq!(updates[1]["devices"][0]["name"], "Simulated GPU");
    assert_eq!(journal.of("footer").last().unwrap()["reason"], "exit");
}

#[test]
fn backtraces_where_asked_from_some_size_on() {
    let run = run("kinds", &[("MEMSCOPE_BACKTRACE", "2097152")]);
    for record in run.journal().of("alloc") {
        let asked = record["size"].as_u64().is_some_and(|s| s >= 2 * MIB);
        let first = record["bt"][0][0].as_str();
        assert_eq!(first, record["lib"].as_str().filter(|_| asked), "{record}");
    }
}

#[test]
fn failed_allocations_and_out_of_memory() {
    let run = run("fails", &[]);
    let journal = run.journal();
    let failed: Vec<_> = journal
        .of("alloc")
        .chain(journal.of("create"))
        .filter(|r| r["rc"] != 0)
        .map(|r| (r["size"].as_u64().unwrap(), r["rc"].as_u64().unwrap()))
        .collect();
    assert_eq!(failed, [(1 << 40, 2), (0, 1), (1 << 41, 2)]);
    assert!(
        journal
            .of("alloc")
            .filter(|r| r["rc"] != 0)
            .all(|r| r.get("ptr").is_none())
    );
    let oom = journal.of("oom").next().unwrap();
    assert_eq!(oom["source"], "driver");
    assert_eq!(oom["requested"], 1_u64 << 40);
    assert_eq!(oom["device_free"], (1 << 30) - 10 * MIB);
    assert!(
        oom["stack"][0]
            .as_str()
            .unwrap()
            .starts_with("libc10_cuda.so+0x")
    );
    // The second followed at once: it is counted.
    let told = journal.of("oom").count() as u64;
    let dropped: u64 = journal
        .of("drop")
        .filter(|r| r["what"] == "oom")
        .map(|r| r["count"].as_u64().unwrap())
        .sum();
    assert_eq!(told + dropped, 2);
    assert_eq!(sums(&journal, "kind")["device"], 10 * MIB);
}

#[test]
fn a_held_cupti_leads_to_polling_and_is_said() {
    let reason = |journal: &Journal| {
        let update = journal.of("update").next().unwrap();
        let source = &update["sources"][0];
        assert_eq!(update["sources"][1]["name"], "poll");
        (
            source["status"].as_str().unwrap().to_owned(),
            source["reason"].as_str().unwrap().to_owned(),
        )
    };
    let polled = |journal: &Journal, used: u64| {
        assert_eq!(journal.of("alloc").count(), 0);
        let last = journal.of("sample").last().unwrap();
        assert_eq!(
            (&last["device_used"], &last["edge"]),
            (&used.into(), &"tick".into())
        );
        assert!(journal.of("live").all(|r| r.get("by").is_none()));
    };
    let holder = run("denied", &[("SIMULATED_HOLDER", "CUPTI for Some Tool")]).journal();
    let (status, text) = reason(&holder);
    assert_eq!(status, "denied");
    assert!(text.contains("CUPTI for Some Tool"), "{text}");
    polled(&holder, 100 * MIB);
    assert_eq!(
        holder.of("sample").last().unwrap()["process_used"],
        100 * MIB
    );

    let asked = run(
        "denied",
        &[("MEMSCOPE_POLL", "1"), ("SIMULATED_CONTAINER", "1")],
    )
    .journal();
    assert_eq!(reason(&asked).0, "unavailable");
    polled(&asked, 100 * MIB);
    assert!(asked.of("sample").all(|r| r.get("process_used").is_none()));

    // Neither CUPTI nor NVML: the device is asked through the context that is there.
    let none = run("denied", &[("WITHOUT", "cupti nvml")]).journal();
    let (status, text) = reason(&none);
    assert_eq!(status, "unavailable");
    // A machine with a toolkit has a real CUPTI, which refuses this driver.
    assert!(text.contains("cupti"), "{text}");
    polled(&none, 100 * MIB);
}

#[test]
fn a_hundred_kills_lose_no_record() {
    let mut shortest = u64::MAX;
    for n in 0..100_u64 {
        let (mut program, folder) = command("forever", &[]);
        let mut program = program.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
        // Past the test harness's own lines, into the loop; then at some moment.
        said.find(|l| l.as_ref().unwrap().starts_with("at 1."));
        std::thread::sleep(std::time::Duration::from_micros(n * 373 % 9000));
        program.kill().unwrap();
        program.wait().unwrap();
        let numbers = said.map_while(Result::ok).filter_map(|l| {
            let number = l.strip_prefix("at ")?.strip_suffix('.')?;
            number.parse::<u64>().ok()
        });
        let done = numbers.last();
        let journal = Run::of(folder, String::new()).journal();
        assert!(journal.of("footer").next().is_none());
        assert!(journal.torn <= 1);
        let recorded = journal
            .of("alloc")
            .filter_map(|r| r["size"].as_u64())
            .max()
            .unwrap();
        if let Some(done) = done {
            // Each that the program had back is there; at most one more was under way.
            assert!((done..=done + 1).contains(&recorded), "{done} {recorded}");
            shortest = shortest.min(done);
        }
        assert!(journal.is_gapless());
    }
    assert_ne!(shortest, u64::MAX, "some were killed in the middle");
}

#[test]
fn children_leave_no_journal() {
    let run = run("forks", &[]);
    assert_eq!(run.journals().len(), 1);
    let journal = run.journal();
    let sizes: Vec<_> = journal
        .of("alloc")
        .map(|r| r["size"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [MIB, 2 * MIB]);
    assert!(journal.is_whole());
}

#[test]
fn eight_threads() {
    let run = run("threads", &[]);
    let journal = run.journal();
    assert!(journal.is_whole());
    assert_eq!(journal.of("alloc").count(), 80_000);
    assert_eq!(sums(&journal, "kind"), counted(&run));
    let threads: BTreeSet<_> = journal.of("alloc").map(|r| r["tid"].as_u64()).collect();
    assert_eq!(threads.len(), 8);
    // Played in order, an address is given only while it is free: also where a thread got it before
    // the one that freed it was back.
    let mut live: BTreeMap<&str, u64> = BTreeMap::new();
    for record in &journal.events {
        let ptr = record["ptr"].as_str().unwrap();
        let size = record["size"].as_u64().unwrap();
        match record["k"].as_str() {
            Some("alloc") => assert_eq!(live.insert(ptr, size), None, "{record}"),
            _ => assert_eq!(live.remove(ptr), Some(size), "{record}"),
        }
    }
    assert_eq!(live.values().sum::<u64>(), counted(&run)["device"]);
}

#[test]
fn a_full_disk_is_said_and_the_program_runs_on() {
    let run = run("full", &[]);
    assert!(
        run.stderr.contains("Recording stops here"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.matches("memscope:").count(), 1);
    let journal = run.journal();
    assert!(journal.of("alloc").count() > 10);
    let dropped = journal.of("drop").last().unwrap();
    assert!(
        dropped["reason"]
            .as_str()
            .unwrap()
            .starts_with("write failed")
    );
}

#[test]
fn what_a_context_had_goes_with_it() {
    let run = run("contexts", &[]);
    let journal = run.journal();
    let gone: Vec<_> = journal
        .of("free")
        .map(|r| (&r["api"], r["size"].as_u64()))
        .collect();
    assert_eq!(gone, [(&Value::from("context_end"), Some(3 * MIB))]);
    assert_eq!(sums(&journal, "kind"), counted(&run));
}

#[test]
fn a_program_without_cuda_leaves_nothing() {
    assert_eq!(
        run("no-cuda", &[]).journals(),
        Vec::<std::path::PathBuf>::new()
    );
}
