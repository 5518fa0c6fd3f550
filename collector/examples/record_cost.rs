//! What a record costs, beside what writing the same bytes to the same disk costs in the same run.
//!
//! `cargo run --release -p collector --example record_cost`

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

use memscope::{Figures, Recorder};

const RECORDS: u32 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("memscope-cost-{}", std::process::id()));
    let known = Figures {
        allocated: Some(3_271_785_064),
        reserved: Some(3_667_918_848),
        active: Some(3_271_785_064),
        requested: Some(3_271_000_000),
        max_allocated: Some(3_271_785_064),
        max_reserved: Some(3_667_918_848),
        ..Figures::default()
    };
    let recorder = Recorder::builder()
        .directory(&folder)
        .probe(move || known)
        .start()?;
    recorder.begin_step();
    let start = Instant::now();
    for _ in 0..RECORDS {
        recorder.sample("");
    }
    let sample = start.elapsed() / RECORDS;
    let start = Instant::now();
    for _ in 0..RECORDS / 2 {
        drop(recorder.module("transformer.h.11.mlp.c_proj"));
    }
    let module = start.elapsed() / RECORDS;

    let line = [b'x'; 250];
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(folder.join("peer"))?;
    let start = Instant::now();
    for _ in 0..RECORDS {
        file.write_all(&line)?;
    }
    let write = start.elapsed() / RECORDS;
    println!(
        "a sample {sample:?}, a module's record {module:?}, write(2) of {} bytes alone {write:?}: {:.2} and {:.2} times",
        line.len(),
        sample.as_secs_f64() / write.as_secs_f64(),
        module.as_secs_f64() / write.as_secs_f64(),
    );
    drop(recorder);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
