//! A fuzzer without coverage, for every build: random damage to a short report and its container.
//! `report/fuzz` does the same with libFuzzer.

use report::container::{Container, Level, pack};
use report::model::Report;

use crate::bodies;
use crate::support::{FIXTURES, Random, read};

/// What JSON readers trip over.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud83d",
    "\\u0000",
    "null",
    "true",
    "NaN",
    "-Infinity",
    "-",
    "0",
    "1e400",
    "9223372036854775807",
    "9223372036854775808",
    "1e18",
    "-1",
    " ",
    "\n",
    "\0",
    "\u{e9}",
    "runtime_trace",
    "\"step\": 1,",
    "\"phase\": \"forward_pre\",",
    "{\"module\": \"a.0.b\"},",
    "_pre",
    "param::",
];

pub fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..=random.below(4) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len());
        let end = (at + 1 + random.below(40)).min(text.len());
        match random.below(8) {
            0 => text[at] = random.next() as u8,
            1 => text[at] ^= 1 << random.below(8),
            2 => drop(text.drain(at..end)),
            3 => text.truncate(at),
            4 => {
                let copy = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, copy);
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())].bytes();
                let over = if random.below(2) == 0 { at } else { end };
                text.splice(at..over, piece);
            }
        }
    }
    text
}

/// The seeds, in order of their names.
fn corpus(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = format!("{}/tests/suite/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let seed = |p: &std::path::PathBuf| {
        (
            p.file_name().unwrap().to_str().unwrap().to_owned(),
            std::fs::read(p).unwrap(),
        )
    };
    paths.iter().map(seed).collect()
}

#[test]
fn damaged_reports() {
    let seeds = corpus("runtime_report");
    let mut random = Random(0x5eed);
    for (name, seed) in &seeds {
        assert!(read(seed).is_ok(), "{name}");
        bodies::runtime_report(seed);
        for _ in 0..20_000 / seeds.len() {
            bodies::runtime_report(&mutate(seed, &mut random));
        }
    }
}

#[test]
fn damaged_containers() {
    let mut random = Random(0x5eed);
    for (name, text) in corpus("runtime_report") {
        let report = Report::of(vec![
            report::read::runtime_report::read(&name, &text[..]).unwrap(),
        ]);
        for level in [0, 6] {
            let seed = pack(&report, "seed", Level(level)).unwrap();
            bodies::container(&seed);
            assert_eq!(
                bodies::repair(&seed),
                Some(seed.clone()),
                "nothing to repair in a whole one"
            );
            for _ in 0..600 {
                bodies::container(&mutate(&seed, &mut random));
            }
        }
    }
}

/// Containers that lie in people's reports must stay readable. `BLESS=1` writes them again, which
/// is right only as long as this version of the format was not published.
#[test]
fn kept_containers_open() {
    for (name, text) in corpus("runtime_report") {
        let report = Report::of(vec![
            report::read::runtime_report::read(&name, &text[..]).unwrap(),
        ]);
        let kept = format!(
            "{}/tests/suite/corpus/container/{name}.memscope",
            env!("CARGO_MANIFEST_DIR")
        );
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&kept, pack(&report, "seed", Level(6)).unwrap()).unwrap();
        }
        let bytes = std::fs::read(&kept).unwrap();
        bodies::container(&bytes);
        assert_eq!(
            Container::open(&name, bytes).unwrap().report().unwrap(),
            report,
            "{name}"
        );
    }
}

#[test]
fn fixtures_hold_as_well() {
    for fixture in FIXTURES {
        bodies::runtime_report(&crate::support::bytes(fixture));
    }
}
