//! A journal stays within its limits, and loses nothing that matters.

#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // to fork, and to ignore a signal

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{files, of, records};
use memscope::journal::{Journal, Limits, Line, Weight};
use memscope::place::Place;
use memscope::records::At;
use memscope::{Figures, Recorder};

fn place(folder: &Path) -> Place {
    Place::resolve(Some(folder), Some(0))
}

#[test]
fn a_flood_of_events_evicts_events_only() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        core: 1 << 20,
        events: 64 << 10,
    };
    let journal = Journal::create(&place(folder.path()), "rust", limits).unwrap();
    journal.header(&place(folder.path()), "rust");
    for i in 0..5000_u64 {
        let line = Line::new("user")
            .text("op", "alloc")
            .number("size", Some(i));
        journal.write(Weight::Event, &line);
        if i % 1000 == 0 {
            let at = At {
                step: Some(i / 1000),
                ..At::default()
            };
            journal.sample(&at, "step_start", None, &Figures::default(), "");
        }
    }
    journal.footer("exit", "");
    let (all, _) = records(folder.path());
    assert_eq!(of(&all, "sample").len(), 5);
    assert_eq!(of(&all, "footer").len(), 1);
    let kept: Vec<u64> = of(&all, "user")
        .iter()
        .map(|r| r["size"].as_u64().unwrap())
        .collect();
    let dropped: u64 = of(&all, "drop")
        .iter()
        .map(|d| d["count"].as_u64().unwrap())
        .sum();
    assert_eq!(kept.len() as u64 + dropped, 5000, "each is kept or counted");
    assert!(dropped > 0);
    assert_eq!(kept[0], 0, "the first part is kept");
    assert_eq!(kept.last(), Some(&4999), "and the last");
    // A gap in the numbers is where they were.
    let highest = all.last().unwrap()["seq"].as_u64().unwrap();
    assert_eq!(highest + 1 - all.len() as u64, dropped);
    let events: u64 = files(folder.path())
        .iter()
        .filter(|f| f.to_string_lossy().contains(".events."))
        .map(|f| f.metadata().unwrap().len())
        .sum();
    assert!(events <= limits.events + 4 * 256, "{events}");
}

#[test]
fn core_thins_its_samples_and_keeps_peaks_and_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        core: 64 << 10,
        events: 64 << 10,
    };
    let journal = Journal::create(&place(folder.path()), "rust", limits).unwrap();
    journal.header(&place(folder.path()), "rust");
    for step in 0..20_000_u64 {
        let at = At {
            step: Some(step),
            ..At::default()
        };
        journal.sample(&at, "step_start", None, &Figures::default(), "");
        if step % 100 == 7 {
            journal.peak("allocated", step, &at, "step_start", "step_end");
        }
    }
    journal.footer("exit", "");
    let (all, _) = records(folder.path());
    assert_eq!(of(&all, "peak").len(), 200);
    assert_eq!(of(&all, "footer").len(), 1);
    let kept: Vec<u64> = of(&all, "sample")
        .iter()
        .map(|s| s["step"].as_u64().unwrap())
        .collect();
    let dropped: u64 = of(&all, "drop")
        .iter()
        .map(|d| d["count"].as_u64().unwrap())
        .sum();
    assert_eq!(kept.len() as u64 + dropped, 20_000);
    let whole = kept.windows(2).take_while(|w| w[1] == w[0] + 1).count();
    assert!(whole > 100, "{whole} steps in full");
    assert!(
        kept.windows(2).any(|w| w[1] - w[0] == 10) && kept.windows(2).any(|w| w[1] - w[0] == 100)
    );
}

