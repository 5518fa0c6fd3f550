//! Journals: written by the recorder itself, and broken by hand.

use memscope::Figures;
use memscope::journal::{Journal, Limits, Line, Weight};
use memscope::place::Place;
use memscope::records::{At, Cost, Oom, Overhead};
use proptest::prelude::*;
use report::container::{Level, pack};
use report::model::{Rank, Report};
use report::read::journal::{Part, main_of, processes, read};
use report::read::{Input, runtime_report};

use serde_json::Value;

use crate::random::{Figures as Random, config, rank as any_rank};
use crate::support::{FIXTURES, load, skipped};

const MIB: u64 = 1 << 20;

fn figures(allocated: u64) -> Figures {
    Figures {
        allocated: Some(allocated),
        reserved: Some(512 * MIB),
        max_allocated: Some(allocated + MIB),
        device_used: Some(900 * MIB),
        ..Figures::default()
    }
}

/// Writes a short run and gives its files by name.
fn run(end: bool) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::resolve_in(Some(dir.path()), Some(3), &|_| None);
    let journal = Journal::create(&place, "python", Limits::default()).unwrap();
    journal.header(&place, "python");
    let item = r#"[{"kind":"parameter","name":"a.weight","dtype":"float32","shape":[2,3],"device":"cuda:0","bytes":24,"storage":"0x7f0000000000","storage_bytes":48},
        {"kind":"parameter","name":"b.weight","bytes":24,"storage":"0x7f0000000000","storage_bytes":48,"device":"cuda:0"}]"#;
    journal.write(
        Weight::Essential,
        &Line::new("inventory")
            .text("at", "step_end")
            .json("items", item),
    );
    for step in 0..3 {
        let at = At {
            step: Some(step),
            phase: "forward",
            ..At::default()
        };
        journal.sample(&at, "step_start", Some(0), &figures(100 * MIB), "");
        for (edge, allocated) in [("pre", 100), ("post", 130)] {
            let line = Line::new("module")
                .text("edge", edge)
                .number("call", Some(step))
                .text("name", "model.layer")
                .at(&at)
                .number("allocated", Some(allocated * MIB));
            journal.write(Weight::Event, &line);
        }
        journal.sample(
            &at,
            "forward_backward_end",
            Some(0),
            &figures(150 * MIB),
            "",
        );
    }
    let live = r#"[{"lib":"/x/libnccl.so.2","kind":"device","bytes":104857600,"count":2},{"lib":"libc10_cuda.so","kind":"device","bytes":536870912},{"lib":"libnccl.so.2","kind":"pinned","bytes":7}]"#;
    journal.write(
        Weight::Essential,
        &Line::new("live")
            .json("by", live)
            .number("device_used", Some(1000 * MIB))
            .number("process_used", Some(800 * MIB))
            .number("context", Some(150 * MIB)),
    );
    let oom = Oom {
        requested: Some(5 * MIB),
        allocated: Some(150 * MIB),
        ..Oom::default()
    };
    let at = At {
        step: Some(2),
        phase: "backward",
        ..At::default()
    };
    journal.oom("torch", &oom, &at);
    let overhead = Overhead {
        records: 10,
        native_ns: 20_000,
        hook_ns: 100_000,
        steps: 3,
        step_ns: 10_000_000,
        samples: Some(Cost {
            records: 6,
            ns: 12_000,
        }),
        modules: Some(Cost {
            records: 3,
            ns: 6_000,
        }),
    };
    journal.overhead(&overhead, true);
    if end {
        journal.footer("exception", "RuntimeError: no");
    }
    let folder = place.folder.join("journal");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| {
            let path = e.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn parts(files: &[(String, Vec<u8>)]) -> Vec<Part<'_>> {
    let part = |(name, bytes): &'_ (String, Vec<u8>)| (name.clone(), bytes.clone());
    files
        .iter()
        .map(part)
        .map(|(name, bytes)| Part {
            name,
            source: Box::new(std::io::Cursor::new(bytes)),
        })
        .collect()
}

