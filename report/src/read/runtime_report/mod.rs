//! `runtime_report.json` as the public (Python) MemScope writes it.
//!
//! One JSON object with `runtime_trace` (events in order of time), `peak`, `top_events`,
//! `metadata` and `comparisons`. The recorder calls `torch.cuda.reset_peak_memory_stats` when it
//! starts, so `max_mem_allocated` is the high-water mark of the recorded window; `peak` is only
//! the highest `mem_allocated_after` of an event, which can be far below it.
//!
//! Fields that are not known are counted and passed over; so are the earlier values of a field that
//! is repeated; fields that are missing leave their figures unknown. What makes a file unreadable is broken JSON, a figure of 2^63 or more, and a
//! top level that is none of this.

mod event;
mod tensor;

use std::io::Read;

use crate::error::Result;
use crate::model::{
    Interner, Metadata, Rank, RecordedPeak, Skipped, Source, StringId, Tensor, TensorId,
    TensorInterner,
};
use crate::read::json::{Json, Number};

/// The name of this format in [`Source::format`].
pub const FORMAT: &str = "runtime_report.json";

/// 2^63: figures that reach it are refused.
const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;

const KNOWN: &str = "an object with runtime_trace, peak, top_events, metadata or comparisons";

const GIVE: &str = "give MemScope the runtime_report.json of a run";

/// The fields of a report, in the order in which the public MemScope writes them.
const FIELDS: [&str; 5] = [
    "runtime_trace",
    "peak",
    "top_events",
    "metadata",
    "comparisons",
];

/// Where a recorder of MemScope puts what it knows beyond the public schema.
#[cfg(feature = "snapshot")]
pub const RECORDING: &str = "memscope";

/// What is being filled while reading.
#[derive(Default)]
struct Reading {
    strings: Interner,
    tensors: TensorInterner,
    skipped: Skipped,
    /// The tensor and the list at hand; kept for their memory.
    tensor: Tensor,
    list: Vec<TensorId>,
    missing: event::Missing,
}

impl Reading {
    fn intern<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<StringId> {
        let read = json.string_at_quote()?;
        if let Some(id) = self.strings.find(json.bytes(&read)) {
            return Ok(id);
        }
        match self.strings.intern(json.text(&read)?) {
            Some(id) => Ok(id),
            None => Err(json.malformed(
                "at most 1 GiB of distinct text",
                "more",
                "split the report by steps",
            )),
        }
    }

    /// A string, or anything else counted as unusable and read as the empty string.
    fn text_field<R: Read>(&mut self, json: &mut Json<'_, R>, what: &str) -> Result<StringId> {
        match json.peek()? {
            Some(b'"') => self.intern(json),
            _ => {
                self.unusable(json, what)?;
                Ok(StringId::EMPTY)
            }
        }
    }

    /// A byte count below 2^63. Null is unknown; what is not a byte count is counted.
    fn bytes_field<R: Read>(&mut self, json: &mut Json<'_, R>, what: &str) -> Result<Option<u64>> {
        let value = self.whole_field(json, what)?;
        if value.is_some_and(i64::is_negative) {
            self.skipped
                .count(&format!("negative {what}"), json.offset());
        }
        Ok(value.and_then(|v| u64::try_from(v).ok()))
    }

    /// A whole number between -2^63 and 2^63.
    #[inline]
    fn whole_field<R: Read>(&mut self, json: &mut Json<'_, R>, what: &str) -> Result<Option<i64>> {
        let next = json.peek()?;
        if let Some(whole) = json.digits() {
            return Ok(Some(whole));
        }
        match next {
            Some(b'0'..=b'9' | b'-' | b'N' | b'I') => {}
            Some(b'n') if json.word("null")? => return Ok(None),
            _ => {
                self.unusable(json, what)?;
                return Ok(None);
            }
        }
        let offset = json.offset();
        let number = json.number()?;
        match number.whole() {
            // i64::MIN is the tables' mark for "absent", and no figure is that low.
            Some(whole) => match i64::try_from(whole) {
                Ok(value) if value != i64::MIN => Ok(Some(value)),
                _ => Err(json.malformed_at(
                    offset,
                    &format!("{what} between -2^63 and 2^63"),
                    &whole.to_string(),
                    "no device has so many bytes: check what wrote this file",
                )),
            },
            None if matches!(number, Number::Float(f) if f.abs() >= TOO_LARGE)
                || number == Number::TOO_LARGE =>
            {
                Err(json.malformed_at(
                    offset,
                    &format!("{what} between -2^63 and 2^63"),
                    "a larger number",
                    "no device has so many bytes: check what wrote this file",
                ))
            }
            None => {
                self.skipped
                    .count(&format!("{what} that is not an exact whole number"), offset);
                Ok(None)
            }
        }
    }

    fn unusable<R: Read>(&mut self, json: &mut Json<'_, R>, what: &str) -> Result<()> {
        let offset = json.offset();
        if json.peek()? == Some(b'n') && json.word("null")? {
            return Ok(());
        }
        json.skip()?;
        self.skipped
            .count(&format!("{what} of another type than expected"), offset);
        Ok(())
    }

    /// Marks a field as seen in its object, and counts one that was seen there before: as in
    /// Python its last value stands, but the first must not vanish in silence.
    #[inline]
    fn note<R: Read>(&mut self, json: &Json<'_, R>, seen: &mut u32, field: usize, name: &str) {
        if *seen & (1 << field) != 0 {
            self.repeated(json, name);
        }
        *seen |= 1 << field;
    }

