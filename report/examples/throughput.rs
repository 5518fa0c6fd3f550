//! How fast reports are read, packed and reopened, on one core.
//!
//! ```text
//! cargo run --release -p report --example throughput -- [EVENTS] [RUNS]
//! ```
//!
//! The input is made while it is read, in the form of Python's `json.dump(indent=2)`, so that a
//! report of gigabytes needs neither a file nor memory; the time that making it takes is measured
//! and left out.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use report::container::{Container, Level, pack};
use report::model::Report;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let events: u64 = args.next().map_or(Ok(1_000_000), |a| a.parse())?;
    let runs: u32 = args.next().map_or(Ok(3), |a| a.parse())?;
    for _ in 0..runs {
        let mut source = Source::new(events);
        let start = Instant::now();
        let rank = report::read::runtime_report::read("generated.json", &mut source)?;
        let read = start.elapsed().saturating_sub(source.making);
        if rank.events.len() as u64 != events {
            return Err("the reader lost events".into());
        }
        let report = Report::of(vec![rank]);
        let start = Instant::now();
        let packed = pack(&report, "throughput", Level::default())?;
        let pack = start.elapsed();
        let size = packed.len();
        let start = Instant::now();
        let again = Container::open("generated.memscope", packed)?.report()?;
        let reopen = start.elapsed();
        if again != report {
            return Err("the container lost something".into());
        }
        println!(
            "read {:.0} MB at {:.0} MB/s, {} ns an event; pack {} ns an event ({:.2} s, {} bytes, {:.2} an event); \
             reopen {} ns an event; memory {}",
            source.made as f64 / 1e6,
            source.made as f64 / 1e6 / read.as_secs_f64(),
            each(read, events),
            each(pack, events),
            pack.as_secs_f64(),
            size,
            size as f64 / events as f64,
            each(reopen, events),
            memory(),
        );
    }
    Ok(())
}

fn each(time: Duration, events: u64) -> u128 {
    time.as_nanos() / u128::from(events.max(1))
}

/// The high-water mark of this process, where the system tells.
fn memory() -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|s| {
            let line = s.lines().find(|l| l.starts_with("VmHWM:"))?;
            Some(
                line.split_whitespace()
                    .skip(1)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        })
        .unwrap_or_else(|| "unknown".to_owned())
}

/// A report in the making.
struct Source {
    events: u64,
    next: u64,
    text: String,
    at: usize,
    state: u64,
    allocated: u64,
    mark: u64,
    made: u64,
    making: Duration,
}

/// Modules of a transformer with 24 layers, as the hooks meet them.
const PARTS: [&str; 8] = [
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "input_layernorm",
];

impl Source {
    fn new(events: u64) -> Self {
        Self {
            events,
            next: 0,
            text: "{\n  \"runtime_trace\": [".to_owned(),
            at: 0,
            state: 0x9e37_79b9_7f4a_7c15,
            allocated: 534_828_032,
            mark: 534_828_032,
            made: 0,
            making: Duration::ZERO,
        }
    }

    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn event(&mut self) {
        use std::fmt::Write as _;
        let i = self.next;
        let step = i / 1000;
        let place = (i / 2) % 192;
        let module = format!("model.layers.{}.{}", place / 8, PARTS[(place % 8) as usize]);
        let before = self.allocated;
        let pre = i.is_multiple_of(2);
        if i.is_multiple_of(1000) {
            self.allocated = 534_828_032;
        } else if !pre {
            self.allocated += 512 * (self.random() % 40_000);
            if self.allocated > 4 << 30 {
                self.allocated -= 3 << 30;
            }
        }
        self.mark = self.mark.max(self.allocated);
        let phase = if pre { "forward_pre" } else { "forward" };
        let delta = self.allocated as i64 - before as i64;
        let reserved = self.mark / (20 << 20) * (20 << 20) + (20 << 20);
        let _ = write!(
            self.text,
            "{}\n    {{\n      \"event_type\": \"module\",\n      \"module\": \"{module}\",\n      \"phase\": \"{phase}\",\n      \
             \"step\": {step},\n      \"mem_allocated_before\": {before},\n      \"mem_allocated_after\": {},\n      \
             \"mem_reserved_before\": {reserved},\n      \"mem_reserved_after\": {reserved},\n      \"max_mem_allocated\": {},\n      \
             \"max_mem_reserved\": {reserved},\n      \"delta_allocated\": {delta},\n      \"delta_reserved\": 0,\n      \"inputs\": [",
            if i == 0 { "" } else { "," },
            self.allocated,
            self.mark,
        );
        tensor(&mut self.text);
        if pre {
            self.text.push_str(",\n      \"outputs\": []");
        } else {
            self.text.push_str(",\n      \"outputs\": [");
            tensor(&mut self.text);
        }
        let _ = write!(
            self.text,
            ",\n      \"grads\": [],\n      \"notes\": \"{module} {phase}\"\n    }}"
        );
        self.next += 1;
        if self.next == self.events {
            self.text.push_str(
                "\n  ],\n  \"metadata\": {\n    \"rank\": \"0\",\n    \"world_size\": \"1\"\n  },\n  \"comparisons\": {}\n}",
            );
        }
    }
}

fn tensor(text: &mut String) {
    text.push_str(
        "\n        {\n          \"name\": \"\",\n          \"shape\": [\n            4,\n            1024,\n            1024\n          ],\n          \
         \"dtype\": \"bfloat16\",\n          \"device\": \"cuda:0\",\n          \"requires_grad\": true,\n          \"bytes\": 8388608\n        }\n      ]",
    );
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let start = Instant::now();
        let mut done = 0;
        while done < into.len() {
            if self.at == self.text.len() {
                if self.next >= self.events {
                    break;
                }
                self.text.clear();
                self.at = 0;
                self.event();
            } else if self.next == 0 && self.at == 0 && self.events > 0 {
                // The opening waits until an event stands behind it.
                self.event();
            }
            let rest = &self.text.as_bytes()[self.at..];
            let n = rest.len().min(into.len() - done);
            into[done..done + n].copy_from_slice(&rest[..n]);
            self.at += n;
            done += n;
        }
        self.made += done as u64;
        self.making += start.elapsed();
        Ok(done)
    }
}