fn phases(rank: &Rank) -> Vec<&str> {
    let each = rank.events.phase.iter();
    each.map(|&p| rank.strings.get(p)).collect()
}

#[test]
fn a_run_as_the_recorder_wrote_it() {
    let files = run(true);
    assert_eq!(files.len(), 2);
    let rank = read("journal", parts(&files)).unwrap();
    assert_eq!(rank.skipped.total(), 0, "{:?}", rank.skipped);
    let one = [
        "step_start",
        "forward_pre",
        "forward",
        "forward_backward_end",
    ];
    let mut expected = one.repeat(3);
    expected.push("oom");
    assert_eq!(phases(&rank), expected);
    assert_eq!(rank.number(), Some(3));
    assert_eq!(rank.events.delta_allocated.get(2), Some(30 * MIB as i64));
    assert_eq!(rank.events.allocated_before.get(2), Some(100 * MIB));
    let peak = rank.recorded_peak.as_ref().unwrap();
    assert_eq!(peak.memory_bytes, Some(150 * MIB));
    assert_eq!(peak.step, Some(0));
    let r = rank.recording.as_ref().unwrap();
    assert!(r.complete && r.ending.error.as_deref() == Some("RuntimeError: no"));
    assert_eq!(r.columns.time_ns.len(), rank.events.len());
    assert!(r.columns.time_ns.is_sorted());
    assert_eq!(r.columns.device_used[1], None);
    assert_eq!(r.ooms[0].requested, Some(5 * MIB));
    let cost = report::analyze::recording::cost(r.overhead.as_ref().unwrap());
    assert_eq!(cost.share, Some(0.01));
    assert_eq!(cost.native_ns_per_record, Some(2000.0));
    // Two names of one storage take it once.
    let sums = report::analyze::recording::sums(&r.inventories[0]);
    assert_eq!(
        (sums[0].bytes, sums[0].count, sums[0].shared),
        (Some(48), 2, 1)
    );
    let split = report::analyze::driver::peak(&rank).unwrap();
    assert_eq!(split.libraries.len(), 1);
    assert_eq!(split.libraries[0].lib, "libnccl.so.2");
    assert_eq!(split.others, Some(200 * MIB));
    // 1000 used: 512 reserved, 100 NCCL, 150 context, 200 others, 38 left.
    assert_eq!(split.rest, Some(38 * MIB as i64));
    assert_eq!(split.elsewhere[0].bytes, 7);
    let layers = report::analyze::driver::layers(&rank, 100);
    let last: u64 = layers.layers.iter().filter_map(|l| l.1.last()).sum();
    assert_eq!(last, 1000 * MIB);
}

#[test]
fn a_run_that_died_says_where() {
    let rank = read("journal", parts(&run(false))).unwrap();
    let r = rank.recording.as_ref().unwrap();
    assert!(!r.complete);
    assert_eq!(r.ending.step, Some(2));
    assert_eq!(r.ending.phase.as_deref(), Some("backward"));
    assert_eq!(r.ending.edge.as_deref(), Some("forward_backward_end"));
    assert_eq!(
        (r.ending.reason.as_deref(), r.ending.module.as_deref()),
        (None, None)
    );
}

/// Cut anywhere, every whole record before the cut is there, and nothing panics.
#[test]
fn torn_at_every_byte() {
    let files = run(true);
    let core = files.iter().position(|f| f.0.contains("core")).unwrap();
    let events = 1 - core;
    for torn in [core, events] {
        for cut in 0..=files[torn].1.len() {
            let mut cut_files = files.clone();
            cut_files[torn].1.truncate(cut);
            let whole: Vec<String> = cut_files
                .iter()
                .flat_map(|f| f.1.split_inclusive(|&b| b == b'\n'))
                .filter(|l| l.ends_with(b"\n"))
                .map(|l| String::from_utf8(l.to_vec()).unwrap())
                .collect();
            let kinds = |k: &str| {
                let begins = format!("{{\"k\":\"{k}\"");
                whole.iter().filter(|l| l.starts_with(&begins)).count()
            };
            let rank = read("journal", parts(&cut_files)).unwrap();
            let expected = kinds("sample") + kinds("module") + kinds("oom");
            assert_eq!(rank.events.len(), expected, "cut at {cut}");
            let text = &cut_files[torn].1;
            let tail = !text.is_empty() && !text.ends_with(b"\n");
            assert_eq!(skipped(&rank, "torn last line"), u64::from(tail));
            let r = rank.recording.unwrap();
            assert_eq!(r.complete, kinds("footer") == 1);
            assert_eq!(r.inventories.len(), kinds("inventory"));
        }
    }
}

