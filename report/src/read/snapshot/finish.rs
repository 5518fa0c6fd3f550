//! From the last value of a file to the finished tables.

use std::collections::BTreeMap;

use super::builder::{Builder, Built, Kind, Refused, Val, whole};
use super::keys;
use crate::model::snapshot::{Device, DeviceTrace, PoolId, PoolIndex, Snapshot};
use crate::model::{Metadata, Rank, StringId, Value};

/// Nested settings deeper than this are shown as `...`.
const MAX_DEPTH: usize = 16;
/// Settings beyond these many are counted, not kept.
const MAX_SETTINGS: usize = 4096;

impl Builder {
    /// Two whole numbers, from a tuple or a list; a bare number is the second half.
    pub(super) fn pool_of(&mut self, value: Val) -> Built<Option<PoolIndex>> {
        match self.resolve(value) {
            Val::Pool(pool) => Ok(Some(pool)),
            Val::Items(id) => {
                let halves = match self.items.get(id as usize).map(Vec::as_slice) {
                    Some(&[a, b]) => whole(a).zip(whole(b)),
                    _ => None,
                };
                halves.map(|(a, b)| self.pool(PoolId(a, b))).transpose()
            }
            other => match whole(other) {
                Some(id) => self.pool(PoolId(0, id)).map(Some),
                None => Ok(None),
            },
        }
    }