    #[cold]
    fn repeated<R: Read>(&mut self, json: &Json<'_, R>, name: &str) {
        let short: String = name.chars().take(60).collect();
        self.skipped.count(
            &format!("earlier value of the repeated field {short}"),
            json.offset(),
        );
    }

    fn unknown<R: Read>(&mut self, json: &mut Json<'_, R>, place: &str, key: &str) -> Result<()> {
        let short: String = key.chars().take(60).collect();
        self.skipped
            .count(&format!("unknown field {place}{short}"), json.offset());
        json.skip()
    }
}

/// Reads one report. `name` is used in messages and as the source's name.
///
/// # Errors
/// [`crate::Error::Malformed`] with the byte offset, or [`crate::Error::Io`] from `source`.
pub fn read(name: &str, source: impl Read) -> Result<Rank> {
    let mut json = Json::new(name, source)?;
    if json.peek()? != Some(b'{') {
        let error = json.unexpected(KNOWN);
        return Err(match json.peek()? {
            None => error,
            Some(_) => {
                let found = json.found();
                json.malformed(KNOWN, &found, GIVE)
            }
        });
    }
    let mut reading = Reading::default();
    let mut rank = Rank::default();
    let mut seen = 0;
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        let Some(field) = FIELDS.iter().position(|f| *f == key) else {
            let key = key.to_owned();
            #[cfg(feature = "snapshot")]
            if key == RECORDING {
                rank.recording = recording(&mut reading, &mut json)?;
                continue;
            }
            reading.unknown(&mut json, "", &key)?;
            continue;
        };
        let name = FIELDS[field];
        reading.note(&json, &mut seen, field, name);
        match field {
            0 => rank.events = event::events(&mut reading, &mut json, name)?,
            1 => rank.recorded_peak = peak(&mut reading, &mut json)?,
            2 => rank.recorded_top = event::events(&mut reading, &mut json, name)?,
            3 => rank.metadata = facts(&mut reading, &mut json, name)?,
            _ => rank.comparisons = facts(&mut reading, &mut json, name)?,
        }
    }
    if seen == 0 {
        return Err(json.malformed_at(0, KNOWN, "an object with none of them", GIVE));
    }
    let surrogates = json.lone_surrogates;
    let (bytes, crc32) = json.end()?;
    reading.missing.report(&mut reading.skipped);
    reading
        .skipped
        .count_many("lone surrogate, shown as its escape \\udxxx", surrogates, 0);
    rank.source = Source {
        name: name.to_owned(),
        format: FORMAT.to_owned(),
        bytes,
        crc32,
    };
    rank.strings = reading.strings.finish();
    rank.tensors = reading.tensors.finish();
    rank.skipped = reading.skipped;
    Ok(rank)
}

#[cfg(feature = "snapshot")]
fn recording<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
) -> Result<Option<crate::model::recording::Recording>> {
    let offset = json.offset();
    if json.peek()? != Some(b'{') {
        reading.unusable(json, RECORDING)?;
        return Ok(None);
    }
    let text = json.whole_text()?;
    let recording = serde_json::from_str(&text).ok();
    if recording.is_none() {
        let what = "memscope that is not of this version's form";
        reading.skipped.count(what, offset);
    }
    Ok(recording)
}

fn peak<R: Read>(reading: &mut Reading, json: &mut Json<'_, R>) -> Result<Option<RecordedPeak>> {
    const FIELDS: [&str; 5] = ["phase", "module", "step", "memory_bytes", "reserved_bytes"];
    if json.peek()? != Some(b'{') {
        reading.unusable(json, "peak")?;
        return Ok(None);
    }
    let mut peak = RecordedPeak::default();
    let mut seen = 0;
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        let Some(field) = FIELDS.iter().position(|f| *f == key) else {
            let key = key.to_owned();
            reading.unknown(json, "peak.", &key)?;
            continue;
        };
        reading.note(json, &mut seen, field, FIELDS[field]);
        match field {
            0 => peak.phase = text(reading, json, "peak.phase")?,
            1 => peak.module = text(reading, json, "peak.module")?,
            2 => peak.step = reading.whole_field(json, "peak.step")?,
            3 => peak.memory_bytes = reading.bytes_field(json, "peak.memory_bytes")?,
            _ => peak.reserved_bytes = reading.bytes_field(json, "peak.reserved_bytes")?,
        }
    }
    Ok(Some(peak))
}

/// A string of its own; anything else is counted (but for null) and unknown.
fn text<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
    what: &str,
) -> Result<Option<String>> {
    if json.peek()? == Some(b'"') {
        return json.string().map(|t| Some(t.to_owned()));
    }
    reading.unusable(json, what)?;
    Ok(None)
}

fn facts<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
    what: &'static str,
) -> Result<Metadata> {
    /// More facts than this are counted, not kept: a look-up walks them all.
    const MAX_FACTS: usize = 4096;
    let mut facts = Metadata::default();
    if json.peek()? != Some(b'{') {
        reading.unusable(json, what)?;
        return Ok(facts);
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        let key = key.to_owned();
        if facts.len() >= MAX_FACTS {
            let offset = json.offset();
            json.skip()?;
            reading.skipped.count(
                &format!("{what} beyond the first {MAX_FACTS} fields"),
                offset,
            );
            continue;
        }
        if facts.get(&key).is_some() {
            reading.repeated(json, &key);
        }
        let value = json.value()?;
        facts.set(key, value);
    }
    Ok(facts)
}
