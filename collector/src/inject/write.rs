//! The records of `docs/journal.md` that the driver's library writes.

use super::device::Memory;
use super::params::Event;
use super::settings::Settings;
use super::table::{Block, Owner, Released, Table};
use super::who::Frame;
use crate::figures::Figures;
use crate::journal::{Journal, Line, quote};
use crate::records::{self, At, Device, Oom, Source};

/// What is told once recording stands: an `update`.
pub(super) fn introduction(
    sources: &[Source],
    versions: &[(&str, Option<String>)],
    settings: &Settings,
) -> Line {
    let known = versions.iter().filter_map(|(n, v)| Some((*n, v.as_ref()?)));
    let mut told = Vec::new();
    if let Some(from) = settings.backtrace {
        told.push(("backtrace_bytes", from.to_string()));
    }
    if settings.poll {
        told.push(("poll", "asked for".to_owned()));
    }
    Line::new("update")
        .json("versions", &records::object(known))
        .json("sources", &records::sources(sources))
        .json("settings", &records::object(told))
}

/// Which devices the process uses: an `update`.
pub(super) fn devices(devices: &[Device], nvml: Option<String>) -> Line {
    let line = Line::new("update")
        .json("devices", &records::devices(devices))
        .number("device", devices.first().map(|d| d.ordinal));
    match nvml {
        Some(version) => line.json("metadata", &records::object([("nvidia_driver", version)])),
        None => line,
    }
}

/// Memory was asked for.
pub(super) fn alloc(
    api: &str,
    event: &Event,
    owner: &Owner,
    rc: u32,
    thread: u64,
    memory: Option<Memory>,
) -> Line {
    let Event::Alloc {
        ptr,
        size,
        stream,
        pool,
        ..
    } = *event
    else {
        return Line::new("alloc");
    };
    Line::new("alloc")
        .text("api", api)
        .address("ptr", ptr)
        .number("size", size)
        .text("kind", owner.kind.word())
        .number("dev", owner.device.map(u64::from))
        .address("stream", stream)
        .address("pool", pool)
        .text("lib", owner.lib)
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
        .number("free", memory.map(|m| m.free))
        .number("total", memory.map(|m| m.total))
}

/// Adds where it was asked for, innermost first.
pub(super) fn backtrace(line: Line, frames: &[Frame]) -> Line {
    if frames.is_empty() {
        return line;
    }
    let mut out = vec![b'['];
    for (lib, offset) in frames {
        if out.len() > 1 {
            out.push(b',');
        }
        out.push(b'[');
        quote(&mut out, lib);
        out.extend_from_slice(format!(",\"{offset:#x}\"]").as_bytes());
    }
    out.push(b']');
    line.json("bt", &String::from_utf8_lossy(&out))
}

/// Memory was given back. Without `api`: it is gone, since its address was given anew.
pub(super) fn free(
    api: &str,
    ptr: u64,
    thread: Option<u64>,
    block: &Block,
    stream: Option<u64>,
    rc: u32,
) -> Line {
    Line::new("free")
        .text("api", api)
        .address("ptr", Some(ptr))
        .number("size", block.size)
        .text("kind", block.owner.kind.word())
        .number("dev", block.owner.device.map(u64::from))
        .address("stream", stream)
        .number("rc", Some(u64::from(rc)))
        .number("tid", thread)
}

/// Memory was given back whose allocation was not seen.
pub(super) fn free_of_unknown(
    api: &str,
    ptr: u64,
    thread: u64,
    stream: Option<u64>,
    rc: u32,
) -> Line {
    Line::new("free")
        .text("api", api)
        .address("ptr", Some(ptr))
        .address("stream", stream)
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
}

/// Physical memory was asked for.
pub(super) fn create(
    api: &str,
    handle: Option<u64>,
    size: Option<u64>,
    owner: &Owner,
    rc: u32,
    thread: u64,
) -> Line {
    Line::new("create")
        .text("api", api)
        .address("handle", handle)
        .number("size", size)
        .text("kind", owner.kind.word())
        .number("dev", owner.device.map(u64::from))
        .text("lib", owner.lib)
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
}