/// What the tests below run as another process; does nothing by itself.
#[test]
fn child() {
    let Ok(folder) = std::env::var("MEMSCOPE_TEST_FOLDER") else {
        return;
    };
    let recorder = Recorder::builder()
        .directory(&folder)
        .rank(0)
        .start()
        .unwrap();
    match std::env::var("MEMSCOPE_TEST_CHILD").unwrap().as_str() {
        // Says which records stand after each step, until it is killed.
        "steps" => loop {
            let step = recorder.step();
            recorder.allocated(0x1000, 77, "a");
            drop(step);
            println!("stands {}", recorder.current_step().unwrap());
        },
        "full" => {
            // SAFETY: ignoring SIGXFSZ has writes fail with EFBIG as they do with ENOSPC.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            let limit = libc::rlimit {
                rlim_cur: 4000,
                rlim_max: 4000,
            };
            // SAFETY: the structure is whole.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
            for _ in 0..1000 {
                drop(recorder.step());
            }
            assert!(!recorder.is_on());
            recorder.finish();
            println!("went on");
        }
        "fork" => {
            drop(recorder.step());
            // SAFETY: the child only calls what it may between fork and exit in a process whose other
            // threads hold no lock of the journal.
            let child = unsafe { libc::fork() };
            if child == 0 {
                for _ in 0..100 {
                    drop(recorder.step());
                }
                recorder.finish();
                // SAFETY: ends the child without running what the parent will.
                unsafe { libc::_exit(i32::from(recorder.is_on())) };
            }
            let mut status = 0;
            // SAFETY: waits for the child made above.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0, "the child records nothing");
            drop(recorder.step());
            recorder.finish();
        }
        other => panic!("{other}"),
    }
}

fn start(kind: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env("MEMSCOPE_TEST_FOLDER", folder)
        .env("MEMSCOPE_TEST_CHILD", kind)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn a_hundred_kills_lose_no_record() {
    for round in 0..100_u64 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start("steps", folder.path()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = None;
        // Some steps are read first, so that there is something to lose; then at any moment.
        while last < Some(3) {
            let line = lines.next().unwrap().unwrap();
            last = line
                .strip_prefix("stands ")
                .map(|n| n.parse::<u64>().unwrap())
                .or(last);
        }
        std::thread::sleep(Duration::from_micros(round * 97 % 5000));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            // A line that the kill cut off says nothing.
            let said = line
                .strip_prefix("stands ")
                .and_then(|n| n.parse::<u64>().ok());
            last = said.filter(|n| Some(*n) == last.map(|l| l + 1)).or(last);
        }
        let (all, _) = records(folder.path());
        let seqs: Vec<u64> = all.iter().map(|r| r["seq"].as_u64().unwrap()).collect();
        assert_eq!(
            seqs,
            (0..seqs.len() as u64).collect::<Vec<_>>(),
            "round {round}: no gap"
        );
        let ended = of(&all, "sample")
            .iter()
            .filter(|s| s["edge"] == "step_end")
            .count() as u64;
        assert!(
            ended > last.unwrap(),
            "round {round}: step {last:?} stood, {ended} ends are there"
        );
        assert_eq!(of(&all, "footer").len(), 0);
    }
}

#[test]
fn a_full_disk_stops_recording_and_not_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let out = start("full", folder.path()).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("went on"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(said.matches("Recording stops here").count(), 1, "{said}");
    let (all, torn) = records(folder.path());
    assert_eq!(torn, 0, "what could not be written whole is not there");
    assert!(all.len() > 10);
}

#[test]
fn a_forked_child_leaves_the_journal_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = start("fork", folder.path()).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let (all, _) = records(folder.path());
    assert_eq!(of(&all, "sample").len(), 4);
    assert_eq!(of(&all, "footer").len(), 1);
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn threads_write_whole_records_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::builder()
        .directory(folder.path())
        .rank(0)
        .start()
        .unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let recorder = &recorder;
            scope.spawn(move || {
                for i in 0..1000 {
                    recorder.allocated(thread << 32 | i, i, "x");
                }
            });
        }
    });
    recorder.finish();
    let (all, torn) = records(folder.path());
    assert_eq!((torn, of(&all, "user").len()), (0, 8000));
    let times: Vec<u64> = all.iter().map(|r| r["t"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());
}
