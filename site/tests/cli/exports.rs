//! `memscope export`: what other programs read, read back.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{fixture, memscope};
use crate::viz::{SNAPSHOTS, stat};

fn export(path: &str, more: &[&str]) -> Vec<u8> {
    let mut arguments = vec!["export", path];
    arguments.extend(more);
    let done = memscope(arguments);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    done.stdout
}

fn json(path: &str, more: &[&str]) -> Value {
    serde_json::from_slice(&export(path, more)).unwrap()
}

#[test]
fn speedscope_weighs_what_lives() {
    for (folder, file) in SNAPSHOTS {
        let path = format!("{folder}/{file}");
        let a = json(
            &path,
            &["-f", "speedscope", "--what", "live", "--at", "end"],
        );
        assert_eq!(
            a["$schema"],
            "https://www.speedscope.app/file-format-schema.json"
        );
        let frames = a["shared"]["frames"].as_array().unwrap();
        let p = &a["profiles"][0];
        let weights = p["weights"].as_array().unwrap();
        let samples = p["samples"].as_array().unwrap();
        assert_eq!(weights.len(), samples.len());
        let sum: u64 = weights.iter().map(|w| w.as_u64().unwrap()).sum();
        let end = stat(folder, "requested_bytes.all.current");
        assert_eq!((sum, p["endValue"].as_u64()), (end, Some(end)), "{folder}");
        assert_eq!(
            (&p["type"], &p["unit"], &p["startValue"]),
            (&"sampled".into(), &"bytes".into(), &0.into())
        );
        for s in samples.iter().flat_map(|s| s.as_array().unwrap()) {
            assert!(frames[s.as_u64().unwrap() as usize]["name"].is_string());
        }
    }
}

/// The highest value of each counter is the peak that the allocator itself states, and no time goes
/// backwards.
#[test]
fn perfetto_counts_to_the_peak() {
    for (folder, file) in SNAPSHOTS {
        if ["ring_overflow", "kv_cache_generate"].contains(&folder) {
            continue;
        }
        let a = json(&format!("{folder}/{file}"), &["-f", "perfetto"]);
        let mut highest: BTreeMap<String, u64> = BTreeMap::new();
        let mut last: BTreeMap<String, f64> = BTreeMap::new();
        for e in a["traceEvents"].as_array().unwrap() {
            if e["ph"] != "C" {
                continue;
            }
            let name = e["name"].as_str().unwrap().to_owned();
            let top = highest.entry(name.clone()).or_default();
            *top = (*top).max(e["args"]["bytes"].as_u64().unwrap());
            let time = e["ts"].as_f64().unwrap();
            let before = last.insert(name, time);
            assert!(before.is_none_or(|b| b <= time), "{folder}");
        }
        for (counter, name) in [
            ("requested", "requested_bytes"),
            ("allocated", "allocated_bytes"),
            ("reserved", "reserved_bytes"),
        ] {
            let peak = stat(folder, &format!("{name}.all.peak"));
            assert_eq!(highest[counter], peak, "{folder} {counter}");
        }
    }
    let a = json("annotated/snapshot.pickle.xz", &["-f", "perfetto"]);
    let slices = a["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["ph"] == "X");
    assert!(slices.clone().count() > 3 && slices.clone().all(|e| e["dur"].is_number()));
    assert!(slices.clone().any(|e| e["name"] == "forward"));
    let oom = json(
        "oom_fragmentation/snapshot_at_oom.pickle",
        &["-f", "perfetto"],
    );
    let marks = oom["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["ph"] == "i");
    let marks: Vec<&Value> = marks.collect();
    assert_eq!((marks.len(), &marks[0]["name"]), (1, &"oom".into()));
    assert!(marks[0]["args"]["device_free"].as_u64().unwrap() > 0);
}

#[test]
fn the_tables_are_the_same_in_every_format() {
    for what in ["live", "allocations", "events", "curve", "stacks"] {
        let path = "cuda_graphs/snapshot.pickle";
        let rows = json(path, &["-f", "json", "--what", what]);
        let rows = rows.as_array().unwrap();
        assert!(!rows.is_empty());
        let table = parquet::read(&export(path, &["-f", "parquet", "--what", what]));
        let csv = export(path, &["-f", "csv", "--what", what]);
        let csv = String::from_utf8(csv).unwrap();
        let (head, _) = csv.split_once('\n').unwrap();
        let names: Vec<&str> = table.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, head.split(',').collect::<Vec<_>>(), "{what}");
        assert_eq!(csv.lines().count(), rows.len() + 1, "{what}");
        for (name, cells) in &table {
            assert_eq!(cells.len(), rows.len(), "{what} {name}");
            for (cell, row) in cells.iter().zip(rows) {
                // An empty text is null in Parquet.
                let value = Some(&row[name]).filter(|v| **v != "").cloned();
                assert_eq!(*cell, value.unwrap_or_default(), "{what} {name}");
            }
        }
    }
    let all = json("cuda_graphs/snapshot.pickle", &["-f", "json"]);
    let live = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|a| a["free_completed"] == "");
    let live: u64 = live.map(|a| a["size"].as_u64().unwrap()).sum();
    assert_eq!(live, stat("cuda_graphs", "requested_bytes.all.current"));
    assert_eq!(fixture("cuda_graphs/snapshot.pickle")[0], 0x80);
}

