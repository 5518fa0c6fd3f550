//! Inputs that nobody should write, and that somebody will.

use report::Error;
use report::model::{Rank, Value};
use report::read::runtime_report;

use crate::bodies::everything;
use crate::support::{FIXTURES, Failing, Pieces, Random, bytes, read, short, skipped};

/// A report of one event with every field, `FIGURE` to be replaced.
fn event(field: &str, value: &str) -> String {
    let mut text = String::from(
        r#"{"runtime_trace": [{"event_type": "module", "module": "m", "phase": "forward""#,
    );
    for name in NUMBERS {
        let figure = if name == field { value } else { "7" };
        text.push_str(&format!(", \"{name}\": {figure}"));
    }
    let tensor_bytes = if field == "bytes" { value } else { "7" };
    let dimension = if field == "dimension" { value } else { "7" };
    text.push_str(&format!(
        ", \"inputs\": [{{\"name\": \"\", \"shape\": [2, {dimension}], \"dtype\": \"int8\", \"device\": \"cpu\", \
         \"requires_grad\": false, \"bytes\": {tensor_bytes}}}], \"outputs\": [], \"grads\": [], \"notes\": \"\"}}], \"peak\": {{"
    ));
    for (i, name) in PEAK.iter().enumerate() {
        let figure = if *name == field { value } else { "7" };
        text.push_str(&format!(
            "{}\"{}\": {figure}",
            if i > 0 { ", " } else { "" },
            name.trim_start_matches("peak.")
        ));
    }
    text.push_str("}}");
    text
}

const NUMBERS: [&str; 9] = [
    "step",
    "mem_allocated_before",
    "mem_allocated_after",
    "mem_reserved_before",
    "mem_reserved_after",
    "max_mem_allocated",
    "max_mem_reserved",
    "delta_allocated",
    "delta_reserved",
];
const PEAK: [&str; 3] = ["peak.step", "peak.memory_bytes", "peak.reserved_bytes"];
const SIGNED: [&str; 5] = [
    "step",
    "delta_allocated",
    "delta_reserved",
    "dimension",
    "peak.step",
];

fn fields() -> impl Iterator<Item = &'static str> {
    NUMBERS
        .into_iter()
        .chain(["bytes", "dimension"])
        .chain(PEAK)
}

/// What the field holds once read.
fn figure(rank: &Rank, field: &str) -> Option<i64> {
    let row = rank.events.row(0);
    let peak = rank.recorded_peak.clone().unwrap();
    let tensor = rank
        .tensors
        .list(row.inputs)
        .first()
        .and_then(|&t| rank.tensors.get(t))
        .unwrap();
    let bytes = |v: Option<u64>| v.map(|v| i64::try_from(v).unwrap());
    match field {
        "step" => row.step,
        "mem_allocated_before" => bytes(row.allocated_before),
        "mem_allocated_after" => bytes(row.allocated_after),
        "mem_reserved_before" => bytes(row.reserved_before),
        "mem_reserved_after" => bytes(row.reserved_after),
        "max_mem_allocated" => bytes(row.max_allocated),
        "max_mem_reserved" => bytes(row.max_reserved),
        "delta_allocated" => row.delta_allocated,
        "delta_reserved" => row.delta_reserved,
        "bytes" => bytes(tensor.bytes),
        "dimension" => Some(tensor.shape[1]),
        "peak.step" => peak.step,
        "peak.memory_bytes" => bytes(peak.memory_bytes),
        "peak.reserved_bytes" => bytes(peak.reserved_bytes),
        other => panic!("{other}"),
    }
}

