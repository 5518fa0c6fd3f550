//! What a program in Rust or C leaves.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{of, records};
use memscope::{Figures, Recorder};

/// A program whose memory the test knows.
fn counting(folder: &Path) -> (Recorder, Arc<AtomicU64>) {
    let held = Arc::new(AtomicU64::new(0));
    let high = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&held);
    let probe = move || {
        let now = counted.load(Ordering::SeqCst);
        high.fetch_max(now, Ordering::SeqCst);
        Figures {
            allocated: Some(now),
            max_allocated: Some(high.load(Ordering::SeqCst)),
            ..Figures::default()
        }
    };
    let builder = Recorder::builder().directory(folder).rank(4).probe(probe);
    (builder.start().unwrap(), held)
}

#[test]
fn steps_phases_and_modules_nest_with_their_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (recorder, held) = counting(folder.path());
    for _ in 0..2 {
        let _step = recorder.step();
        for _ in 0..2 {
            let forward = recorder.phase("forward");
            let outer = recorder.module("net");
            held.fetch_add(8 << 20, Ordering::SeqCst);
            {
                let _inner = recorder.module("net.layer");
                held.fetch_add(16 << 20, Ordering::SeqCst);
            }
            drop(outer);
            drop(forward);
            let _backward = recorder.phase("backward");
            held.fetch_sub(20 << 20, Ordering::SeqCst);
            recorder.next_micro_batch();
        }
        let _optimizer = recorder.phase("optimizer");
    }
    recorder.finish();
    let (all, torn) = records(folder.path());
    assert_eq!(torn, 0);
    let seqs: Vec<u64> = all.iter().map(|r| r["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..all.len() as u64).collect::<Vec<_>>());
    let times: Vec<u64> = all.iter().map(|r| r["t"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());

    let header = &all[0];
    assert_eq!(header["k"], "header");
    assert_eq!(
        (&header["rank"], &header["rank_source"]),
        (&4.into(), &"argument".into())
    );
    assert_eq!(header["pid"], std::process::id());

    let edges: Vec<(u64, &str)> = of(&all, "sample")
        .iter()
        .map(|s| (s["step"].as_u64().unwrap(), s["edge"].as_str().unwrap()))
        .collect();
    let micro = [
        "forward_start",
        "forward_end",
        "backward_start",
        "backward_end",
    ];
    let mut wanted = Vec::new();
    for step in 0..2 {
        let step_edges = ["step_start"].into_iter().chain(micro).chain(micro).chain([
            "forward_backward_end",
            "optimizer_step_start",
            "optimizer_step_end",
            "step_end",
        ]);
        wanted.extend(step_edges.map(|edge| (step, edge)));
    }
    assert_eq!(edges, wanted);
    // 24 MiB come and 20 MiB go in each of four micro-batches.
    let ends: Vec<u64> = of(&all, "sample")
        .iter()
        .filter(|s| s["edge"] == "step_end")
        .map(|s| s["allocated"].as_u64().unwrap())
        .collect();
    assert_eq!(ends, [8 << 20, 16 << 20]);
    assert!(
        of(&all, "sample")
            .iter()
            .all(|s| s.get("reserved").is_none()),
        "unknown is absent"
    );

    let modules = of(&all, "module");
    assert_eq!(modules.len(), 16);
    for pair in modules.chunks(4) {
        let shape: Vec<(&str, &str, u64)> = pair
            .iter()
            .map(|m| {
                (
                    m["edge"].as_str().unwrap(),
                    m["name"].as_str().unwrap(),
                    m["depth"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            shape,
            [
                ("pre", "net", 0),
                ("pre", "net.layer", 1),
                ("post", "net.layer", 1),
                ("post", "net", 0)
            ]
        );
        assert_eq!(pair[2]["delta_allocated"], 16 << 20);
        assert_eq!(pair[3]["delta_allocated"], 24 << 20);
        assert_eq!(
            (&pair[0]["call"], &pair[1]["call"]),
            (&pair[3]["call"], &pair[2]["call"])
        );
    }
    let peaks = of(&all, "peak");
    // 24, 28, 32, 36 MiB: each micro-batch rises by 4, in the inner module.
    let bytes: Vec<u64> = peaks
        .iter()
        .map(|p| p["bytes"].as_u64().unwrap() >> 20)
        .collect();
    assert_eq!(bytes, [8, 24, 28, 32, 36]);
    assert_eq!(peaks[4]["module"], "net.layer");
    assert_eq!(
        (&peaks[4]["step"], &peaks[4]["phase"]),
        (&1.into(), &"forward".into())
    );
    let last: Vec<&str> = all[all.len() - 2..]
        .iter()
        .map(|r| r["k"].as_str().unwrap())
        .collect();
    assert_eq!(last, ["overhead", "footer"]);
    assert_eq!(all[all.len() - 2]["steps"], 2);
}

#[test]
fn a_panic_aborts_what_it_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let (recorder, _) = counting(folder.path());
    let inside = recorder.clone();
    let thread = std::thread::spawn(move || {
        let _step = inside.step();
        let _module = inside.module("net");
        std::panic::resume_unwind(Box::new("as a failing layer does"));
    });
    assert!(thread.join().is_err());
    recorder.finish_because("exception", "as a failing layer does");
    recorder.finish();
    let (all, _) = records(folder.path());
    let edges: Vec<&str> = of(&all, "module")
        .iter()
        .map(|m| m["edge"].as_str().unwrap())
        .collect();
    assert_eq!(edges, ["pre", "abort"]);
    let footers = of(&all, "footer");
    assert_eq!(footers.len(), 1, "said once");
    assert_eq!(footers[0]["reason"], "exception");
}

#[test]
fn without_a_device_figures_are_absent() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::builder()
        .directory(folder.path())
        .rank(0)
        .start()
        .unwrap();
    drop(recorder.step());
    drop(recorder);
    let (all, _) = records(folder.path());
    let samples = of(&all, "sample");
    assert_eq!(samples.len(), 2);
    for sample in samples {
        let keys: Vec<&str> = sample
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert!(
            !keys.contains(&"allocated") && !keys.contains(&"device_used"),
            "{keys:?}"
        );
    }
    assert!(of(&all, "peak").is_empty());
    assert_eq!(of(&all, "footer")[0]["reason"], "exit");
}

#[test]
fn a_folder_that_cannot_be_made_is_named_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let error = Recorder::builder()
        .directory(&file)
        .start()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(file.to_str().unwrap()) && error.contains("MEMSCOPE_DIR"),
        "{error}"
    );
    let recorder = Recorder::builder().directory(&file).start_or_off();
    drop(recorder.step());
    assert!(!recorder.is_on());
}

/// Compiles the example in C against the header and runs it against the library that was just built.
#[test]
fn a_program_in_c_records_through_the_header() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap();
    let library = [deps.to_path_buf(), deps.parent().unwrap().to_path_buf()]
        .into_iter()
        .find(|d| d.join("libmemscope.so").exists())
        .unwrap();
    let program = folder.path().join("record");
    let built = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg(root.join("examples/c/record.c"))
        .arg("-I")
        .arg(root.join("include"))
        .arg("-L")
        .arg(&library)
        .arg("-lmemscope")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let out = folder.path().join("out");
    let ran = Command::new(&program).arg(&out).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(ran.stdout, b"done\n");
    let (all, _) = records(&out);
    assert_eq!(
        (&all[0]["writer"], &all[0]["rank"]),
        (&"c".into(), &3.into())
    );
    let posts: Vec<_> = of(&all, "module")
        .into_iter()
        .filter(|m| m["edge"] == "post")
        .collect();
    assert_eq!(posts.len(), 3);
    assert!(posts.iter().all(|m| m["delta_allocated"] == 1000));
    let by_hand = of(&all, "sample")
        .into_iter()
        .find(|s| s["note"] == "by hand")
        .unwrap();
    assert_eq!(
        (&by_hand["allocated"], &by_hand["ooms"]),
        (&7.into(), &0.into())
    );
    assert!(by_hand.get("reserved").is_none());
    assert_eq!(of(&all, "user").len(), 4);
    assert_eq!(of(&all, "oom")[0]["requested"], 1_u64 << 30);
    assert_eq!(of(&all, "footer")[0]["reason"], "exit");
}
