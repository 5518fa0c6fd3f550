//! One element of `runtime_trace` or `top_events`.

use std::io::Read;

use super::{Reading, tensor};
use crate::error::Result;
use crate::model::{EventRow, Events, Skipped};
use crate::read::json::Json;

/// The fields of an event, in the order in which the public MemScope writes them.
const FIELDS: [&str; 16] = [
    "event_type",
    "module",
    "phase",
    "step",
    "mem_allocated_before",
    "mem_allocated_after",
    "mem_reserved_before",
    "mem_reserved_after",
    "max_mem_allocated",
    "max_mem_reserved",
    "delta_allocated",
    "delta_reserved",
    "inputs",
    "outputs",
    "grads",
    "notes",
];

/// How many events lacked each field.
#[derive(Default)]
pub(super) struct Missing {
    count: [u64; FIELDS.len()],
    first_offset: [u64; FIELDS.len()],
}

impl Missing {
    fn note(&mut self, seen: u32, offset: u64) {
        let mut absent = !seen & ((1 << FIELDS.len()) - 1);
        while absent != 0 {
            let field = absent.trailing_zeros() as usize;
            if self.count[field] == 0 {
                self.first_offset[field] = offset;
            }
            self.count[field] += 1;
            absent &= absent - 1;
        }
    }

    pub(super) fn report(&self, skipped: &mut Skipped) {
        for (i, field) in FIELDS.iter().enumerate() {
            let what = format!("event without {field}");
            skipped.count_many(&what, self.count[i], self.first_offset[i]);
        }
    }
}

/// Reads an array of events.
pub(super) fn events<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
    what: &'static str,
) -> Result<Events> {
    let mut events = Events::default();
    if json.peek()? != Some(b'[') {
        reading.unusable(json, what)?;
        return Ok(events);
    }
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        if json.peek()? != Some(b'{') {
            let offset = json.offset();
            json.skip()?;
            reading
                .skipped
                .count(&format!("element of {what} that is no object"), offset);
            continue;
        }
        if events.len() >= u32::MAX as usize {
            return Err(json.malformed(
                "at most 2^32 - 1 events",
                "more",
                "split the report by steps",
            ));
        }
        let row = event(reading, json)?;
        events.push(&row);
    }
    Ok(events)
}

fn event<R: Read>(reading: &mut Reading, json: &mut Json<'_, R>) -> Result<EventRow> {
    let mut row = EventRow::default();
    let mut seen = 0u32;
    let offset = json.offset();
    json.open_object()?;
    let mut first = true;
    let mut next = 0;
    loop {
        // Fields come in the writer's order, so the guess is right but for foreign writers.
        let field = if FIELDS
            .get(next)
            .is_some_and(|guess| json.key_is(&mut first, guess))
        {
            next
        } else {
            let Some(key) = json.key(&mut first)? else {
                break;
            };
            let Some(at) = FIELDS.iter().position(|f| *f == key) else {
                let key = key.to_owned();
                reading.unknown(json, "of an event: ", &key)?;
                continue;
            };
            at
        };
        next = field + 1;
        let name = FIELDS[field];
        reading.note(json, &mut seen, field, name);
        match field {
            0 => row.kind = reading.text_field(json, name)?,
            1 => row.module = reading.text_field(json, name)?,
            2 => row.phase = reading.text_field(json, name)?,
            3 => row.step = reading.whole_field(json, name)?,
            4 => row.allocated_before = reading.bytes_field(json, name)?,
            5 => row.allocated_after = reading.bytes_field(json, name)?,
            6 => row.reserved_before = reading.bytes_field(json, name)?,
            7 => row.reserved_after = reading.bytes_field(json, name)?,
            8 => row.max_allocated = reading.bytes_field(json, name)?,
            9 => row.max_reserved = reading.bytes_field(json, name)?,
            10 => row.delta_allocated = reading.whole_field(json, name)?,
            11 => row.delta_reserved = reading.whole_field(json, name)?,
            12 => row.inputs = tensor::list(reading, json, name)?,
            13 => row.outputs = tensor::list(reading, json, name)?,
            14 => row.grads = tensor::list(reading, json, name)?,
            _ => row.notes = reading.text_field(json, name)?,
        }
    }
    reading.missing.note(seen, offset);
    Ok(row)
}
