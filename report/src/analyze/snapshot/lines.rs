//! Memory by line of the user's code, as a line profiler prints it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::{AllocationId, NEVER};
use super::analysis::Analysis;
use super::instant::Instant;
use super::replay::Replay;
use super::sites::Sites;
use crate::model::StringId;
use crate::model::snapshot::{FrameId, StackId, TraceId};

/// One line of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// A frame of the file and line; `None` for what has no recorded stack.
    pub frame: Option<FrameId>,
    /// Requested bytes that live after the event asked about.
    pub current: u64,
    /// Allocations that live then.
    pub live: u64,
    /// Most requested bytes of this line at one time, up to the event asked about.
    pub peak: u64,
    /// Requested bytes allocated so far, those from before the history included.
    pub allocated: u64,
    /// Requested bytes freed so far.
    pub freed: u64,
    /// Allocations made so far.
    pub count: u64,
}

/// Every line after event `at` (the whole history for `None`), by peak, largest first.
#[must_use]
pub fn lines(replay: &Replay, sites: &Sites, at: Option<TraceId>) -> Vec<Line> {
    let past = at.map_or(NEVER, |t| t.0.saturating_add(1));
    profile(replay, past, |stack| sites.line(stack))
}

/// Every line at an instant.
#[must_use]
pub fn at(analysis: &Analysis, instant: Instant) -> Vec<Line> {
    let sites = analysis.sites();
    let past = past(analysis, instant);
    profile(&analysis.replay, past, |stack| sites.line(stack))
}

/// Every file at an instant; a frame stands for its file.
#[must_use]
pub fn files_at(analysis: &Analysis, instant: Instant) -> Vec<Line> {
    let (frames, sites) = (&analysis.snapshot().frames, analysis.sites());
    let mut first: HashMap<StringId, FrameId, FxBuildHasher> = HashMap::default();
    for (id, frame) in frames.iter() {
        first.entry(frame.file).or_insert(id);
    }
    profile(&analysis.replay, past(analysis, instant), |stack| {
        let frame = sites.line(stack)?;
        first.get(&frames.get(frame).file).copied()
    })
}

/// The event after the last that counts at an instant.
fn past(analysis: &Analysis, instant: Instant) -> u32 {
    let event = analysis.event_of(instant);
    event.map_or(analysis.replay.first, |t| t.0.saturating_add(1))
}

/// All lines together. Their peaks are at different times, so the sum of them is none: it is left
/// at 0.
#[must_use]
pub fn total(lines: &[Line]) -> Line {
    let sum = |of: fn(&Line) -> u64| lines.iter().map(of).fold(0, u64::saturating_add);
    Line {
        frame: None,
        current: sum(|l| l.current),
        live: sum(|l| l.live),
        peak: 0,
        allocated: sum(|l| l.allocated),
        freed: sum(|l| l.freed),
        count: sum(|l| l.count),
    }
}

/// `past` is the event after the last that counts.
fn profile(replay: &Replay, past: u32, key: impl Fn(StackId) -> Option<FrameId>) -> Vec<Line> {
    let a = &replay.allocations;
    let mut slots: HashMap<Option<FrameId>, u32, FxBuildHasher> = HashMap::default();
    let mut out: Vec<Line> = Vec::new();
    let mut slot_of: Vec<u32> = Vec::with_capacity(a.len());
    for id in a.ids() {
        let frame = a.stack(id).and_then(&key);
        let slot = *slots.entry(frame).or_insert_with(|| {
            out.push(Line {
                frame,
                current: 0,
                live: 0,
                peak: 0,
                allocated: 0,
                freed: 0,
                count: 0,
            });
            (out.len() - 1) as u32
        });
        slot_of.push(slot);
    }
    // Ends in order of time, against births, which are in order.
    let mut ends: Vec<(u32, u32)> = (0..a.len() as u32)
        .filter_map(|i| Some((*a.completed.get(i as usize)?, i)))
        .filter(|&(end, _)| end < past && end != NEVER)
        .collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut end_until = |out: &mut Vec<Line>, event: u32| {
        while let Some((_, i)) = ends.next_if(|&(end, _)| end <= event) {
            let line = slot_of
                .get(i as usize)
                .and_then(|&s| out.get_mut(s as usize));
            if let Some(line) = line {
                let size = a.size(AllocationId(i));
                line.current = line.current.saturating_sub(size);
                line.freed = line.freed.saturating_add(size);
                line.live -= 1;
            }
        }
    };
    for id in a.ids() {
        let born = a.born.get(id.index()).copied().unwrap_or(NEVER);
        if born != NEVER {
            if born >= past {
                break;
            }
            end_until(&mut out, born);
        }
        let line = slot_of
            .get(id.index())
            .and_then(|&s| out.get_mut(s as usize));
        if let Some(line) = line {
            let size = a.size(id);
            line.current = line.current.saturating_add(size);
            line.allocated = line.allocated.saturating_add(size);
            line.live += 1;
            line.count += 1;
            line.peak = line.peak.max(line.current);
        }
    }
    end_until(&mut out, past);
    out.retain(|l| l.count > 0);
    out.sort_by_key(|l| std::cmp::Reverse((l.peak, l.allocated)));
    out
}
