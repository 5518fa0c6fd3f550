//! Makes large snapshots: a pickle whose history is that of another one, again and again, each time
//! at fresh addresses and later times.
//!
//! ```text
//! cargo run --release -p report --features snapshot --example snapshot_repeat -- IN.pickle TIMES OUT.pickle
//! ```
//!
//! Written as CPython writes with protocol 4: every frame once, and again by its place in the memo;
//! events in batches of a thousand; a free that is completed at once shares the list of frames of
//! its request. What a run leaves at its end stays, so the state holds it as often.

use std::fs::File;
use std::io::{BufWriter, Write};

use report::model::Rank;
use report::model::snapshot::{
    Action, BlockState, Device, PoolIndex, Size, Snapshot, StackId, Stage, StreamIndex, TraceRow,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Bytes between the addresses of two runs: more than a device has, so that they never meet.
const APART: u64 = 1 << 41;
/// Items of a batch, as CPython's pickler makes them.
const BATCH: usize = 1000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, times, output] = args.as_slice() else {
        return Err("give a snapshot, how often to repeat it, and where to write".into());
    };
    let report = report::read::read_stream(input, File::open(input)?)?;
    let rank = report.ranks.first().ok_or("no rank")?;
    let snapshot = rank.snapshot.as_ref().ok_or("no snapshot")?;
    let out = BufWriter::with_capacity(1 << 20, File::create(output)?);
    let mut pickle = Pickle::new(rank, snapshot, out)?;
    pickle.snapshot(times.parse()?)?;
    pickle.out.flush()?;
    Ok(())
}

/// Writes opcodes, with the memo's places of what comes again.
struct Pickle<'a, W> {
    rank: &'a Rank,
    snapshot: &'a Snapshot,
    out: W,
    /// Places in the memo so far.
    places: u32,
    /// Places of texts and frames by id, and of a last list of frames.
    words: std::collections::HashMap<String, u32>,
    frames: Vec<Option<u32>>,
    list: Option<(StackId, u32)>,
}

impl<'a, W: Write> Pickle<'a, W> {
    fn new(rank: &'a Rank, snapshot: &'a Snapshot, mut out: W) -> Result<Self> {
        out.write_all(&[0x80, 4])?;
        Ok(Self {
            rank,
            snapshot,
            out,
            places: 0,
            words: std::collections::HashMap::new(),
            frames: vec![None; snapshot.frames.len()],
            list: None,
        })
    }

