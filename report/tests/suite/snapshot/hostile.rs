//! Files that nobody should write.

use report::read::snapshot::read_pickle;

use super::fixtures::plain;
use super::make::Pickle;
use crate::bodies;
use crate::mutation::mutate;
use crate::support::Random;

#[test]
fn cut_off_anywhere() {
    let whole = plain("outside_allocator", "snapshot.pickle");
    for end in 0..whole.len() {
        let error = read_pickle("s", &whole[..end]).unwrap_err().to_string();
        assert!(error.starts_with("s: at byte "), "{error}");
    }
    bodies::snapshot(&whole);
}

#[test]
fn damaged() {
    let mut random = Random(0x5eed);
    for (fixture, file, runs) in [
        ("outside_allocator", "snapshot.pickle", 3000),
        ("other_process", "snapshot.pickle", 1000),
        ("cuda_graphs", "snapshot.pickle", 200),
        ("multi_stream", "snapshot.pickle.xz", 60),
    ] {
        let seed = plain(fixture, file);
        for _ in 0..runs {
            bodies::snapshot(&mutate(&seed, &mut random));
        }
    }
}

#[test]
fn damaged_containers() {
    let mut random = Random(0x5eed);
    for (fixture, file) in [
        ("outside_allocator", "snapshot.pickle"),
        ("cuda_graphs", "snapshot.pickle"),
    ] {
        let rank = super::fixtures::load(fixture, file);
        let report = report::model::Report::of(vec![rank]);
        let seed = report::container::pack(&report, "s", report::container::Level(0)).unwrap();
        for _ in 0..400 {
            bodies::container(&mutate(&seed, &mut random));
        }
    }
}

#[test]
fn lists_that_grow_without_end() {
    // One list of a frame, appended to itself by name again and again, and used each time.
    let mut p = Pickle::new()
        .op(b"}(")
        .text("name")
        .text("f")
        .text("filename")
        .text("a.py")
        .op(b"uq\x000]q\x01");
    for _ in 0..200_000 {
        p = p.op(b"h\x00a");
    }
    let error = read_pickle("s", &p.done()[..]).unwrap_err().to_string();
    assert!(error.contains("one that grows without end"), "{error}");
}

#[test]
fn counts_that_lie() {
    for (bytes, found) in [
        (&b"\x80\x04X\xff\xff\xff\xff"[..], "bytes"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "bytes"),
        (b"\x80\x04]r\xff\xff\xff\xff", "slot 4294967295"),
        (b"\x80\x04\x8b\xff\xff\xff\xff", "4294967295 bytes"),
        (b"\x80\x04j\x01\x00\x00\x00", "slot 1, which is empty"),
        (b"\x80\x04e", "APPENDS with too few"),
        (b"\x80\x04(((", "the end of the file"),
    ] {
        let error = read_pickle("s", bytes).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
    let deep = [&b"\x80\x04"[..], &[b'('; 100_000]].concat();
    assert!(read_pickle("s", &deep[..]).is_err());
}

/// `n` batches of a list that is appended to, each with a thousand small values.
fn batches(n: usize) -> Vec<u8> {
    let batch = [&b"("[..], &b"K\x01".repeat(1000), b"e"].concat();
    [&b"\x80\x04]"[..], &batch.repeat(n)].concat()
}

#[test]
fn tiny_values_without_end() {
    let million = 1 << 20;
    for (what, bytes, expected) in [
        ("batches", batches(5000), "belong to no table"),
        (
            "numbers",
            [&b"\x80\x04("[..], &b"K\x01".repeat(3 * million)].concat(),
            "values in one list",
        ),
        (
            "slots",
            [&b"\x80\x04]"[..], &b"\x94".repeat(3 * million)].concat(),
            "slots of the memo",
        ),
        (
            "lists",
            [&b"\x80\x04"[..], &b"]0".repeat(8 * million)].concat(),
            "at most 64 MiB",
        ),
        (
            "events",
            {
                let keys = Pickle::new()
                    .text("action")
                    .op(b"\x940")
                    .text("alloc")
                    .op(b"\x940](");
                [&keys.0[..], &b"}(h\x00h\x01u".repeat(3 * million)].concat()
            },
            "at most 64 MiB",
        ),
        (
            "segments",
            {
                let keys = Pickle::new().text("total_size").op(b"\x940");
                [&keys.0[..], &b"}(h\x00K\x01u0".repeat(2 * million)].concat()
            },
            "at most 64 MiB",
        ),
        (
            "pools",
            {
                let mut bytes = vec![0x80, 4];
                for i in 0..300_000u32 {
                    bytes.push(b'J');
                    bytes.extend(i.to_le_bytes());
                    bytes.extend(b"K\x01\x860");
                }
                bytes
            },
            "memory pools",
        ),
    ] {
        let error = read_pickle("s", &bytes[..]).unwrap_err().to_string();
        assert!(error.starts_with("s: at byte "), "{what}: {error}");
        assert!(error.contains(expected), "{what}: {error}");
    }
    let list = format!("[{}1]", "1,".repeat(3 * million));
    let error = report::read::snapshot::read_json("s", list.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("without end"), "{error}");
    // Names of fields that nobody knows: counted up to a number.
    let names: String = (0..100_000).map(|i| format!("\"k{i}\": 1,")).collect();
    let text = format!("{{\"device_traces\": [[{{{names}\"action\": \"alloc\"}}]]}}");
    let rank = report::read::snapshot::read_json("s", text.as_bytes()).unwrap();
    assert_eq!(rank.skipped.total(), 100_000);
}

#[test]
fn every_writer_stays_far_below_the_limits() {
    // Entries without any field but their action, as short as they come, are read in any number
    // that a file of the usual kind would have.
    let keys = Pickle::new().text("device_traces").op(b"\x940}(h\x00](](");
    let keys = keys.text("action").op(b"\x940").text("alloc").op(b"\x940");
    let events = b"}(h\x01h\x02u".repeat(1_000_000);
    let bytes = [&keys.0[..], &events, b"eeu."].concat();
    let rank = read_pickle("s", &bytes[..]).unwrap();
    assert_eq!(rank.snapshot.unwrap().events.len(), 1_000_000);
}

/// A zstd frame of `content`, and `zeros` times 128 KiB of the byte `fill` in four bytes each.
fn zstd(content: &[u8], fill: u8, times: usize) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
    let header = |kind: u32, size: u32, last: bool| {
        let word = size << 3 | kind << 1 | u32::from(last);
        word.to_le_bytes()[..3].to_vec()
    };
    for piece in content.chunks(100_000) {
        out.extend(header(0, piece.len() as u32, false));
        out.extend(piece);
    }
    for _ in 0..times {
        out.extend(header(1, 128 << 10, false));
        out.push(fill);
    }
    out.extend(header(0, 0, true));
    out
}