/// Row groups are cut, dictionaries grow wide, and what is missing stays so.
#[test]
fn long_tables_come_back_from_parquet() {
    let path = "kv_cache_generate/snapshot.pickle.xz";
    let table = parquet::read(&export(path, &["-f", "parquet", "--what", "curve"]));
    let csv = export(path, &["-f", "csv", "--what", "curve"]);
    let csv = String::from_utf8(csv).unwrap();
    for (n, line) in csv.lines().skip(1).enumerate() {
        for ((_, cells), field) in table.iter().zip(line.split(',')) {
            let cell = match &cells[n] {
                Value::Null => String::new(),
                Value::String(s) => s.clone(),
                other => other.to_string(),
            };
            assert_eq!(cell, field, "row {n}");
        }
    }
    assert_eq!(table[0].1.len(), csv.lines().count() - 1);
}

/// A reader of as much of Parquet as is written, from the format's description.
mod parquet {
    use std::io::Read as _;

    use super::Value;

    /// Names and cells, column after column.
    pub(super) fn read(file: &[u8]) -> Vec<(String, Vec<Value>)> {
        assert_eq!(
            (&file[..4], &file[file.len() - 4..]),
            (&b"PAR1"[..], &b"PAR1"[..])
        );
        let length = &file[file.len() - 8..file.len() - 4];
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let footer = Thrift::whole(&file[file.len() - 8 - length..file.len() - 8]);
        let schema = footer[2].list();
        let mut out: Vec<(String, Vec<Value>)> = schema[1..]
            .iter()
            .map(|c| (c.fields()[4].text(), Vec::new()))
            .collect();
        for group in footer[4].list() {
            let group = group.fields();
            for (column, chunk) in group[1].list().iter().enumerate() {
                let meta = chunk.fields()[3].fields().to_vec();
                let before = out[column].1.len();
                let cells = self::column(file, &meta);
                out[column].1.extend(cells);
                assert_eq!((out[column].1.len() - before) as i64, group[3].int());
            }
        }
        assert!(out.iter().all(|c| c.1.len() as i64 == footer[3].int()));
        out
    }

    fn page(file: &[u8], at: i64) -> (Vec<Thrift>, Vec<u8>) {
        let mut rest = &file[at as usize..];
        let header = Thrift::fields_of(&mut rest);
        let mut body = Vec::new();
        let packed = &rest[..header[3].int() as usize];
        flate2::read::GzDecoder::new(packed)
            .read_to_end(&mut body)
            .unwrap();
        assert_eq!(body.len() as i64, header[2].int());
        (header, body)
    }

