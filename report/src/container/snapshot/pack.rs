//! Packing a snapshot.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Last, SnapshotEntry};
use crate::container::column;
use crate::container::encode::{Slab, plain, slab};
use crate::container::header::Coding;
use crate::container::varint::zigzag;
use crate::model::snapshot::{
    BlockState, Device, Size, Snapshot, Stage, TIME_RESOLUTION_NS, TraceEvents, TraceId,
};
use crate::model::{Bytes, StringId};

/// The columns of a snapshot and what the header says of it.
pub(in crate::container) fn slabs(snapshot: &Snapshot) -> (SnapshotEntry, Vec<Slab>) {
    let times = snapshot.events.time_ns.iter().flatten();
    let notes = snapshot.annotations.rows.iter().filter_map(|a| a.time_ns);
    let even = times.chain(notes).all(|t| t % TIME_RESOLUTION_NS == 0);
    let entry = SnapshotEntry {
        events: snapshot.events.len() as u64,
        devices: snapshot.devices.clone(),
        streams: snapshot.streams.clone(),
        pools: snapshot.pools.clone(),
        settings: snapshot.settings.clone(),
        time_unit: if even { TIME_RESOLUTION_NS } else { 1 },
    };
    let mut out = Vec::new();
    frames(snapshot, &mut out);
    trace(&snapshot.events, entry.time_unit, &mut out);
    state(snapshot, &mut out);
    annotations(snapshot, entry.time_unit, &mut out);
    (entry, out)
}

fn put(out: &mut Vec<Slab>, name: &str, values: &[u64]) {
    out.push(plain(&format!("snapshot.{name}"), values));
}

fn put_rising(out: &mut Vec<Slab>, name: &str, values: &[u64]) {
    let bytes = column::encode(Coding::Delta, values, &[], &[]);
    let name = format!("snapshot.{name}");
    out.push(slab(&name, Coding::Delta, &[], values.len(), bytes));
}

fn texts<'a>(ids: impl IntoIterator<Item = &'a StringId>) -> Vec<u64> {
    ids.into_iter().map(|s| u64::from(s.0)).collect()
}

/// Absent as 0, others one up.
fn up(id: u32) -> u64 {
    if id == u32::MAX { 0 } else { u64::from(id) + 1 }
}

fn frames(snapshot: &Snapshot, out: &mut Vec<Slab>) {
    let frames = &snapshot.frames;
    put(out, "frames.name", &texts(&frames.name));
    put(out, "frames.file", &texts(&frames.file));
    let lines: Vec<u64> = frames.line.iter().map(|&l| l.into()).collect();
    put(out, "frames.line", &lines);
    let fx: Vec<u64> = frames.fx.iter().map(|f| f.0.0.into()).collect();
    put_rising(out, "fx.frame", &fx);
    let fx = |f: &dyn Fn(&crate::model::snapshot::FxNode) -> StringId| -> Vec<u64> {
        frames.fx.iter().map(|(_, n)| f(n).0.into()).collect()
    };
    put(out, "fx.op", &fx(&|n| n.op));
    put(out, "fx.name", &fx(&|n| n.name));
    put(out, "fx.target", &fx(&|n| n.target));
    put(out, "fx.trace", &fx(&|n| n.original_trace));
    let ends: Vec<u64> = snapshot.stacks.ends.iter().map(|&e| e.into()).collect();
    put_rising(out, "stacks.end", &ends);
    let items: Vec<u64> = snapshot.stacks.frames.iter().map(|f| f.0.into()).collect();
    put(out, "stacks.frame", &items);
}

fn times(column: &Bytes, unit: u64) -> Vec<u64> {
    let mut last = 0u64;
    let code = |time: Option<u64>| match time {
        None => 0,
        Some(time) => {
            let time = time / unit;
            // Times are below 2^63, so the difference fits and 1 can be added.
            let code = 1 + zigzag(time.wrapping_sub(last) as i64).min(u64::MAX - 1);
            last = time;
            code
        }
    };
    column.iter().map(code).collect()
}

/// 0 for the value of the row above.
fn repeats(column: &[StringId]) -> Vec<u64> {
    let mut last = StringId::EMPTY;
    let code = |&id: &StringId| {
        let code = if id == last { 0 } else { u64::from(id.0) + 1 };
        last = id;
        code
    };
    column.iter().map(code).collect()
}

