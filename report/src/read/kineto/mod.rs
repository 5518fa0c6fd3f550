//! Traces of PyTorch's profiler (Kineto): `trace.json`, with `profile_memory=True`.
//!
//! The allocator's events are instants named `[memory]`: an address, bytes (negative for a free),
//! and what was allocated and reserved after it. They become the tables of a memory snapshot, so
//! everything that is asked of one can be asked of a trace. What a trace does not have stays
//! unknown: segments, streams, pools, and what was requested (its bytes are those of blocks).
//! Operators and Python functions that surround an event on its thread are its stack;
//! `user_annotation` ranges are annotations.
//!
//! Traces are gigabytes: events that are of no use are skipped where they stand.

mod build;
mod event;

use std::io::Read;

use crate::error::Result;
use crate::model::{Metadata, Rank, Skipped, Source, Value};
use crate::read::json::Json;
use build::Build;

/// The name of this format in [`Source::format`].
pub const FORMAT: &str = "PyTorch profiler trace";

const GIVE: &str = "give MemScope what torch.profiler.profile.export_chrome_trace wrote";

/// Reads one trace. `name` is used in messages and as the source's name.
///
/// # Errors
/// [`crate::Error::Malformed`] with the byte offset, or [`crate::Error::Io`] from `source`.
pub fn read(name: &str, source: impl Read) -> Result<Rank> {
    let mut json = Json::new(name, source)?;
    let mut build = Build::default();
    let mut skipped = Skipped::default();
    let mut metadata = Metadata::default();
    let mut base_ns = 0i64;
    let mut found = false;
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key {
            "traceEvents" => {
                found = true;
                json.open_array()?;
                let mut first = true;
                while json.element(&mut first)? {
                    event::read(&mut json, &mut build, &mut skipped)?;
                }
            }
            "baseTimeNanoseconds" => {
                base_ns = match json.value()? {
                    Value::Int(i) => i,
                    _ => 0,
                };
            }
            "deviceProperties" => device(&mut json, &mut metadata)?,
            "distributedInfo" => distributed(&mut json, &mut metadata)?,
            _ => json.skip()?,
        }
    }
    if !found {
        return Err(json.malformed_at(0, "an object with traceEvents", "one without", GIVE));
    }
    let end = json.offset();
    if build.rows.is_empty() {
        return Err(json.malformed_at(
            end,
            "memory events of a device",
            "a trace without any",
            "record it with profile_memory=True",
        ));
    }
    let surrogates = json.lone_surrogates;
    let (bytes, crc32) = json.end()?;
    skipped.count_many("lone surrogate, shown as its escape \\udxxx", surrogates, 0);
    let (strings, snapshot) = build.finish(base_ns, &mut skipped);
    Ok(Rank {
        source: Source {
            name: name.to_owned(),
            format: FORMAT.to_owned(),
            bytes,
            crc32,
        },
        metadata,
        strings,
        snapshot: Some(snapshot),
        skipped,
        ..Rank::default()
    })
}

/// The name of the first device.
fn device<R: Read>(json: &mut Json<'_, R>, metadata: &mut Metadata) -> Result<()> {
    if json.peek()? != Some(b'[') {
        return json.skip();
    }
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        if json.peek()? != Some(b'{') {
            json.skip()?;
            continue;
        }
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            if key != "name" {
                json.skip()?;
                continue;
            }
            let value = json.value()?;
            if metadata.get("device_name").is_none() {
                metadata.set("device_name".to_owned(), value);
            }
        }
    }
    Ok(())
}

/// Rank and number of ranks.
fn distributed<R: Read>(json: &mut Json<'_, R>, metadata: &mut Metadata) -> Result<()> {
    if json.peek()? != Some(b'{') {
        return json.skip();
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key {
            key @ ("rank" | "world_size") => {
                let key = key.to_owned();
                let value = json.value()?;
                metadata.set(key, value);
            }
            _ => json.skip()?,
        }
    }
    Ok(())
}