#[test]
fn figures_at_the_edges() {
    for field in fields() {
        let signed = SIGNED.contains(&field);
        let unknown = (field == "dimension").then_some(-1);
        for (value, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("12.0", Some(12)),
            ("1e3", Some(1000)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-1", if signed { Some(-1) } else { None }),
            (
                "-9223372036854775807",
                if signed { Some(-i64::MAX) } else { None },
            ),
            ("null", unknown),
        ] {
            let rank = read(event(field, value)).unwrap();
            assert_eq!(figure(&rank, field), expected, "{field}: {value}");
            let lost = value != "null" && expected.is_none();
            assert_eq!(
                rank.skipped.total(),
                u64::from(lost),
                "{field}: {value}: {:?}",
                rank.skipped
            );
            everything(&report::model::Report::of(vec![rank]));
        }
        for value in [
            "NaN",
            "Infinity",
            "-Infinity",
            "0.5",
            "true",
            "\"7\"",
            "[7]",
            "{\"a\": 7}",
        ] {
            let rank = read(event(field, value)).unwrap();
            assert_eq!(figure(&rank, field), unknown, "{field}: {value}");
            assert_eq!(
                rank.skipped.total(),
                1,
                "{field}: {value}: {:?}",
                rank.skipped
            );
            let text = event(field, value);
            let at = text
                .find(&format!(": {value}"))
                .or(text.find(&format!(", {value}]")))
                .unwrap()
                + 2;
            assert_eq!(rank.skipped.iter().next().unwrap().first_offset, at as u64);
        }
        for value in [
            "9223372036854775808",
            "18446744073709551616",
            "1000000000000000000000000000000",
            "-9223372036854775808",
            "9223372036854775808.0",
            "1e30",
            "1e400",
            "-1e400",
        ] {
            let text = event(field, value);
            let at = text.find(value).unwrap();
            let error = read(&text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("r.json: at byte {at}: expected ")),
                "{field}: {value}: {error}"
            );
            assert!(error.contains(" between -2^63 and 2^63, found "), "{error}");
        }
        for value in [
            "01", "+1", ".5", "1.", "1e", "1e+", "--1", "0x10", "NaNa", "nan", "inf", "-", "-Inf",
            "1_000",
        ] {
            assert!(read(event(field, value)).is_err(), "{field}: {value}");
        }
    }
}

