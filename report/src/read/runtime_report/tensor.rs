//! `inputs`, `outputs` and `grads` of an event.

use std::io::Read;

use super::Reading;
use crate::error::Result;
use crate::model::{Tensor, TensorListId};
use crate::read::json::Json;

/// The fields of a tensor, in the order in which the public MemScope writes them.
const FIELDS: [&str; 6] = ["name", "shape", "dtype", "device", "requires_grad", "bytes"];

/// Reads a list of tensors.
pub(super) fn list<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
    what: &str,
) -> Result<TensorListId> {
    if json.peek()? != Some(b'[') {
        reading.unusable(json, what)?;
        return Ok(TensorListId::EMPTY);
    }
    json.open_array()?;
    let mut items = std::mem::take(&mut reading.list);
    items.clear();
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
        let tensor = tensor(reading, json)?;
        match reading.tensors.tensor(&tensor) {
            Some(id) => items.push(id),
            None => return Err(full(json)),
        }
        reading.tensor = tensor;
    }
    let list = reading.tensors.list(&items).ok_or_else(|| full(json))?;
    reading.list = items;
    Ok(list)
}

fn full<R: Read>(json: &Json<'_, R>) -> crate::Error {
    json.malformed(
        "at most 2^32 distinct tensors",
        "more",
        "split the report by steps",
    )
}

fn tensor<R: Read>(reading: &mut Reading, json: &mut Json<'_, R>) -> Result<Tensor> {
    let mut shape_buffer = std::mem::take(&mut reading.tensor.shape);
    shape_buffer.clear();
    let mut tensor = Tensor {
        shape: shape_buffer,
        ..Tensor::default()
    };
    let mut seen = 0;
    json.open_object()?;
    let mut first = true;
    let mut next = 0;
    loop {
        // As for events.
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
                reading.unknown(json, "of a tensor: ", &key)?;
                continue;
            };
            at
        };
        next = field + 1;
        reading.note(json, &mut seen, field, FIELDS[field]);
        match field {
            0 => tensor.name = reading.text_field(json, "tensor name")?,
            1 => shape(reading, json, &mut tensor.shape)?,
            2 => tensor.dtype = reading.text_field(json, "tensor dtype")?,
            3 => tensor.device = reading.text_field(json, "tensor device")?,
            4 => tensor.requires_grad = flag(reading, json)?,
            _ => tensor.bytes = reading.bytes_field(json, "tensor bytes")?,
        }
    }
    Ok(tensor)
}

fn shape<R: Read>(
    reading: &mut Reading,
    json: &mut Json<'_, R>,
    shape: &mut Vec<i64>,
) -> Result<()> {
    shape.clear();
    if json.peek()? != Some(b'[') {
        return reading.unusable(json, "tensor shape");
    }
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        // A dimension that is not known is -1, as torch writes dynamic ones.
        shape.push(reading.whole_field(json, "tensor dimension")?.unwrap_or(-1));
    }
    Ok(())
}

fn flag<R: Read>(reading: &mut Reading, json: &mut Json<'_, R>) -> Result<Option<bool>> {
    match json.peek()? {
        Some(b't') if json.word("true")? => Ok(Some(true)),
        Some(b'f') if json.word("false")? => Ok(Some(false)),
        _ => {
            reading.unusable(json, "tensor requires_grad")?;
            Ok(None)
        }
    }
}
