//! What `torch.profiler.profile.export_memory_timeline` writes: `.json`, the bytes of each category
//! over time, and `.raw.json`, every change with its category.
//!
//! ```text
//! .json      [[t, t, ...], [[0, parameter, optimizer state, ...], ...]]      t in microseconds
//! .raw.json  [[t, action, bytes, category], ...]                              t in nanoseconds
//! ```
//!
//! The time of what was there before the profiler began is -1 in a raw timeline: it is a moment of its
//! own, at the time of the first change. Changes of one nanosecond are one moment, as an action often comes in two halves.

use std::io::Read;

use crate::error::Result;
use crate::model::{Rank, Series, Skipped, Source};
use crate::read::json::Json;

/// The name of these formats in [`Source::format`].
pub const FORMAT: &str = "PyTorch profiler memory timeline";

const CATEGORIES: usize = 8;
const EXPECTED: &str = "times and sizes, or a list of time, action, bytes and category";
const GIVE: &str = "give MemScope what export_memory_timeline wrote as .json or .raw.json";

/// Reads a memory timeline, compressed ones uncompressed. `name` is used in messages and as the
/// source's name.
///
/// # Errors
/// [`crate::Error::Malformed`] with the byte offset, or [`crate::Error::Io`] from `source`.
pub fn read(name: &str, source: impl Read) -> Result<Rank> {
    let mut json = Json::new(name, source)?;
    let mut skipped = Skipped::default();
    json.open_array()?;
    let mut outer = true;
    let mut head: Vec<i64> = Vec::new();
    if json.element(&mut outer)? {
        list(&mut json, &mut head)?;
    }
    let series = if json.element(&mut outer)? {
        json.open_array()?;
        let mut first = true;
        match json.element(&mut first)? {
            true if json.peek()? == Some(b'[') => {
                let series = sizes(&mut json, &head, &mut skipped)?;
                if json.element(&mut outer)? {
                    return Err(json.malformed(EXPECTED, "a third part", GIVE));
                }
                series
            }
            // `[[times], []]`: nothing was recorded.
            false if head.is_empty() => {
                if json.element(&mut outer)? {
                    return Err(json.malformed(EXPECTED, "a third part", GIVE));
                }
                Series::default()
            }
            false => return Err(json.malformed(EXPECTED, "an empty list", GIVE)),
            true => {
                let mut second = vec![whole(&mut json)?];
                rest(&mut json, &mut second)?;
                raw(&mut json, outer, [head, second], &mut skipped)?
            }
        }
    } else {
        // A single change.
        raw_rows(&mut json, vec![head], &mut skipped)?
    };
    let surrogates = json.lone_surrogates;
    let (bytes, crc32) = json.end()?;
    skipped.count_many("lone surrogate, shown as its escape \\udxxx", surrogates, 0);
    Ok(Rank {
        source: Source {
            name: name.to_owned(),
            format: FORMAT.to_owned(),
            bytes,
            crc32,
        },
        series: Some(series),
        skipped,
        ..Rank::default()
    })
}

fn whole<R: Read>(json: &mut Json<'_, R>) -> Result<i64> {
    let offset = json.offset();
    match json.peek()? {
        Some(b'0'..=b'9' | b'-') => {}
        _ => return Err(json.unexpected("a whole number")),
    }
    let number = json.number()?.whole();
    let number = number.and_then(|w| i64::try_from(w).ok());
    // i64::MIN has no absolute value, and no figure is that low.
    number
        .filter(|&n| n > i64::MIN)
        .ok_or_else(|| json.malformed_at(offset, "a whole number", "another one", GIVE))
}

/// The whole numbers of a list.
fn list<R: Read>(json: &mut Json<'_, R>, into: &mut Vec<i64>) -> Result<()> {
    into.clear();
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        into.push(whole(json)?);
    }
    Ok(())
}

/// The rest of a list whose first element was read.
fn rest<R: Read>(json: &mut Json<'_, R>, into: &mut Vec<i64>) -> Result<()> {
    let mut first = false;
    while json.element(&mut first)? {
        into.push(whole(json)?);
    }
    Ok(())
}

/// Bytes below zero come from timelines that lost an event.
fn at_least_zero(value: i64, skipped: &mut Skipped, offset: u64) -> u64 {
    u64::try_from(value).unwrap_or_else(|_| {
        skipped.count("bytes of a category below zero, shown as zero", offset);
        0
    })
}

