//! A fuzzer for every build: damages real snapshots and their containers opcode by opcode, for a
//! given time, and asks everything of what still opens. `report/fuzz` does the same with libFuzzer
//! and a nightly compiler, guided by coverage.
//!
//! ```text
//! cargo run --release -p report --features snapshot --example fuzz -- [--seconds 60] [--seed N] [FILE...]
//! ```
//!
//! Without files the fixtures of the repository are the seeds. What fails panics, and the input lies
//! beside the program as `fuzz-failure.bin`; `--only FILE` runs one input again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a fuzzer fails by panicking"
)]

// The tests run the same bodies.
#[allow(dead_code)]
#[path = "../tests/suite/bodies.rs"]
mod bodies;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use report::container::{Level, pack};
use report::model::Report;

/// Seeds larger than this are left out: many runs find more than long ones.
const MOST: usize = 300_000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// The bytes of an opcode with its argument; `None` at the end, and for what is none.
fn opcode(bytes: &[u8]) -> Option<usize> {
    let byte = |at: usize| bytes.get(at).map(|&b| usize::from(b));
    let word = |at: usize| {
        let b = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    let length = match *bytes.first()? {
        0x80 | b'K' | b'h' | b'q' => 2,
        b'M' => 3,
        b'J' | b'j' | b'r' => 5,
        b'G' | 0x95 => 9,
        0x8a | 0x8c | b'U' | b'C' => 2 + byte(1)?,
        b'X' | b'B' | b'T' | 0x8b => 5usize.checked_add(word(1)?)?,
        _ => 1,
    };
    (length <= bytes.len()).then_some(length)
}

fn opcodes(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    while let Some(length) = opcode(rest) {
        let (op, tail) = rest.split_at(length);
        out.push(op);
        rest = tail;
    }
    out
}

/// Numbers at which readers break.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 511,
    u64::MAX,
];

/// Opcodes that matter most, each alone.
const PIECES: [&[u8]; 26] = [
    b"}",
    b"]",
    b")",
    b"(",
    b"e",
    b"u",
    b"a",
    b"s",
    b"t",
    b"\x85",
    b"\x86",
    b"\x87",
    b"\x94",
    b"N",
    b"\x88",
    b"\x89",
    b"0",
    b"1",
    b"2",
    b".",
    b"l",
    b"d",
    b"K\0",
    b"G\x7f\xf8\0\0\0\0\0\0",
    b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0",
    b"R",
];

/// Damages a pickle, mostly so that it stays one.
fn mutated(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut ops: Vec<Vec<u8>> = opcodes(seed).into_iter().map(<[u8]>::to_vec).collect();
    let others = opcodes(other);
    for _ in 0..=random.below(6) {
        if ops.is_empty() {
            break;
        }
        let at = random.below(ops.len());
        let end = (at + 1 + random.below(40)).min(ops.len());
        match random.below(12) {
            0 => drop(ops.drain(at..end)),
            1 => {
                let copy = ops[at..end].to_vec();
                let to = random.below(ops.len());
                ops.splice(to..to, copy);
            }
            2 => {
                let with = random.below(ops.len());
                ops.swap(at, with);
            }
            3 if !others.is_empty() => {
                let from = random.below(others.len());
                let to = (from + 1 + random.below(60)).min(others.len());
                let piece: Vec<Vec<u8>> = others[from..to].iter().map(|o| o.to_vec()).collect();
                ops.splice(at..end, piece);
            }
            4 | 5 => {
                let piece = PIECES[random.below(PIECES.len())].to_vec();
                ops.insert(at, piece);
            }
            6 => {
                let bytes = (random.next() as u32).to_le_bytes();
                let slot = random.below(3);
                ops[at] = match slot {
                    0 => vec![b'h', bytes[0]],
                    1 => vec![b'j', bytes[0], bytes[1], 0, 0],
                    _ => [&[b'r'][..], &bytes].concat(),
                };
            }
            7 => ops.truncate(at),
            _ => number(&mut ops[at], random),
        }
    }
    let mut out = ops.concat();
    if random.below(8) == 0 && !out.is_empty() {
        let at = random.below(out.len());
        out[at] ^= 1 << random.below(8);
    }
    out
}

/// Changes an opcode's argument.
fn number(op: &mut [u8], random: &mut Random) {
    let Some((code, argument)) = op.split_first_mut() else {
        return;
    };
    let first = match *code {
        0x8a | 0x8c => 1,
        b'X' => 4,
        _ => 0,
    };
    let edge = EDGES[random.below(EDGES.len())].wrapping_add(random.below(3) as u64);
    let from = if random.below(10) == 0 { 0 } else { first };
    let target = argument.get_mut(from..).unwrap_or_default();
    for (to, from) in target.iter_mut().zip(edge.to_le_bytes()) {
        *to = from;
    }
}