#[test]
fn what_is_broken_is_counted() {
    let text = b"\0\0{\"k\":\"header\",\"seq\":0,\"t\":100,\"pid\":7,\"odd\":1}\n\
        {\"k\":\"sample\",\"seq\":1,\"t\":200,\"edge\":\"step_start\",\"step\":0,\"allocated\":5}\n\
        {\"k\":\"sample\",\"seq\":1,\"t\":200,\"edge\":\"step_end\",\"step\":0,\"allocated\":6}\n\
        not json\n{\"k\":\"sample\",\"seq\":5,\"t\":300,\"edge\":\"step_end\",\"allocated\":-4}\n\
        {\"k\":\"novel\",\"seq\":6}\n{\"k\":\"sample\",\"seq\":7";
    let report = report::read::read(Input {
        name: "a.jsonl",
        bytes: text,
    })
    .unwrap();
    let rank = &report.ranks[0];
    for (what, count) in [
        ("NUL in a journal", 2),
        ("unknown key odd of a header", 1),
        ("record whose number was there already", 1),
        ("line that is no record", 1),
        ("record that is missing: a gap in the numbers", 3),
        ("record of unknown kind novel", 1),
        ("torn last line", 1),
    ] {
        assert_eq!(skipped(rank, what), count, "{what}: {:?}", rank.skipped);
    }
    assert_eq!(phases(rank), ["step_start", "step_end"]);
    assert_eq!(rank.events.allocated_after.get(1), None, "unknown, not 0");
    let new = b"{\"k\":\"header\",\"seq\":0,\"t\":1,\"v\":2}\n";
    let error = report::read::read(Input {
        name: "n",
        bytes: new,
    })
    .unwrap_err();
    assert!(error.to_string().contains("newer memscope"), "{error}");
}

/// Records of the allocator's and the driver's journal come in order of time.
#[test]
fn two_writers_are_one_story() {
    let file = |writer: &str, text: &str| {
        let name = format!(
            "h-7-{}.{writer}.core.jsonl",
            if writer == "driver" { "1" } else { "2" }
        );
        (name, text.as_bytes().to_vec())
    };
    let files = [
        file(
            "python",
            "{\"k\":\"header\",\"seq\":0,\"t\":1000,\"realtime\":5000,\"writer\":\"python\"}\n{\"k\":\"sample\",\"seq\":1,\"t\":1500,\"edge\":\"tick\"}\n{\"k\":\"footer\",\"seq\":2,\"t\":3000,\"reason\":\"exit\"}\n",
        ),
        file(
            "driver",
            "{\"k\":\"header\",\"seq\":0,\"t\":900,\"writer\":\"driver\"}\n{\"k\":\"alloc\",\"seq\":1,\"t\":1200,\"size\":64,\"ptr\":\"0x1\",\"api\":\"cuMemAlloc_v2\",\"bt\":[[\"libx.so\",\"0x10\"],[\"liby.so\",\"0x20\"]]}\n{\"k\":\"live\",\"seq\":2,\"t\":2000,\"by\":[]}\n",
        ),
    ];
    let names: Vec<String> = files.iter().map(|f| f.0.clone()).collect();
    assert_eq!(processes(&names).len(), 1);
    let rank = read("journal", parts(&files)).unwrap();
    let r = rank.recording.as_ref().unwrap();
    assert!(
        r.complete,
        "the driver's library never says how a program ended"
    );
    assert_eq!(
        (r.clock.monotonic_ns, r.clock.realtime_ns),
        (900, Some(4900))
    );
    assert_eq!(r.columns.time_ns, [Some(600)]);
    let e = &r.driver.events;
    assert_eq!((e.time_ns[0], e.size[0]), (300, Some(64)));
    assert_eq!(e.texts[e.stack[0] as usize], "libx.so+0x10;liby.so+0x20");
    assert_eq!(r.driver.live[0].time_ns, 1100);
    let other = Rank::default();
    assert_eq!(
        main_of(vec![other, rank.clone()])
            .unwrap()
            .recording
            .unwrap()
            .process,
        r.process
    );
}