/// The rows of sizes, within their list, before the first.
fn sizes<R: Read>(json: &mut Json<'_, R>, times: &[i64], skipped: &mut Skipped) -> Result<Series> {
    let mut series = Series::default();
    let mut row = Vec::new();
    let mut first = false;
    let mut last = 0;
    loop {
        let offset = json.offset();
        list(json, &mut row)?;
        let Some(&time) = times.get(series.len()) else {
            return Err(json.malformed_at(offset, "as many sizes as times", "more", GIVE));
        };
        // The first column is a zero that the profiler's own chart starts from.
        if row.len() != CATEGORIES + 1 {
            skipped.count("sizes of another number of categories", offset);
        }
        let bytes = std::array::from_fn(|c| {
            let value = row.get(c + 1).copied().unwrap_or(0);
            at_least_zero(value, skipped, offset)
        });
        let time = u64::try_from(time).unwrap_or(0).saturating_mul(1000);
        if time < last {
            skipped.count(
                "moment before the one above it, shown at that one's time",
                offset,
            );
        }
        last = last.max(time);
        series.push(last, bytes);
        if !json.element(&mut first)? {
            break;
        }
    }
    if series.len() < times.len() {
        return Err(json.malformed("as many sizes as times", "fewer", GIVE));
    }
    Ok(series)
}

/// A raw timeline whose first two changes were read.
fn raw<R: Read>(
    json: &mut Json<'_, R>,
    mut outer: bool,
    start: [Vec<i64>; 2],
    skipped: &mut Skipped,
) -> Result<Series> {
    let mut sums = Sums::default();
    for row in start {
        sums.add(json, &row, skipped)?;
    }
    let mut row = Vec::new();
    while json.element(&mut outer)? {
        list(json, &mut row)?;
        sums.add(json, &row, skipped)?;
    }
    Ok(sums.finish(json, skipped))
}

fn raw_rows<R: Read>(
    json: &mut Json<'_, R>,
    rows: Vec<Vec<i64>>,
    skipped: &mut Skipped,
) -> Result<Series> {
    let mut sums = Sums::default();
    for row in rows.iter().filter(|r| !r.is_empty()) {
        sums.add(json, row, skipped)?;
    }
    Ok(sums.finish(json, skipped))
}

#[derive(Default)]
struct Sums {
    series: Series,
    now: [i64; CATEGORIES],
    /// The moment that is being summed.
    time: Option<u64>,
}

impl Sums {
    fn add<R: Read>(
        &mut self,
        json: &Json<'_, R>,
        row: &[i64],
        skipped: &mut Skipped,
    ) -> Result<()> {
        let &[time, _, bytes, category] = row else {
            let found = format!("{} numbers", row.len());
            return Err(json.malformed("time, action, bytes and category", &found, GIVE));
        };
        if let Ok(time) = u64::try_from(time) {
            match self.time {
                Some(last) if time > last => {
                    self.close(json, skipped);
                    self.time = Some(time);
                }
                None => {
                    self.time = Some(time);
                    // What was there before is a moment of its own.
                    if self.now.iter().any(|&v| v != 0) {
                        self.close(json, skipped);
                    }
                }
                Some(last) => {
                    if time < last {
                        skipped.count(
                            "moment before the one above it, shown at that one's time",
                            json.offset(),
                        );
                    }
                }
            }
        }
        let slot = usize::try_from(category)
            .ok()
            .and_then(|c| self.now.get_mut(c));
        match slot {
            Some(slot) => *slot = slot.saturating_add(bytes),
            None => skipped.count("change of an unknown category", json.offset()),
        }
        Ok(())
    }

    fn close<R: Read>(&mut self, json: &Json<'_, R>, skipped: &mut Skipped) {
        let bytes = self.now.map(|v| at_least_zero(v, skipped, json.offset()));
        self.series.push(self.time.unwrap_or(0), bytes);
    }

    fn finish<R: Read>(mut self, json: &Json<'_, R>, skipped: &mut Skipped) -> Series {
        if self.time.is_some() || self.now.iter().any(|&v| v != 0) {
            self.close(json, skipped);
        }
        self.series
    }
}