/// A handle of physical memory was given back.
pub(super) fn release(handle: u64, released: Option<Released>, rc: u32, thread: u64) -> Line {
    Line::new("release")
        .address("handle", Some(handle))
        .number("size", released.and_then(|r| r.size))
        .text("kind", released.map_or("", |r| r.kind.word()))
        .number("freed", released.map(|r| r.freed))
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
}

/// Physical memory got an address.
pub(super) fn map(ptr: u64, size: u64, offset: u64, handle: u64, rc: u32, thread: u64) -> Line {
    Line::new("map")
        .address("ptr", Some(ptr))
        .number("size", Some(size))
        .number("offset", Some(offset))
        .address("handle", Some(handle))
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
}

/// Addresses lost their physical memory.
pub(super) fn unmap(ptr: u64, size: u64, freed: u64, rc: u32, thread: u64) -> Line {
    Line::new("unmap")
        .address("ptr", Some(ptr))
        .number("size", Some(size))
        .number("freed", Some(freed))
        .number("rc", Some(u64::from(rc)))
        .number("tid", Some(thread))
}

/// Something happened to a pool.
pub(super) fn pool(op: &str, pool: Option<u64>, device: Option<u32>, rc: u32) -> Line {
    Line::new("pool")
        .text("op", op)
        .address("pool", pool)
        .number("dev", device.map(u64::from))
        .number("rc", Some(u64::from(rc)))
}

/// What a `live` record says. Bytes.
#[derive(Debug)]
pub(super) struct Live<'a> {
    /// Absent where calls are not watched.
    pub(super) table: Option<&'a Table>,
    pub(super) memory: Option<Memory>,
    pub(super) process_used: Option<u64>,
    pub(super) context: Option<u64>,
}

/// What the process has.
pub(super) fn live(live: &Live<'_>) -> Line {
    let line = match live.table {
        Some(table) => Line::new("live").json("by", &by(table)),
        None => Line::new("live"),
    };
    let memory = live.memory;
    line.number("dev", memory.and_then(|m| m.device).map(u64::from))
        .number("device_used", memory.map(Memory::used))
        .number("device_total", memory.map(|m| m.total))
        .number("process_used", live.process_used)
        .number("context", live.context)
}

/// The sums as a JSON list.
fn by(table: &Table) -> String {
    let mut by = vec![b'['];
    for total in table.by() {
        if by.len() > 1 {
            by.push(b',');
        }
        by.push(b'{');
        if !total.owner.lib.is_empty() {
            by.extend_from_slice(b"\"lib\":");
            quote(&mut by, total.owner.lib);
            by.push(b',');
        }
        if let Some(device) = total.owner.device {
            by.extend_from_slice(format!("\"dev\":{device},").as_bytes());
        }
        let rest = format!(
            "\"kind\":\"{}\",\"bytes\":{},\"count\":{}}}",
            total.owner.kind.word(),
            total.bytes,
            total.count
        );
        by.extend_from_slice(rest.as_bytes());
    }
    by.push(b']');
    String::from_utf8_lossy(&by).into_owned()
}

/// What a device says.
pub(super) fn sample(device: u32, memory: Memory, process_used: Option<u64>) -> Line {
    Line::new("sample")
        .text("edge", "tick")
        .number("dev", Some(u64::from(device)))
        .figures(&Figures {
            device_used: Some(memory.used()),
            device_total: Some(memory.total),
            process_used,
            ..Figures::default()
        })
}

/// The device had not enough.
pub(super) fn oom(
    journal: &Journal,
    api: &str,
    size: Option<u64>,
    memory: Option<Memory>,
    frames: &[Frame],
) {
    let stack: Vec<_> = frames
        .iter()
        .map(|(lib, offset)| format!("{lib}+{offset:#x}"))
        .collect();
    let oom = Oom {
        requested: size,
        device_free: memory.map(|m| m.free),
        device_total: memory.map(|m| m.total),
        message: &format!("{api} failed: CUDA_ERROR_OUT_OF_MEMORY (2)"),
        stack: &stack,
        ..Oom::default()
    };
    journal.oom("driver", &oom, &At::default());
}