#[test]
fn metadata_of_every_kind() {
    let rank = read(
        r#"{"metadata": {"a": 1, "b": -2.5, "c": null, "d": true, "e": "x", "f": NaN, "g": -Infinity,
            "h": [1, {"k": "v\n", "n": NaN}, []], "i": 9223372036854775808, "j": 1e400, "rank": "3", "k": {}}}"#,
    )
    .unwrap();
    let text = |t: &str| Value::Text(t.to_owned());
    let json = |t: &str| Value::Json(t.to_owned());
    for (key, value) in [
        ("a", Value::Int(1)),
        ("b", Value::Float(-2.5)),
        ("c", Value::Null),
        ("d", Value::Bool(true)),
        ("e", text("x")),
        ("f", text("NaN")),
        ("g", text("-Infinity")),
        // What JSON has no form for is a text, so that the whole stays JSON.
        ("h", json(r#"[1, {"k": "v\n", "n": "NaN"}, []]"#)),
        ("i", text("9223372036854775808")),
        ("j", text("a number beyond the range of 64-bit floats")),
        ("k", json("{}")),
    ] {
        assert_eq!(rank.metadata.get(key), Some(&value), "{key}");
    }
    assert_eq!(rank.number(), Some(3));
}

#[test]
fn long_metadata_is_cut_and_says_so() {
    let text = format!(r#"{{"metadata": {{"a": [{}0]}}}}"#, "0, ".repeat(1_000_000));
    let rank = read(text).unwrap();
    let Some(Value::Json(kept)) = rank.metadata.get("a") else {
        panic!()
    };
    assert!(kept.len() < 70_000, "{}", kept.len());
    let elements = kept.matches('0').count();
    let more: usize = kept
        .split("… ")
        .nth(1)
        .unwrap()
        .trim_end_matches(" more]")
        .parse()
        .unwrap();
    assert!(kept.ends_with(" more]"));
    assert!(elements > 20_000 && more > 900_000 && more < 1_000_001);
    let many: String = (0..5000).map(|i| format!("\"k{i}\": 1, ")).collect();
    let rank = read(format!(r#"{{"metadata": {{{many}"z": 1}}}}"#)).unwrap();
    assert_eq!(rank.metadata.len(), 4096);
    assert_eq!(skipped(&rank, "metadata beyond the first 4096 fields"), 905);
}

#[test]
fn cut_off_anywhere() {
    let text = short(FIXTURES[2], 6);
    assert_eq!(read(&text).unwrap().events.len(), 6);
    for end in 0..text.len() {
        let error = read(&text[..end]).expect_err("cut off").to_string();
        assert!(error.starts_with("r.json: at byte "), "{error}");
        assert!(
            error.ends_with(
                "the file is cut off: copy it again, or let the run that writes it finish"
            ),
            "{end}: {error}"
        );
    }
}

#[test]
fn a_million_levels() {
    for open in ["[", "{\"a\": "] {
        let deep = open.repeat(1_000_000);
        let closed = format!(
            "{deep}1{}",
            if open == "[" { "]" } else { "}" }.repeat(1_000_000)
        );
        for text in [
            deep.clone(),
            closed.clone(),
            format!("{{\"unknown\": {closed}}}"),
            format!("{{\"runtime_trace\": [{{\"unknown\": {closed}}}]}}"),
            format!("{{\"runtime_trace\": {closed}}}"),
            format!("{{\"runtime_trace\": [{{\"inputs\": [{{\"shape\": {closed}}}]}}]}}"),
            format!("{{\"metadata\": {{\"a\": {closed}}}}}"),
            format!("{{\"peak\": {closed}}}"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            // An array is no report to begin with, however deep.
            assert!(
                error.contains("256 levels") || text.starts_with('['),
                "{error}"
            );
        }
    }
    // As deep as is allowed: read.
    let text = format!(
        "{{\"peak\": {{}}, \"x\": {}{}}}",
        "[".repeat(255),
        "]".repeat(255)
    );
    assert_eq!(skipped(&read(text).unwrap(), "unknown field x"), 1);
}

#[test]
fn text_of_every_kind() {
    for (written, read_as) in [
        ("模型.层.0", "模型.层.0"),
        ("\\u6a21\\u578b", "模型"),
        ("\\ud83d\\ude00 \\u00e9", "😀 é"),
        ("a\\u0000b", "a\0b"),
        ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{c}\n\r\t"),
        ("\\ud83d", "\\ud83d"),
        ("\\ude00\\ud83d", "\\ude00\\ud83d"),
        ("\\ud83d\\n", "\\ud83d\n"),
        ("\\ud83d\\ud83d\\ude00", "\\ud83d😀"),
        ("\u{7f}\u{80}\u{ffff}", "\u{7f}\u{80}\u{ffff}"),
        ("<script>&amp;", "<script>&amp;"),
    ] {
        let text = format!(r#"{{"runtime_trace": [{{"module": "{written}", "{written}": 1}}]}}"#);
        let rank = read(&text).unwrap();
        let row = rank.events.row(0);
        assert_eq!(rank.strings.get(row.module), read_as);
        let lone = read_as.matches("\\ud").count() as u64;
        // Once as a value, once as a key.
        assert_eq!(
            skipped(&rank, "lone surrogate, shown as its escape \\udxxx"),
            2 * lone
        );
        let whole = Pieces {
            rest: text.as_bytes(),
            most: 1,
            random: Random(1),
        };
        assert_eq!(runtime_report::read("r.json", whole).unwrap(), rank);
    }
    for bad in [
        &b"\xff"[..],
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe6\x97",
        b"\x80",
        b"a\\n\xff",
    ] {
        for place in ["module", "notes", "unknown"] {
            let mut text = format!(r#"{{"runtime_trace": [{{"{place}": ""#).into_bytes();
            text.extend_from_slice(bad);
            text.extend_from_slice(br#""}]}"#);
            let error = read(&text).unwrap_err().to_string();
            assert!(
                error.contains("expected UTF-8 text, found byte 0x"),
                "{error}"
            );
        }
    }
    for control in (0..0x20u8).filter(|b| *b != 0) {
        for prefix in ["", "a\\n", "aaaaaaaaaaaaaaaa"] {
            let text = format!(
                "{{\"runtime_trace\": [{{\"module\": \"{prefix}{}\"}}]}}",
                control as char
            );
            let error = read(&text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("found byte 0x{control:02x}")),
                "{error}"
            );
        }
    }
}

#[test]
fn byte_order_mark_and_white_space() {
    let text = short(FIXTURES[0], 2);
    let plain = read(&text).unwrap();
    for odd in [
        format!("\u{feff}{text}"),
        format!(" \r\n\t{text}\r\n \t"),
        format!("{text}{}", " ".repeat(300_000)),
    ] {
        let rank = read(&odd).unwrap();
        assert_eq!(rank.events, plain.events);
        assert_eq!(rank.source.bytes, odd.len() as u64);
        let report = report::read::read(report::read::Input {
            name: "r.json",
            bytes: odd.as_bytes(),
        })
        .unwrap();
        assert_eq!(report.ranks[0], rank);
    }
    let compact =
        serde_json::to_string(&serde_json::from_str::<serde_json::Value>(&text).unwrap()).unwrap();
    assert_eq!(read(compact).unwrap().events.len(), 2);
    let sixteen: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(sixteen).is_err());
}

#[test]
fn garbage_behind() {
    let text = short(FIXTURES[0], 1);
    for garbage in ["x", "}", "]", ",", "null", "\0", &text] {
        let error = read(format!("{text}\n{garbage}")).unwrap_err();
        let Error::Malformed {
            offset, expected, ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(*offset, text.len() as u64 + 1);
        assert_eq!(
            expected,
            "the end of the file after the report's closing '}'"
        );
    }
}

#[test]
fn repeated_fields_keep_the_last_and_count_the_rest() {
    let rank = read(
        r#"{"runtime_trace": [{"step": 1}], "runtime_trace": [{"step": 2, "step": 3, "inputs":
            [{"bytes": 1, "name": "", "bytes": 2}]}], "peak": {"step": 1, "step": 4}, "metadata": {"a": 1, "a": 2}}"#,
    )
    .unwrap();
    assert_eq!((rank.events.len(), rank.events.step.get(0)), (1, Some(3)));
    let tensor = rank.tensors.list(rank.events.row(0).inputs)[0];
    assert_eq!(rank.tensors.get(tensor).unwrap().bytes, Some(2));
    assert_eq!(rank.recorded_peak.as_ref().unwrap().step, Some(4));
    assert_eq!(rank.metadata.get("a"), Some(&Value::Int(2)));
    for (field, count) in [("runtime_trace", 1), ("step", 2), ("bytes", 1), ("a", 1)] {
        assert_eq!(
            skipped(
                &rank,
                &format!("earlier value of the repeated field {field}")
            ),
            count,
            "{field}"
        );
    }
}

#[test]
fn missing_and_unknown_fields() {
    let rank = read(r#"{"runtime_trace": [{}, {"module": "m", "color": 1}], "new": {"x": [1, 2]},
        "peak": {"taste": null, "step": 1}, "top_events": [{"inputs": [{"smell": "a", "bytes": 1}]}]}"#)
    .unwrap();
    for (what, count) in [
        ("unknown field new", 1),
        ("unknown field of an event: color", 1),
        ("unknown field of a tensor: smell", 1),
        ("unknown field peak.taste", 1),
        ("event without module", 2),
        ("event without notes", 3),
        ("event without inputs", 2),
        ("event without mem_allocated_after", 3),
    ] {
        assert_eq!(skipped(&rank, what), count, "{what}: {:?}", rank.skipped);
    }
    let row = rank.events.row(0);
    assert_eq!(
        (row.step, row.allocated_after, row.delta_reserved),
        (None, None, None)
    );
    everything(&report::model::Report::of(vec![rank]));
}

#[test]
fn wrong_types_everywhere() {
    let text_fields = ["event_type", "module", "phase", "notes"];
    let list_fields = ["inputs", "outputs", "grads"];
    for value in [
        "1",
        "-1.5",
        "true",
        "[]",
        "{}",
        "\"x\"",
        "[[1]]",
        "{\"a\": [1]}",
    ] {
        for field in text_fields.into_iter().chain(list_fields) {
            let rank = read(format!(r#"{{"runtime_trace": [{{"{field}": {value}}}]}}"#)).unwrap();
            let fits = if text_fields.contains(&field) {
                value.starts_with('"')
            } else {
                value == "[]"
            };
            let wrong = skipped(&rank, &format!("{field} of another type than expected"))
                + skipped(&rank, &format!("element of {field} that is no object"));
            assert_eq!(
                wrong,
                u64::from(!fits),
                "{field}: {value}: {:?}",
                rank.skipped
            );
        }
        for field in ["name", "shape", "dtype", "device", "requires_grad", "bytes"] {
            let rank = read(format!(
                r#"{{"runtime_trace": [{{"grads": [{{"{field}": {value}}}]}}]}}"#
            ))
            .unwrap();
            let fits = match field {
                "bytes" => value == "1",
                "requires_grad" => value == "true",
                "shape" => value == "[]",
                _ => value.starts_with('"'),
            };
            let missing: u64 = rank
                .skipped
                .iter()
                .filter(|s| s.what.starts_with("event without"))
                .map(|s| s.count)
                .sum();
            assert_eq!(
                rank.skipped.total() - missing,
                u64::from(!fits),
                "{field}: {value}: {:?}",
                rank.skipped
            );
        }
        for field in [
            "runtime_trace",
            "top_events",
            "peak",
            "metadata",
            "comparisons",
        ] {
            let rank = read(format!(r#"{{"{field}": {value}}}"#)).unwrap();
            let list = field == "runtime_trace" || field == "top_events";
            let fits = if list {
                value == "[]"
            } else {
                value.starts_with('{') && (field != "peak" || value == "{}")
            };
            assert_eq!(
                rank.skipped.total(),
                u64::from(!fits),
                "{field}: {value}: {:?}",
                rank.skipped
            );
            assert!(rank.events.is_empty());
        }
    }
    let rank = read(r#"{"runtime_trace": [1, null, "x", {"module": "m"}, []]}"#).unwrap();
    assert_eq!(rank.events.len(), 1);
    assert_eq!(
        skipped(&rank, "element of runtime_trace that is no object"),
        4
    );
}

#[test]
fn reports_without_much() {
    for text in [
        r#"{"runtime_trace": null}"#,
        r#"{"runtime_trace": []}"#,
        r#"{"runtime_trace": {}}"#,
        r#"{"peak": null, "top_events": []}"#,
        r#"{"metadata": {}}"#,
        r#"{"comparisons": {}}"#,
        r#"{"runtime_trace": [{}]}"#,
    ] {
        let rank = read(text).unwrap();
        assert!(rank.recorded_peak.is_none());
        everything(&report::model::Report::of(vec![rank]));
    }
    let nulls =
        read(r#"{"peak": {"phase": null, "module": null, "step": null, "memory_bytes": null}}"#)
            .unwrap();
    assert_eq!(
        nulls.recorded_peak,
        Some(report::model::RecordedPeak::default()),
        "null is unknown, not empty text"
    );
    assert!(nulls.skipped.is_empty());
    let one = read(short(FIXTURES[0], 1)).unwrap();
    assert_eq!(one.events.len(), 1);
    everything(&report::model::Report::of(vec![one]));
    // A run on the CPU: torch.cuda's figures are all zero.
    let mut json: serde_json::Value = serde_json::from_str(&short(FIXTURES[0], 190)).unwrap();
    for event in json["runtime_trace"].as_array_mut().unwrap() {
        for (key, value) in event.as_object_mut().unwrap() {
            if key.contains("mem_") || key.starts_with("delta") {
                *value = 0.into();
            }
        }
    }
    let rank = read(json.to_string()).unwrap();
    let summary = report::analyze::summary::rank(&rank);
    assert_eq!(
        (summary.peak.allocated.bytes, summary.end.allocated),
        (Some(0), Some(0))
    );
    assert!(
        summary.growth.is_empty(),
        "nothing is said about no memory: {:?}",
        summary.growth
    );
    assert_eq!(report::analyze::holders::holders(&rank, &[]), None);
    everything(&report::model::Report::of(vec![rank]));
}

#[test]
fn long_names_and_paths() {
    let long = "a".repeat(1 << 20);
    let dots = ".".repeat(100_000);
    let numbers = "layers.0.".repeat(20_000);
    for name in [
        &long,
        &dots,
        &numbers,
        &format!("param::{dots}"),
        &format!("{dots}output[0]"),
    ] {
        let event = format!(
            r#"{{"event_type": "module", "module": "{name}", "phase": "forward", "step": 1,
                "mem_allocated_before": 1, "mem_allocated_after": 9, "max_mem_allocated": 9}}"#
        );
        let rank = read(format!(r#"{{"runtime_trace": [{event}, {event}]}}"#)).unwrap();
        assert_eq!(rank.strings.get(rank.events.module[0]), name);
        assert_eq!(rank.events.module[0], rank.events.module[1]);
        everything(&report::model::Report::of(vec![rank]));
    }
}

#[test]
fn many_kinds_of_unknown_fields() {
    let fields: String = (0..5000).map(|i| format!("\"f{i}\": 0, ")).collect();
    let rank = read(format!("{{{fields}\"peak\": {{}}}}")).unwrap();
    assert_eq!(rank.skipped.total(), 5000, "counted together, but counted");
    assert!(rank.skipped.iter().count() <= report::model::Skipped::MAX_KINDS);
}

/// Analyses of inputs made to be slow: each took minutes before it was guarded.
#[test]
fn inputs_made_to_be_slow() {
    let mut text = String::from("{\"runtime_trace\": [");
    for i in 0..40_000 {
        let (module, phase) = if i < 20_000 {
            (0, "forward_pre")
        } else {
            (i, "forward")
        };
        text.push_str(&format!(
            "{{\"module\": \"m{module}\", \"phase\": \"{phase}\"}}, "
        ));
    }
    for i in 0..20_000 {
        text.push_str(&format!("{{\"phase\": \"p{i}_pre\"}}, "));
    }
    text.push_str("{}]}");
    let rank = read(text).unwrap();
    let pairing = report::analyze::pairing::pair(&rank);
    assert_eq!((pairing.pairs, pairing.lone_post), (0, 20_000));
    // Step numbers as far apart as they can be.
    let mut text = String::from("{\"runtime_trace\": [");
    for (i, step) in [-i64::MAX, -1, 0, 1, 2, i64::MAX].iter().enumerate() {
        let (before, after) = (100_000_000 * i, 100_000_000 * (i + 1));
        text.push_str(&format!(
            "{}{{\"step\": {step}, \"mem_allocated_before\": {before}, \"mem_allocated_after\": {after}, \"max_mem_allocated\": {after}}}",
            if i > 0 { ", " } else { "" }
        ));
    }
    text.push_str("]}");
    everything(&report::model::Report::of(vec![read(text).unwrap()]));
}

#[test]
fn in_whatever_pieces() {
    for fixture in FIXTURES {
        let bytes = bytes(fixture);
        let whole = read(&bytes).unwrap();
        for (most, seed) in [(1, 1), (16, 2), (1000, 3), (300_000, 4)] {
            let pieces = Pieces {
                rest: &bytes,
                most,
                random: Random(seed),
            };
            assert_eq!(
                runtime_report::read("r.json", pieces).unwrap(),
                whole,
                "{fixture} in pieces up to {most}"
            );
        }
    }
    // Escapes, numbers and characters across every edge.
    let text = short(FIXTURES[0], 3).replace(
        "\"notes\": \"",
        "\"notes\": \"\\u00e9\\ud83d\\ude00模\\n -1.5e3 ",
    );
    let whole = read(&text).unwrap();
    for seed in 1..200 {
        let pieces = Pieces {
            rest: text.as_bytes(),
            most: 40,
            random: Random(seed),
        };
        assert_eq!(runtime_report::read("r.json", pieces).unwrap(), whole);
    }
    // Across the edge of the first window too: every distance around it.
    let text = short(FIXTURES[0], 1).replace("\"notes\": \"", "\"notes\": \"模\\u00e9");
    let expected = read(&text).unwrap();
    for pad in (256 << 10) - text.len()..(256 << 10) + 2 {
        if pad % 7 != 0 {
            continue;
        }
        let rank = read(format!("{}{text}", " ".repeat(pad))).unwrap();
        assert_eq!(
            (rank.events, rank.strings),
            (expected.events.clone(), expected.strings.clone()),
            "{pad}"
        );
    }
}

#[test]
fn sources_that_fail() {
    let text = short(FIXTURES[0], 3);
    for at in (0..text.len()).step_by(37) {
        let error = runtime_report::read("r.json", Failing(&text.as_bytes()[..at])).unwrap_err();
        let Error::Io {
            name,
            offset,
            source,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(
            (name.as_str(), offset, source.to_string().as_str()),
            ("r.json", at as u64, "the disk is gone")
        );
    }
}
