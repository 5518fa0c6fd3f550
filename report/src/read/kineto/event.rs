//! One entry of `traceEvents`.

use std::io::Read;

use super::build::{Build, Op, Row};
use crate::error::Result;
use crate::model::snapshot::Action;
use crate::model::{Skipped, StringId};
use crate::read::json::{Json, Number};

/// Entries whose name and arguments are of use, by their `cat`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    /// Not read yet.
    Open,
    Operator,
    Annotation,
    Instant,
    Other,
}

#[derive(Default)]
struct Arguments {
    address: Option<u64>,
    bytes: Option<i64>,
    device_type: Option<i64>,
    device: Option<i64>,
    allocated: Option<u64>,
    reserved: Option<u64>,
}

/// The profiler's number for the host.
const HOST: i64 = 0;

pub(super) fn read<R: Read>(
    json: &mut Json<'_, R>,
    build: &mut Build,
    skipped: &mut Skipped,
) -> Result<()> {
    let offset = json.offset();
    if json.peek()? != Some(b'{') {
        skipped.count("entry of traceEvents that is no object", offset);
        return json.skip();
    }
    json.open_object()?;
    let mut category = Category::Open;
    let mut name: Option<StringId> = None;
    let mut action: Option<Action> = None;
    let mut whole = false;
    let (mut process, mut thread) = (0, 0);
    let (mut start, mut length) = (None, 0);
    let mut arguments = Arguments::default();
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        let of_use = category != Category::Other;
        match key {
            "ph" => whole = text_is(json, &["X"])?.is_some(),
            "cat" => {
                const NAMES: [&str; 4] = [
                    "cpu_op",
                    "python_function",
                    "user_annotation",
                    "cpu_instant_event",
                ];
                category = match text_is(json, &NAMES)? {
                    Some(0 | 1) => Category::Operator,
                    Some(2) => Category::Annotation,
                    Some(_) => Category::Instant,
                    None => Category::Other,
                };
            }
            "name" if of_use => {
                if json.peek()? != Some(b'"') {
                    json.skip()?;
                    continue;
                }
                let read = json.string_at_quote()?;
                action = match json.bytes(&read) {
                    b"[memory]" => Some(Action::Alloc),
                    b"[OutOfMemory]" => Some(Action::Oom),
                    _ => None,
                };
                if action.is_none() && category != Category::Instant {
                    name = match build.strings.find(json.bytes(&read)) {
                        Some(id) => Some(id),
                        None => {
                            let text = json.text(&read)?;
                            build.strings.intern(text)
                        }
                    };
                }
            }
            "pid" => process = whole_number(json)?.unwrap_or(-1),
            "tid" => thread = whole_number(json)?.unwrap_or(-1),
            "ts" => start = nanoseconds(json)?,
            "dur" => length = nanoseconds(json)?.unwrap_or(0),
            "args" if of_use && (action.is_some() || name.is_none()) => {
                read_arguments(json, &mut arguments)?;
            }
            _ => json.skip()?,
        }
    }
    let Some(start) = start else {
        if action.is_some() {
            skipped.count("memory event without a time", offset);
        }
        return Ok(());
    };
    if let Some(action) = action {
        memory(
            build, skipped, offset, action, &arguments, process, thread, start,
        );
        return Ok(());
    }
    if let Some(name) = name.filter(|_| whole) {
        let op = Op {
            thread: build.thread(process, thread),
            start,
            end: start.saturating_add(length.max(1)),
            name,
        };
        match category {
            Category::Operator => build.ops.push(op),
            Category::Annotation => build.annotations.push(op),
            _ => {}
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the fields of one entry")]
fn memory(
    build: &mut Build,
    skipped: &mut Skipped,
    offset: u64,
    action: Action,
    a: &Arguments,
    process: i64,
    thread: i64,
    start: i64,
) {
    if a.device_type == Some(HOST) {
        skipped.count("memory event of the host's own allocator", offset);
        return;
    }
    let device = a.device.and_then(|d| u32::try_from(d).ok());
    let (Some(device), Some(bytes)) = (device, a.bytes) else {
        skipped.count("memory event without device or bytes", offset);
        return;
    };
    let action = match action {
        Action::Oom => Action::Oom,
        _ if bytes < 0 => Action::Free,
        _ => Action::Alloc,
    };
    if a.address.is_none() && action != Action::Oom {
        skipped.count("memory event without an address", offset);
        return;
    }
    let thread = build.thread(process, thread);
    build.rows.push(Row {
        device,
        start,
        thread,
        action,
        address: a.address.unwrap_or(0),
        bytes: bytes.unsigned_abs(),
        allocated: a.allocated,
        reserved: a.reserved,
    });
}

/// Which of `words` a text is; other values are passed over.
fn text_is<R: Read>(json: &mut Json<'_, R>, words: &[&str]) -> Result<Option<usize>> {
    if json.peek()? != Some(b'"') {
        json.skip()?;
        return Ok(None);
    }
    let read = json.string_at_quote()?;
    let bytes = json.bytes(&read);
    Ok(words.iter().position(|w| w.as_bytes() == bytes))
}

fn whole_number<R: Read>(json: &mut Json<'_, R>) -> Result<Option<i64>> {
    match json.peek()? {
        Some(b'0'..=b'9' | b'-') => {
            let whole = json.number()?.whole();
            Ok(whole.and_then(|w| i64::try_from(w).ok()))
        }
        _ => {
            json.skip()?;
            Ok(None)
        }
    }
}

/// Bytes and addresses: whole numbers below 2^63.
fn figure<R: Read>(json: &mut Json<'_, R>) -> Result<Option<u64>> {
    Ok(whole_number(json)?.and_then(|v| u64::try_from(v).ok()))
}

/// From microseconds with a fraction, exact to the nanosecond.
fn nanoseconds<R: Read>(json: &mut Json<'_, R>) -> Result<Option<i64>> {
    match json.peek()? {
        Some(b'0'..=b'9' | b'-') => {}
        _ => {
            json.skip()?;
            return Ok(None);
        }
    }
    Ok(match json.number()? {
        Number::Int(us) => i64::try_from(us).ok().and_then(|us| us.checked_mul(1000)),
        // Below 2^53 ns, which is what is left above `baseTimeNanoseconds`, this is exact.
        Number::Float(us) if us.abs() < 9.0e15 => Some((us * 1000.0).round() as i64),
        _ => None,
    })
}

fn read_arguments<R: Read>(json: &mut Json<'_, R>, a: &mut Arguments) -> Result<()> {
    if json.peek()? != Some(b'{') {
        return json.skip();
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key {
            "Addr" => a.address = figure(json)?,
            "Bytes" => a.bytes = whole_number(json)?.filter(|&b| b > i64::MIN),
            "Device Type" => a.device_type = whole_number(json)?,
            "Device Id" => a.device = whole_number(json)?,
            "Total Allocated" => a.allocated = figure(json)?,
            "Total Reserved" => a.reserved = figure(json)?,
            _ => json.skip()?,
        }
    }
    Ok(())
}