    fn op(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.out.write_all(bytes)?)
    }

    fn memoize(&mut self) -> Result<u32> {
        self.op(&[0x94])?;
        self.places += 1;
        Ok(self.places - 1)
    }

    fn get(&mut self, place: u32) -> Result<()> {
        match u8::try_from(place) {
            Ok(place) => self.op(&[b'h', place]),
            Err(_) => {
                self.op(b"j")?;
                self.op(&place.to_le_bytes())
            }
        }
    }

    fn text(&mut self, text: &str) -> Result<()> {
        if let Some(&place) = self.words.get(text) {
            return self.get(place);
        }
        match u8::try_from(text.len()) {
            Ok(length) => self.op(&[0x8c, length])?,
            Err(_) => {
                self.op(b"X")?;
                self.op(&u32::try_from(text.len())?.to_le_bytes())?;
            }
        }
        self.op(text.as_bytes())?;
        let place = self.memoize()?;
        self.words.insert(text.to_owned(), place);
        Ok(())
    }

    fn int(&mut self, value: u64) -> Result<()> {
        if let Ok(byte) = u8::try_from(value) {
            return self.op(&[b'K', byte]);
        }
        if let Ok(short) = u16::try_from(value) {
            self.op(b"M")?;
            return self.op(&short.to_le_bytes());
        }
        if let Ok(int) = i32::try_from(value) {
            self.op(b"J")?;
            return self.op(&int.to_le_bytes());
        }
        let bytes = i128::from(value).to_le_bytes();
        // One bit more than the value has is its sign.
        let length = (64 - value.leading_zeros()) as usize / 8 + 1;
        self.op(&[0x8a, length as u8])?;
        self.op(bytes.get(..length).unwrap_or_default())
    }

    fn field(&mut self, name: &str, value: u64) -> Result<()> {
        self.text(name)?;
        self.int(value)
    }

    fn dict(&mut self) -> Result<()> {
        self.op(b"}")?;
        self.memoize()?;
        self.op(b"(")
    }

    /// Writes a list in batches.
    fn list(
        &mut self,
        count: usize,
        mut item: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.op(b"]")?;
        self.memoize()?;
        for start in (0..count).step_by(BATCH) {
            let end = count.min(start + BATCH);
            // As the pickler: a batch of one is appended.
            if end - start > 1 {
                self.op(b"(")?;
            }
            for i in start..end {
                item(self, i)?;
            }
            self.op(if end - start > 1 { b"e" } else { b"a" })?;
        }
        Ok(())
    }

    fn stack(&mut self, stack: Option<StackId>, share: bool) -> Result<()> {
        let stack = stack.unwrap_or(StackId::EMPTY);
        if let (true, Some((last, place))) = (share, self.list)
            && last == stack
        {
            return self.get(place);
        }
        let snapshot = self.snapshot;
        let frames = snapshot.stacks.get(stack);
        let place = self.places;
        self.list(frames.len(), |this, i| {
            let Some(&id) = frames.get(i) else {
                return Ok(());
            };
            if let Some(place) = this.frames.get(id.0 as usize).copied().flatten() {
                return this.get(place);
            }
            if let Some(slot) = this.frames.get_mut(id.0 as usize) {
                *slot = Some(this.places);
            }
            let frame = snapshot.frames.get(id);
            this.dict()?;
            this.text("name")?;
            this.text(this.rank.strings.get(frame.name))?;
            this.text("filename")?;
            this.text(this.rank.strings.get(frame.file))?;
            this.field("line", frame.line.into())?;
            this.op(b"u")
        })?;
        self.list = Some((stack, place));
        Ok(())
    }

    fn stream(&self, index: StreamIndex) -> u64 {
        let handle = self.snapshot.streams.get(usize::from(index.0));
        handle.copied().unwrap_or(0)
    }

    fn pool(&mut self, name: &str, pool: Option<PoolIndex>) -> Result<()> {
        let pools = &self.snapshot.pools;
        let Some(&pool) = pool.and_then(|p| pools.get(p.0 as usize)) else {
            return Ok(());
        };
        self.text(name)?;
        self.int(pool.0)?;
        self.int(pool.1)?;
        self.op(&[0x86])?;
        self.memoize().map(drop)
    }

    fn event(&mut self, row: &TraceRow, apart: u64, later: u64) -> Result<()> {
        self.dict()?;
        self.text("action")?;
        self.text(row.action.word())?;
        if row.action == Action::Oom {
            self.field("device_free", 0)?;
        } else {
            // A snapshot's mark has no address.
            let address = if row.address == 0 {
                0
            } else {
                row.address + apart
            };
            self.field("addr", address)?;
        }
        self.field("size", row.size)?;
        let stream = self.stream(row.stream);
        self.field("stream", stream)?;
        self.pool("pool_id", row.pool)?;
        if let Some(time) = row.time_ns {
            self.field("time_us", time / 1000 + later)?;
        }
        self.text("compile_context")?;
        self.text(self.rank.strings.get(row.compile_context))?;
        self.text("user_metadata")?;
        self.text(self.rank.strings.get(row.user_metadata))?;
        if row.stack.is_some() {
            self.text("frames")?;
            self.stack(row.stack, row.action == Action::FreeCompleted)?;
        }
        self.op(b"u")
    }

    fn segments(&mut self, times: u64) -> Result<()> {
        let snapshot = self.snapshot;
        let rows: Vec<_> = snapshot
            .segments
            .iter()
            .filter(|s| s.device != Device::HOST)
            .collect();
        self.list(rows.len() * times as usize, |this, i| {
            let Some(row) = rows.get(i % rows.len()) else {
                return Ok(());
            };
            let apart = APART * (i / rows.len()) as u64;
            this.dict()?;
            this.field("device", row.device.0.into())?;
            this.field("address", row.address + apart)?;
            this.field("total_size", row.total_size)?;
            for (name, bytes) in [
                ("allocated_size", row.allocated_size),
                ("active_size", row.active_size),
                ("requested_size", row.requested_size),
            ] {
                if let Some(bytes) = bytes {
                    this.field(name, bytes)?;
                }
            }
            let stream = this.stream(row.stream);
            this.field("stream", stream)?;
            if row.size != Size::Unknown {
                this.text("segment_type")?;
                this.text(if row.size == Size::Small {
                    "small"
                } else {
                    "large"
                })?;
            }
            this.pool("segment_pool_id", row.pool)?;
            if let Some(yes) = row.expandable {
                this.text("is_expandable")?;
                this.op(if yes { &[0x88] } else { &[0x89] })?;
            }
            this.text("frames")?;
            this.stack(row.stack, false)?;
            this.text("blocks")?;
            let blocks: Vec<_> = snapshot.blocks.of(row).collect();
            this.list(blocks.len(), |this, i| {
                let Some(block) = blocks.get(i) else {
                    return Ok(());
                };
                this.dict()?;
                this.field("address", block.address + apart)?;
                this.field("size", block.size)?;
                if let Some(bytes) = block.requested {
                    this.field("requested_size", bytes)?;
                }
                this.text("state")?;
                this.text(match block.state {
                    BlockState::Allocated => "active_allocated",
                    BlockState::PendingFree => "active_pending_free",
                    _ => "inactive",
                })?;
                this.text("frames")?;
                this.stack(block.stack, false)?;
                this.op(b"u")
            })?;
            this.op(b"u")
        })
    }

    fn snapshot(&mut self, times: u64) -> Result<()> {
        let snapshot = self.snapshot;
        let stamps = || snapshot.events.time_ns.iter().flatten();
        let (first, last) = (stamps().min().unwrap_or(0), stamps().max().unwrap_or(0));
        // A millisecond lies between two runs.
        let length = (last - first) / 1000 + 1000;
        self.dict()?;
        self.text("segments")?;
        self.segments(times)?;
        self.text("device_traces")?;
        let devices: Vec<_> = snapshot
            .devices
            .iter()
            .filter(|d| d.device != Device::HOST)
            .collect();
        self.list(devices.len(), |this, i| {
            let Some(rows) = devices.get(i).map(|d| d.range()) else {
                return Ok(());
            };
            this.list(rows.len() * times as usize, |this, i| {
                let (again, row) = (i / rows.len(), rows.start + i % rows.len());
                let again = again as u64;
                this.event(&snapshot.events.row(row), APART * again, length * again)
            })
        })?;
        self.text("external_annotations")?;
        let notes = &snapshot.annotations.rows;
        self.list(notes.len() * times as usize, |this, i| {
            let Some(note) = notes.get(i % notes.len()) else {
                return Ok(());
            };
            this.dict()?;
            this.text("stage")?;
            this.text(if note.stage == Stage::End {
                "END"
            } else {
                "START"
            })?;
            this.text("name")?;
            this.text(this.rank.strings.get(note.name))?;
            this.field("device", note.device.0.into())?;
            if let Some(time) = note.time_ns {
                this.field("time_us", time / 1000 + length * (i / notes.len()) as u64)?;
            }
            this.op(b"u")
        })?;
        self.op(b"u.")
    }
}
