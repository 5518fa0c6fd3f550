//! Snapshots as JSON: the same dictionaries and lists, tuples as lists.

use std::io::Read;

use super::FORMAT;
use super::builder::{Builder, Built, Val};
use crate::error::Result;
use crate::model::{Rank, Source};
use crate::read::json::{Json, Number};

/// Nesting deeper than this is refused; snapshots have six levels.
const MAX_DEPTH: usize = 64;

/// Entries of a list that may be smaller than an event.
const MOST_AT_ONCE: u64 = 1 << 20;

pub(super) fn read(name: &str, source: impl Read) -> Result<Rank> {
    let mut json = Json::new(name, source)?;
    let mut build = Builder::new();
    let root = value(&mut json, &mut build, 0)?;
    let surrogates = json.lone_surrogates;
    let end = json.offset();
    let finished = build.finish(root);
    let mut rank = match finished {
        Ok(rank) => rank,
        Err(r) => return Err(json.malformed_at(end, r.expected, &r.found, r.advice)),
    };
    let (bytes, crc32) = json.end()?;
    rank.skipped
        .count_many("lone surrogate, shown as its escape \\udxxx", surrogates, 0);
    rank.source = Source {
        name: name.to_owned(),
        format: FORMAT.to_owned(),
        bytes,
        crc32,
    };
    Ok(rank)
}

fn built<R: Read, T>(json: &Json<'_, R>, result: Built<T>) -> Result<T> {
    result.map_err(|r| json.malformed(r.expected, &r.found, r.advice))
}

fn value<R: Read>(json: &mut Json<'_, R>, build: &mut Builder, depth: usize) -> Result<Val> {
    if depth > MAX_DEPTH {
        return Err(json.malformed(
            "at most 64 levels of nesting",
            "more",
            "no PyTorch writes such a file: take the snapshot again",
        ));
    }
    match json.peek()? {
        Some(b'"') => text(json, build).map(Val::Str),
        Some(b'{') => {
            let mut pairs = Vec::new();
            json.open_object()?;
            let mut first = true;
            while let Some(key) = json.key(&mut first)? {
                let key = build.intern(key);
                let key = built(json, key)?;
                pairs.push(Val::Str(key));
                pairs.push(value(json, build, depth + 1)?);
            }
            build.offset = json.offset();
            let dict = build.new_dict();
            let dict = built(json, dict)?;
            if !pairs.is_empty() {
                let done = build.set(dict, &pairs);
                built(json, done)?;
            }
            // At the top a dictionary without content must stay one.
            Ok(if depth == 0 {
                dict
            } else {
                build.resolve(dict)
            })
        }
        Some(b'[') => {
            let mut items = Vec::new();
            json.open_array()?;
            let mut first = true;
            while json.element(&mut first)? {
                if items.len() as u64 > MOST_AT_ONCE + json.offset() / 8 {
                    return Err(json.malformed(
                        "lists whose entries take at least 8 bytes each",
                        "a list of tiny values without end",
                        "no PyTorch writes such a file: take the snapshot again",
                    ));
                }
                items.push(value(json, build, depth + 1)?);
            }
            build.offset = json.offset();
            let list = build.tuple(&items);
            built(json, list)
        }
        Some(b't') if json.word("true")? => Ok(Val::Bool(true)),
        Some(b'f') if json.word("false")? => Ok(Val::Bool(false)),
        Some(b'n') if json.word("null")? => Ok(Val::None),
        Some(b'0'..=b'9' | b'-' | b'N' | b'I') => Ok(match json.number()? {
            Number::Int(i) => match (i64::try_from(i), u64::try_from(i)) {
                (Ok(i), _) => Val::Int(i),
                (_, Ok(u)) => Val::Big(u),
                _ => Val::Float(i as f64),
            },
            Number::Float(f) => Val::Float(f),
            Number::NotFinite(_) => Val::Float(f64::NAN),
        }),
        _ => Err(json.unexpected("a value")),
    }
}

fn text<R: Read>(json: &mut Json<'_, R>, build: &mut Builder) -> Result<crate::model::StringId> {
    let read = json.string_at_quote()?;
    if let Some(id) = build.strings.find(json.bytes(&read)) {
        return Ok(id);
    }
    let id = build.intern(json.text(&read)?);
    built(json, id)
}