    fn column(file: &[u8], meta: &[Thrift]) -> Vec<Value> {
        assert_eq!(meta[4].int(), 2, "gzip");
        let kind = meta[1].int();
        let mut words = Vec::new();
        if let Some(at) = meta.get(11).filter(|f| !matches!(f, Thrift::Absent)) {
            let (header, body) = page(file, at.int());
            let mut rest = &body[..];
            while !rest.is_empty() {
                let n = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
                words.push(String::from_utf8(rest[4..4 + n].to_vec()).unwrap());
                rest = &rest[4 + n..];
            }
            assert_eq!(header[7].fields()[1].int() as usize, words.len());
        }
        let (header, body) = page(file, meta[9].int());
        let n = header[5].fields()[1].int() as usize;
        let levels = u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
        let present = hybrid(&body[4..4 + levels], 1, n);
        let values = &body[4 + levels..];
        let some = present.iter().filter(|&&p| p == 1).count();
        let mut cells: Vec<Value> = match kind {
            2 => values
                .chunks(8)
                .map(|b| i64::from_le_bytes(b.try_into().unwrap()).into())
                .collect(),
            5 => values
                .chunks(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap()).into())
                .collect(),
            _ => hybrid(&values[1..], values[0].into(), some)
                .into_iter()
                .map(|i| words[i as usize].clone().into())
                .collect(),
        };
        assert_eq!(cells.len(), some);
        cells.reverse();
        present
            .iter()
            .map(|&p| {
                if p == 1 {
                    cells.pop().unwrap()
                } else {
                    Value::Null
                }
            })
            .collect()
    }

    /// Runs of repeated and of bit-packed values.
    fn hybrid(mut bytes: &[u8], width: usize, n: usize) -> Vec<u32> {
        let mut out = Vec::new();
        while out.len() < n {
            let head = varint(&mut bytes);
            assert_eq!(head & 1, 1, "only bit-packed runs are written");
            let bits = |i: usize| u32::from(bytes[i / 8] >> (i % 8) & 1);
            let values = (head >> 1) as usize * 8;
            out.extend(
                (0..values).map(|v| (0..width).map(|b| bits(v * width + b) << b).sum::<u32>()),
            );
            bytes = &bytes[values * width / 8..];
        }
        assert!(bytes.is_empty());
        out.truncate(n);
        out
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    }

    #[derive(Debug, Clone)]
    pub(super) enum Thrift {
        Absent,
        Int(i64),
        Text(Vec<u8>),
        List(Vec<Thrift>),
        Fields(Vec<Thrift>),
    }

    impl Thrift {
        fn whole(mut bytes: &[u8]) -> Vec<Self> {
            let out = Self::fields_of(&mut bytes);
            assert!(bytes.is_empty());
            out
        }

        /// Fields by their ids.
        fn fields_of(bytes: &mut &[u8]) -> Vec<Self> {
            let mut out = vec![Self::Absent];
            loop {
                let head = bytes[0];
                *bytes = &bytes[1..];
                if head == 0 {
                    return out;
                }
                for _ in 1..head >> 4 {
                    out.push(Self::Absent);
                }
                out.push(Self::value(bytes, head & 15));
            }
        }

        fn value(bytes: &mut &[u8], kind: u8) -> Self {
            match kind {
                5 | 6 => {
                    let n = varint(bytes);
                    Self::Int((n >> 1) as i64 ^ -((n & 1) as i64))
                }
                8 => {
                    let n = varint(bytes) as usize;
                    let text = bytes[..n].to_vec();
                    *bytes = &bytes[n..];
                    Self::Text(text)
                }
                9 => {
                    let head = bytes[0];
                    *bytes = &bytes[1..];
                    let n = match head >> 4 {
                        15 => varint(bytes),
                        n => n.into(),
                    };
                    Self::List((0..n).map(|_| Self::value(bytes, head & 15)).collect())
                }
                12 => Self::Fields(Self::fields_of(bytes)),
                other => panic!("type {other}"),
            }
        }

        fn int(&self) -> i64 {
            match self {
                Self::Int(n) => *n,
                other => panic!("{other:?}"),
            }
        }

        fn text(&self) -> String {
            match self {
                Self::Text(t) => String::from_utf8(t.clone()).unwrap(),
                other => panic!("{other:?}"),
            }
        }

        fn list(&self) -> &[Self] {
            match self {
                Self::List(l) => l,
                other => panic!("{other:?}"),
            }
        }

        fn fields(&self) -> &[Self] {
            match self {
                Self::Fields(f) => f,
                other => panic!("{other:?}"),
            }
        }
    }
}