fn trace(events: &TraceEvents, unit: u64, out: &mut Vec<Slab>) {
    let n = events.len();
    let actions: Vec<u64> = events.action.iter().map(|&a| a as u64).collect();
    put(out, "trace.action", &actions);
    put(out, "trace.time", &times(&events.time_ns, unit));
    put(
        out,
        "trace.compile_context",
        &repeats(&events.compile_context),
    );
    put(out, "trace.user_metadata", &repeats(&events.user_metadata));

    let mut places: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
    let mut addresses: Vec<u64> = Vec::new();
    let mut last: Vec<Last> = Vec::new();
    let [mut address, mut size, mut stack, mut stream, mut pool] =
        std::array::from_fn(|_| Vec::with_capacity(n));
    let mut above = None;
    for i in 0..n {
        let a = events.address.get(i).copied().unwrap_or(0);
        let place = *places.entry(a).or_insert_with(|| {
            addresses.push(a);
            last.push(Last::default());
            (addresses.len() - 1) as u32
        });
        address.push(if above == Some(place) {
            0
        } else {
            1 + u64::from(place)
        });
        above = Some(place);
        let now = Last {
            size: events.size.get(i).copied().unwrap_or(0),
            stack: events.stack.get(i).copied().unwrap_or(u32::MAX),
            stream: events.stream.get(i).map_or(0, |s| s.0),
            pool: events.pool.get(i).copied().unwrap_or(u32::MAX),
        };
        if let Some(before) = last.get_mut(place as usize) {
            // Sizes are below 2^63, so 1 can be added.
            let same = now.size == before.size;
            size.push(if same { 0 } else { now.size.saturating_add(1) });
            let same = now.stack == before.stack;
            stack.push(if same { 0 } else { 1 + up(now.stack) });
            let same = now.stream == before.stream;
            stream.push(if same { 0 } else { 1 + u64::from(now.stream) });
            let same = now.pool == before.pool;
            pool.push(if same { 0 } else { 1 + up(now.pool) });
            *before = now;
        }
    }
    put_rising(out, "trace.addresses", &addresses);
    put(out, "trace.address", &address);
    put(out, "trace.size", &size);
    put(out, "trace.stack", &stack);
    put(out, "trace.stream", &stream);
    put(out, "trace.pool", &pool);

    let rows = |of: &[(TraceId, StringId)]| -> (Vec<u64>, Vec<u64>) {
        let rows = of.iter().map(|r| r.0.0.into()).collect();
        (rows, of.iter().map(|r| r.1.0.into()).collect())
    };
    for (name, sparse) in [
        ("forward_frames", &events.forward_frames),
        ("internal_metadata", &events.internal_metadata),
        ("category", &events.category),
    ] {
        let (row, text) = rows(sparse);
        put_rising(out, &format!("{name}.row"), &row);
        put(out, &format!("{name}.text"), &text);
    }
    if events.states_totals() {
        put_rising(out, "trace.total_allocated", &events.total_allocated.0);
        put_rising(out, "trace.total_reserved", &events.total_reserved.0);
    }
    let row: Vec<u64> = events.device_free.iter().map(|r| r.0.0.into()).collect();
    let free: Vec<u64> = events.device_free.iter().map(|r| r.1).collect();
    put_rising(out, "device_free.row", &row);
    put(out, "device_free.bytes", &free);
}

fn device(device: Device) -> u64 {
    up(device.0)
}

fn state(snapshot: &Snapshot, out: &mut Vec<Slab>) {
    type Row = crate::model::snapshot::SegmentRow;
    let each = |f: &dyn Fn(&Row) -> u64| -> Vec<u64> { snapshot.segments.iter().map(f).collect() };
    let known = |v: Option<u64>| v.map_or(0, |v| v.saturating_add(1));
    put(out, "segments.device", &each(&|s| device(s.device)));
    put_rising(out, "segments.address", &each(&|s| s.address));
    put(out, "segments.total", &each(&|s| s.total_size));
    put(
        out,
        "segments.allocated",
        &each(&|s| known(s.allocated_size)),
    );
    put(out, "segments.active", &each(&|s| known(s.active_size)));
    put(
        out,
        "segments.requested",
        &each(&|s| known(s.requested_size)),
    );
    put(out, "segments.stream", &each(&|s| s.stream.0.into()));
    put(
        out,
        "segments.size",
        &each(&|s| match s.size {
            Size::Unknown => 0,
            Size::Small => 1,
            Size::Large => 2,
        }),
    );
    put(
        out,
        "segments.pool",
        &each(&|s| s.pool.map_or(0, |p| up(p.0))),
    );
    put(
        out,
        "segments.expandable",
        &each(&|s| match s.expandable {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        }),
    );
    put(
        out,
        "segments.stack",
        &each(&|s| s.stack.map_or(0, |s| up(s.0))),
    );
    put_rising(out, "segments.first", &each(&|s| s.first_block.into()));
    put(out, "segments.blocks", &each(&|s| s.blocks.into()));

    let blocks = &snapshot.blocks;
    put_rising(out, "blocks.address", &blocks.address);
    put(out, "blocks.size", &blocks.size);
    let requested: Vec<u64> = blocks.requested.iter().map(known).collect();
    put(out, "blocks.requested", &requested);
    let states: Vec<u64> = blocks
        .state
        .iter()
        .map(|s| match s {
            BlockState::Inactive => 0,
            BlockState::Allocated => 1,
            BlockState::PendingFree => 2,
        })
        .collect();
    put(out, "blocks.state", &states);
    let stacks: Vec<u64> = blocks.stack.iter().map(|&s| up(s)).collect();
    put(out, "blocks.stack", &stacks);
}

fn annotations(snapshot: &Snapshot, unit: u64, out: &mut Vec<Slab>) {
    let rows = &snapshot.annotations.rows;
    let stage: Vec<u64> = rows
        .iter()
        .map(|a| u64::from(a.stage == Stage::End))
        .collect();
    put(out, "annotations.stage", &stage);
    put(
        out,
        "annotations.name",
        &texts(rows.iter().map(|a| &a.name)),
    );
    let devices: Vec<u64> = rows.iter().map(|a| device(a.device)).collect();
    put(out, "annotations.device", &devices);
    let mut column = Bytes::default();
    for row in rows {
        column.push(row.time_ns);
    }
    put(out, "annotations.time", &times(&column, unit));
}