#[test]
fn bombs() {
    let read = |bytes: &[u8]| report::read::read_stream("b.zst", bytes);
    // What is packed by hand is read.
    let whole = plain("outside_allocator", "snapshot.pickle");
    let expected = read(&whole).unwrap();
    let rank = &read(&zstd(&whole, 0, 0)).unwrap().ranks[0];
    assert_eq!(rank.snapshot, expected.ranks[0].snapshot);
    // Beyond the end of the pickle, 10000 blocks of 128 KiB each in four bytes: 1.2 GiB of nothing.
    let error = read(&zstd(&whole, 0, 10_000)).unwrap_err().to_string();
    let (at, rest) = error
        .strip_prefix("b.zst: at byte ")
        .unwrap()
        .split_once(':')
        .unwrap();
    let at: u64 = at.parse().unwrap();
    let most = (1 << 30) + 200 * at;
    let stated: u64 = rest
        .split("unpack to ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(stated.abs_diff(most) < 200 * (128 << 10), "{error}");
    assert!(
        error.ends_with("decompress it and give MemScope the result"),
        "{error}"
    );
    // One that is let through by its length is held by what it takes.
    let frames: Vec<u8> = zstd(b"\x80\x04(", b'N', 200);
    let error = read(&frames).unwrap_err().to_string();
    assert!(error.contains("values in one list"), "{error}");
}

#[test]
fn frames_of_others_are_passed_over() {
    let whole = plain("outside_allocator", "snapshot.pickle");
    let (head, tail) = whole.split_at(whole.len() / 2);
    let index = [&[0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let all = [
        zstd(head, 0, 0),
        index.clone(),
        zstd(tail, 0, 0),
        index.clone(),
    ]
    .concat();
    let rank = &report::read::read_stream("b", &all[..]).unwrap().ranks[0];
    let expected = &report::read::read_stream("b", &whole[..]).unwrap().ranks[0];
    assert_eq!(rank.snapshot, expected.snapshot);
    let cut = &all[..all.len() - 1];
    let error = report::read::read_stream("b", cut).unwrap_err().to_string();
    assert!(error.contains("found the end of the file"), "{error}");
}

#[test]
fn damaged_compression_is_said_in_our_words() {
    let fixture = |name: &str| {
        let path = format!("{}/../tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    };
    let zstd = zstd(&plain("outside_allocator", "snapshot.pickle"), 0, 0);
    for (kind, whole) in [
        ("gzip", fixture("cpp_pickle/snapshot_cpp.pickle.gz")),
        ("xz", fixture("multi_stream/snapshot.pickle.xz")),
        ("zstd", zstd),
    ] {
        let step = whole.len() / 40 + 1;
        for at in (8..whole.len()).step_by(step) {
            let error = report::read::read_stream("f", &whole[..at])
                .unwrap_err()
                .to_string();
            let (offset, said) = error
                .strip_prefix("f: at byte ")
                .unwrap()
                .split_once(": ")
                .unwrap();
            assert!(offset.parse::<usize>().unwrap() <= at, "{kind}: {error}");
            assert_eq!(
                said,
                format!(
                    "expected more {kind} data, found the end of the file; the file was cut off: copy it again"
                ),
                "{kind} cut at {at}"
            );
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            if let Err(error) = report::read::read_stream("f", &damaged[..]) {
                let error = error.to_string();
                assert!(error.starts_with("f: at byte "), "{error}");
                assert!(
                    error.contains(": expected ") && error.contains(", found "),
                    "{error}"
                );
                // No names of types of the decoders.
                let camel = |w: &str| {
                    w.chars().skip(1).any(char::is_uppercase) && w.chars().any(char::is_lowercase)
                };
                let words = error.split(|c: char| !c.is_alphanumeric());
                let odd: Vec<&str> = words
                    .filter(|w| camel(w) && !["MiB", "PyTorch", "MemScope"].contains(w))
                    .collect();
                assert!(odd.is_empty(), "{error}");
                assert!(!error.contains("reading failed"), "{error}");
            }
        }
    }
}

/// An event as a dictionary of the JSON form.
fn entry(i: usize) -> String {
    format!(
        "{{\"action\": \"alloc\", \"addr\": {}, \"size\": 512, \"stream\": 0, \"time_us\": {i}}}",
        4096 + 512 * i
    )
}

#[test]
fn an_entry_of_no_known_shape_costs_itself() {
    let odd = [
        "{\"addr\": 1, \"size\": 2}",
        "null",
        "7",
        "\"alloc\"",
        "[1, 2, 3]",
        "{}",
        "[]",
        "{\"what\": {\"a\": [1]}}",
    ];
    let segment =
        r#"{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "blocks": []}"#;
    for strange in odd {
        for place in 0..=6 {
            let mut entries: Vec<String> = (0..6).map(entry).collect();
            entries.insert(place, strange.to_owned());
            let text = format!(
                "{{\"segments\": [{segment}, {strange}, {segment}], \"device_traces\": [[{}], [{}]]}}",
                entries.join(", "),
                entry(9)
            );
            let json = report::read::snapshot::read_json("s", text.as_bytes()).unwrap();
            let snapshot = json.snapshot.unwrap();
            let lengths: Vec<u32> = snapshot.devices.iter().map(|d| d.end - d.start).collect();
            assert_eq!(lengths, [6, 1], "{strange} at {place}");
            assert_eq!(snapshot.segments.len(), 2);
            let count = |what: &str| {
                crate::support::skipped(
                    &report::model::Rank {
                        skipped: json.skipped.clone(),
                        ..Default::default()
                    },
                    what,
                )
            };
            assert_eq!(count("entry that is not an event"), 1, "{:?}", json.skipped);
            assert_eq!(
                count("entry that is not a segment"),
                1,
                "{:?}",
                json.skipped
            );
        }
    }
    // The same in a pickle, where lists grow entry by entry.
    let event = |p: Pickle, acted: bool| {
        let p = p.op(b"}(");
        let p = if acted {
            p.text("action").text("alloc")
        } else {
            p
        };
        p.text("addr").int(4096).text("size").int(512).op(b"u")
    };
    for appended in [true, false] {
        for place in 0..5 {
            let mut p = Pickle::new().op(b"}(").text("device_traces").op(b"](]");
            p = if appended { p } else { p.op(b"(") };
            for i in 0..5 {
                p = event(p, i != place);
                p = if appended { p.op(b"a") } else { p };
            }
            let bytes = if appended { p } else { p.op(b"e") }.op(b"eu").done();
            let rank = read_pickle("s", &bytes[..]).unwrap();
            assert_eq!(
                crate::support::skipped(&rank, "entry that is not an event"),
                1
            );
            let snapshot = rank.snapshot.unwrap();
            assert_eq!((snapshot.devices[0].start, snapshot.devices[0].end), (0, 4));
        }
    }
}