/// Damaged bytes: read or refused, never a panic, and what was read survives every form it is kept in.
#[test]
fn damaged_journals_do_not_panic() {
    let seed: Vec<u8> = run(true).into_iter().flat_map(|f| f.1).collect();
    let mut random = crate::support::Random(0x4a6f);
    for _ in 0..200 {
        let mut bytes = seed.clone();
        for _ in 0..=random.below(6) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                _ => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
            }
        }
        crate::bodies::journal(&bytes);
    }
}

fn schema(name: &str) -> jsonschema::Validator {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../collector/schema");
    let text = std::fs::read(format!("{folder}/{name}.v1.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_slice(&text).unwrap()).unwrap()
}

/// What the recorder writes and what comes of it are as the schemas say, and so is the public MemScope's.
#[test]
fn schemas_hold() {
    let files = run(true);
    let record = schema("journal");
    for line in files.iter().flat_map(|f| f.1.split(|&b| b == b'\n')) {
        if !line.is_empty() {
            let value: Value = serde_json::from_slice(line).unwrap();
            record
                .validate(&value)
                .unwrap_or_else(|e| panic!("{value}: {e}"));
        }
    }
    let bad = serde_json::json!({"k": "sample", "seq": 1, "t": 2, "allocated": -1});
    assert!(!record.is_valid(&bad));
    let report = schema("runtime_report");
    for fixture in FIXTURES {
        let value: Value = serde_json::from_slice(&crate::support::bytes(fixture)).unwrap();
        report
            .validate(&value)
            .unwrap_or_else(|e| panic!("{fixture}: {e}"));
    }
    let (text, _) = rewritten(&read("journal", parts(&files)).unwrap());
    let mut value: Value = serde_json::from_str(&text).unwrap();
    report.validate(&value).unwrap_or_else(|e| panic!("{e}"));
    value["memscope"]["version"] = 2.into();
    assert!(!report.is_valid(&value));
}

fn rewritten(rank: &Rank) -> (String, Rank) {
    let mut out = Vec::new();
    report::write::runtime_report::write(rank, &mut out).unwrap();
    let back = runtime_report::read("r.json", &out[..]).unwrap();
    (String::from_utf8(out).unwrap(), back)
}

#[test]
fn fixtures_come_back_as_they_were() {
    for fixture in FIXTURES {
        let (rank, _) = load(fixture);
        let (_, mut back) = rewritten(&rank);
        back.source = rank.source.clone();
        assert!(back == rank, "{fixture}");
    }
}

#[test]
fn recordings_come_back_as_they_were() {
    let rank = read("journal", parts(&run(true))).unwrap();
    let (text, back) = rewritten(&rank);
    assert_eq!(back.recording, rank.recording);
    assert_eq!(back.metadata, rank.metadata);
    assert_eq!(rewritten(&back).0, text);
    let report = Report { ranks: vec![rank] };
    let packed = pack(&report, "test", Level::default()).unwrap();
    let opened = report::read::read(Input {
        name: "c",
        bytes: &packed,
    })
    .unwrap();
    assert!(opened == report);
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn any_rank_is_written_and_read(rank in any_rank(Random::Any, 60)) {
        let (text, back) = rewritten(&rank);
        prop_assert_eq!(&back.events.len(), &rank.events.len());
        prop_assert_eq!(&back.events.allocated_after, &rank.events.allocated_after);
        prop_assert_eq!(&back.recorded_peak, &rank.recorded_peak);
        prop_assert_eq!(rewritten(&back).0, text);
    }
}