    /// A text, or a list of texts joined by line feeds.
    pub(super) fn joined(&mut self, value: Val) -> Built<Option<StringId>> {
        match self.resolve(value) {
            Val::Str(id) => Ok(Some(id)),
            Val::Empty => Ok(Some(StringId::EMPTY)),
            Val::Items(id) => {
                let mut text = String::new();
                for &item in self.items.get(id as usize).into_iter().flatten() {
                    let Val::Str(part) = item else {
                        return Ok(None);
                    };
                    // A memoised list could be named in every event: what is joined is bounded.
                    if text.len() < 1 << 20 {
                        text.push_str(self.strings.table().get(part).trim_end_matches('\n'));
                        text.push('\n');
                    }
                }
                self.intern(text.trim_end_matches('\n')).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The tables, once `root` is the value of the whole file.
    pub(crate) fn finish(mut self, root: Val) -> Built<Rank> {
        match self.resolve(root) {
            Val::Pairs(id) => {
                let pairs =
                    std::mem::take(self.pairs.get_mut(id as usize).unwrap_or(&mut Vec::new()));
                let known = pairs.iter().any(|(k, _)| {
                    matches!(k, Val::Str(StringId(keys::SEGMENTS | keys::DEVICE_TRACES)))
                });
                if !known {
                    return Err(unknown("a dictionary without them"));
                }
                for (name, value) in pairs {
                    self.top(name, value);
                }
            }
            Val::Segments(..) => {}
            Val::Empty => {
                if matches!(root, Val::Dict(_)) {
                    return Err(unknown("an empty dictionary"));
                }
            }
            other => return Err(unknown(what(other))),
        }
        self.report_unused();
        let mut snapshot = std::mem::take(&mut self.snapshot);
        snapshot.frames = std::mem::take(&mut self.frames.table);
        snapshot.stacks = std::mem::take(&mut self.stacks.table);
        trim(&mut snapshot);
        Ok(Rank {
            skipped: std::mem::take(&mut self.skipped),
            strings: self.strings.finish(),
            snapshot: Some(snapshot),
            ..Rank::default()
        })
    }

    fn top(&mut self, name: Val, value: Val) {
        let Val::Str(StringId(key)) = name else {
            return self.unused(Kind::Top, name, false);
        };
        let content = self.resolve(value);
        let ok = match key {
            // Rows entered their tables when they were read.
            keys::SEGMENTS => matches!(content, Val::Segments(..) | Val::Empty),
            keys::EXTERNAL_ANNOTATIONS => matches!(content, Val::Annotations(..) | Val::Empty),
            keys::HOST_SEGMENTS => match content {
                Val::Segments(start, end) => {
                    for i in start as usize..end as usize {
                        if let Some(row) = self.snapshot.segments.rows.get_mut(i) {
                            row.device = Device::HOST;
                        }
                        if let Some(d) = self.snapshot.segments.device.get_mut(i) {
                            *d = Device::HOST;
                        }
                    }
                    true
                }
                other => matches!(other, Val::Empty),
            },
            keys::DEVICE_TRACES => self.traces(content, false),
            keys::HOST_TRACES => self.traces(content, true),
            keys::ALLOCATOR_SETTINGS => {
                self.settings(content);
                matches!(content, Val::Pairs(_) | Val::Empty)
            }
            _ => {
                // A figure of its own (`trace_alloc_overflowed`) is a setting as well.
                if matches!(
                    content,
                    Val::Bool(_) | Val::Int(_) | Val::Float(_) | Val::Str(_)
                ) {
                    let name = self.strings.table().get(StringId(key)).to_owned();
                    let value = self.setting(content, 0);
                    self.snapshot.settings.set(name, value);
                } else {
                    self.unused(Kind::Top, name, false);
                }
                true
            }
        };
        if !ok {
            self.unused(Kind::Top, name, true);
        }
    }

    fn traces(&mut self, content: Val, host: bool) -> bool {
        let lists = match content {
            Val::Empty => return true,
            // Host traces may come as one plain list of events.
            Val::Events(..) => vec![content],
            Val::Items(id) => self
                .items
                .get_mut(id as usize)
                .map(std::mem::take)
                .unwrap_or_default(),
            _ => return false,
        };
        let mut ok = true;
        let mut last = 0;
        // The rows of each device so far: by their start, their end.
        let taken = self.snapshot.devices.iter().filter(|d| d.start < d.end);
        let mut taken: BTreeMap<u32, u32> = taken.map(|d| (d.start, d.end)).collect();
        let mut repeated = host && self.snapshot.devices.iter().any(|d| d.device.is_host());
        for (ordinal, list) in lists.into_iter().enumerate() {
            let (start, end) = match self.resolve(list) {
                Val::Events(start, end) => (start, end),
                Val::Empty => (last, last),
                _ => {
                    ok = false;
                    continue;
                }
            };
            last = end;
            let device = if host {
                Device::HOST
            } else {
                Device(ordinal as u32)
            };
            // The same list twice would make one event happen on two devices.
            let before = taken.range(..end).next_back();
            if before.is_some_and(|(_, &e)| start < e) || repeated {
                ok = false;
                continue;
            }
            if start < end {
                taken.insert(start, end);
            }
            repeated = host;
            self.snapshot
                .devices
                .push(DeviceTrace { device, start, end });
        }
        ok
    }

    fn settings(&mut self, content: Val) {
        let Val::Pairs(id) = content else {
            return;
        };
        let pairs = self
            .pairs
            .get_mut(id as usize)
            .map(std::mem::take)
            .unwrap_or_default();
        let mut settings: Metadata = std::mem::take(&mut self.snapshot.settings);
        for (i, (name, value)) in pairs.into_iter().enumerate() {
            let Val::Str(name) = name else {
                self.unused(Kind::Top, name, true);
                continue;
            };
            if i >= MAX_SETTINGS {
                self.skipped
                    .count("allocator setting beyond the first 4096", self.offset);
                continue;
            }
            let value = self.setting(value, 0);
            settings.set(self.strings.table().get(name).to_owned(), value);
        }
        self.snapshot.settings = settings;
    }

    fn setting(&self, value: Val, depth: usize) -> Value {
        match self.resolve(value) {
            Val::Bool(b) => Value::Bool(b),
            Val::Int(i) => Value::Int(i),
            Val::Big(u) => Value::Text(u.to_string()),
            Val::Float(f) if f.is_finite() => Value::Float(f),
            Val::Float(f) => Value::Text(f.to_string()),
            Val::Str(id) => Value::Text(self.strings.table().get(id).to_owned()),
            Val::None => Value::Null,
            other => Value::Json(self.json(other, depth, &mut MAX_SETTINGS.clone())),
        }
    }

    /// JSON text in the order of the source, whatever features serde_json is built with.
    fn json(&self, value: Val, depth: usize, left: &mut usize) -> String {
        *left = left.saturating_sub(1);
        if depth > MAX_DEPTH || *left == 0 {
            return "\"...\"".to_owned();
        }
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self.resolve(value) {
            Val::Bool(b) => b.to_string(),
            Val::Int(i) => i.to_string(),
            Val::Big(u) => u.to_string(),
            // What JSON has no number for is null.
            Val::Float(f) => serde_json::Value::from(f).to_string(),
            Val::Str(id) => quoted(self.strings.table().get(id)),
            Val::Pool(p) => {
                let pool = self.snapshot.pools.get(p.0 as usize);
                pool.map_or("null".to_owned(), |p| format!("[{},{}]", p.0, p.1))
            }
            Val::Pairs(id) => {
                let pairs = self.pairs.get(id as usize).into_iter().flatten();
                let entries: Vec<String> = pairs
                    .filter_map(|&(k, v)| match k {
                        Val::Str(k) => {
                            let name = quoted(self.strings.table().get(k));
                            Some(format!("{name}:{}", self.json(v, depth + 1, left)))
                        }
                        _ => None,
                    })
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
            Val::Items(id) => {
                let items = self.items.get(id as usize).into_iter().flatten();
                let items: Vec<String> = items.map(|&v| self.json(v, depth + 1, left)).collect();
                format!("[{}]", items.join(","))
            }
            Val::Empty => "[]".to_owned(),
            _ => "null".to_owned(),
        }
    }
}

fn trim(snapshot: &mut Snapshot) {
    snapshot.segments.rows.shrink_to_fit();
    snapshot.annotations.rows.shrink_to_fit();
}

fn what(value: Val) -> &'static str {
    match value {
        Val::Stack(_) | Val::Items(_) | Val::Events(..) => "a list of something else",
        Val::Segment(_) | Val::Block(_) | Val::Event(_) | Val::Frame(_) => {
            "one row instead of all of them"
        }
        _ => "a plain value",
    }
}

fn unknown(found: &str) -> Refused {
    Refused {
        expected: "a dictionary with segments or device_traces, or a list of segments",
        found: found.to_owned(),
        advice: "give MemScope what torch.cuda.memory._dump_snapshot wrote",
    }
}