/// Damages any bytes.
fn flipped(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = seed.to_vec();
    for _ in 0..=random.below(5) {
        if out.is_empty() {
            break;
        }
        let at = random.below(out.len());
        let end = (at + 1 + random.below(16)).min(out.len());
        match random.below(5) {
            0 => out[at] = random.next() as u8,
            1 => out[at] ^= 1 << random.below(8),
            2 => drop(out.drain(at..end)),
            3 => {
                let copy = out[at..end].to_vec();
                out.splice(at..at, copy);
            }
            _ => {
                let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
                for (to, from) in out[at..end].iter_mut().zip(edge) {
                    *to = from;
                }
            }
        }
    }
    out
}

fn plain(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let mut out = Vec::new();
    let mut source = report::read::compressed::uncompressed(file).ok()?;
    source.by_ref().take(8 << 20).read_to_end(&mut out).ok()?;
    Some(out)
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut folders = vec![root];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the fixtures").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains("snapshot") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Runs one input; when it fails it is kept.
fn run(what: &str, body: fn(&[u8]), bytes: &[u8]) {
    let failed = std::panic::catch_unwind(|| body(bytes)).is_err();
    if failed {
        let kept = Path::new("fuzz-failure.bin");
        std::fs::write(kept, bytes).expect("the input can be kept");
        panic!(
            "{what}: failed on {} bytes, kept in {}",
            bytes.len(),
            kept.display()
        );
    }
}

/// A short journal with a record of every kind that figures come from.
const JOURNAL: &[u8] = br#"{"k":"header","seq":0,"t":100,"v":1,"writer":"python","pid":7,"realtime":900,"rank":0,"device":0,"devices":[{"ordinal":0,"name":"X","total":1000}]}
{"k":"inventory","seq":1,"t":110,"at":"step_end","items":[{"kind":"parameter","name":"a.w","shape":[2,3],"bytes":24,"storage":"0x7f00","storage_bytes":48,"device":"cuda:0"}]}
{"k":"sample","seq":2,"t":120,"step":0,"phase":"forward","edge":"step_start","allocated":10,"reserved":20,"max_allocated":12,"device_used":90}
{"k":"module","seq":3,"t":130,"edge":"pre","call":1,"name":"a","allocated":10,"reserved":20}
{"k":"module","seq":4,"t":140,"edge":"post","call":1,"name":"a","allocated":14,"reserved":20,"outputs":[{"name":"o","shape":[1],"dtype":"f","bytes":4}]}
{"k":"live","seq":5,"t":150,"by":[{"lib":"/x/libnccl.so","kind":"device","bytes":30,"count":1}],"device_used":99,"context":9}
{"k":"alloc","seq":6,"t":160,"api":"cuMemAlloc_v2","ptr":"0x1","size":30,"rc":0,"bt":[["l","0x1"]]}
{"k":"oom","seq":7,"t":170,"source":"torch","requested":5,"allocated":14,"step":0,"stack":["f"]}
{"k":"overhead","seq":8,"t":180,"records":8,"native_ns":100,"hook_ns":200,"steps":1,"step_ns":1000}
{"k":"footer","seq":9,"t":190,"reason":"exit"}
"#;

fn main() {
    let (mut seconds, mut random, mut files, mut only) = (60, Random(0x5eed), Vec::new(), None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value");
        match arg.as_str() {
            "--seconds" => seconds = value().parse().expect("seconds"),
            "--seed" => random.0 = value().parse::<u64>().expect("a number").max(1),
            "--only" => only = Some(PathBuf::from(value())),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    if let Some(path) = only {
        let bytes = std::fs::read(path).expect("the input");
        bodies::snapshot(&bytes);
        bodies::container(&bytes);
        bodies::journal(&bytes);
        return;
    }
    if files.is_empty() {
        files = fixtures();
    }
    let pickles: Vec<Vec<u8>> = files
        .iter()
        .filter_map(|p| plain(p))
        .filter(|b| b.first() == Some(&0x80) && b.len() <= MOST)
        .collect();
    assert!(
        !pickles.is_empty(),
        "no pickle among the seeds is short enough"
    );
    let containers: Vec<Vec<u8>> = pickles
        .iter()
        .filter_map(|b| report::read::snapshot::read_pickle("seed", &b[..]).ok())
        .map(|rank| pack(&Report::of(vec![rank]), "seed", Level(0)).expect("tables can be packed"))
        .collect();
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut of_pickles, mut of_containers, mut read) = (0u64, 0u64, 0u64);
    while Instant::now() < end {
        let seed = &pickles[random.below(pickles.len())];
        let other = &pickles[random.below(pickles.len())];
        let bytes = mutated(seed, other, &mut random);
        read += u64::from(report::read::snapshot::read_pickle("fuzz", &bytes[..]).is_ok());
        run("snapshot", bodies::snapshot, &bytes);
        of_pickles += 1;
        if of_pickles.is_multiple_of(2) {
            let seed = &containers[random.below(containers.len())];
            run("container", bodies::container, &flipped(seed, &mut random));
            of_containers += 1;
        }
        run("journal", bodies::journal, &flipped(JOURNAL, &mut random));
    }
    println!(
        "{of_pickles} pickles, of which {read} were read, and {of_containers} containers from {} seeds: nothing failed",
        pickles.len()
    );
    assert!(
        read > 0,
        "no damaged pickle was read: the damage is too great to find anything"
    );
}
