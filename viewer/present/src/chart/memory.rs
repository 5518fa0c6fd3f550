//! Memory over time, of a memory snapshot: every allocation stacked, reserved above it, steps and
//! annotations below, the peak and OOMs named.
//!
//! The stack shows requested bytes. A pixel column shows the state with most requested bytes among
//! those that fall on it, so the plotted maximum is the stated peak at every zoom.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use report::analyze::levels::Levels;
use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::{Analysis, Instant};
use report::analyze::stacked::BEFORE_FIRST;
use report::model::snapshot::TraceId;
use report::model::{Bytes, StringId};

use super::stack::{Pixels, stack};
use super::{Color, Frame, Theme, category_color, mixed};

/// Shades of a category: neighbours of different stacks differ.
const SHADES: [f64; 4] = [1.0, 0.86, 0.93, 0.78];
/// Slots that are searched one by one for the highest.
const BLOCK: usize = 512;
/// At most this many allocations are looked at for a frame; above, columns are wider.
const WORK: usize = 4_000_000;

/// What the horizontal axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// Entries of the trace, equally wide.
    #[default]
    Event,
    /// True time.
    Time,
}

/// A part of the axis, as shares of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// What it counts.
    pub clock: Clock,
    /// First position.
    pub start: f64,
    /// Last position.
    pub end: f64,
}

impl Window {
    /// Everything.
    #[must_use]
    pub fn whole(clock: Clock) -> Self {
        Self {
            clock,
            start: 0.0,
            end: 1.0,
        }
    }
}

/// One pixel column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The slot with most requested bytes.
    pub slot: usize,
    /// Requested bytes there.
    pub requested: u64,
    /// Most reserved bytes within the column.
    pub reserved: u64,
}

/// What is drawn of a snapshot; made once.
///
/// States are *slots*: where memory was there before the history, slot 0 is the state before the
/// first entry; each entry of the trace has the slot after it.
#[derive(Debug)]
pub struct Memory {
    /// The snapshot.
    pub analysis: Arc<Analysis>,
    /// 1 when slot 0 is the state before the first entry.
    lead: usize,
    slots: usize,
    requested: Levels,
    reserved: Levels,
    reserved_after: Bytes,
    /// Nanoseconds since the first entry, never falling.
    times: OnceLock<Option<Vec<u64>>>,
    /// Annotations by lane, the outermost first: where the lane's changes, slot and name.
    pub(super) phases: Vec<Lane>,
    /// Names of annotations in order of first occurrence: their colours.
    pub names: Vec<StringId>,
    /// Highest figure that the axis must hold, bytes.
    pub top: u64,
    /// What the device could have given the process, where an OOM says so and it fits the picture.
    pub capacity: Option<u64>,
    palette: OnceLock<Vec<u8>>,
}

impl Memory {
    /// Prepares the picture.
    #[must_use]
    pub fn new(analysis: Arc<Analysis>) -> Self {
        let r = &analysis.replay;
        let events = r.events().len();
        let lead = usize::from(r.requested.start > 0 || r.reserved.start > 0 || events == 0);
        let mut reserved_after = Bytes::default();
        for &b in &r.reserved.after {
            reserved_after.push(Some(b));
        }
        let total = analysis.stacked().total();
        let peak = r.peak_requested().bytes.max(r.peak_reserved().bytes);
        let capacity = capacity(&analysis).filter(|&c| c <= peak.saturating_mul(8) / 5);
        let (phases, names) = phases(&analysis, lead);
        Self {
            lead,
            slots: events + lead,
            requested: Levels::of(total),
            reserved: Levels::of(&reserved_after),
            reserved_after,
            times: OnceLock::new(),
            phases,
            names,
            top: capacity.map_or(peak, |c| c.max(peak)),
            capacity,
            palette: OnceLock::new(),
            analysis,
        }
    }

    /// Slots before that of the first entry.
    #[must_use]
    pub fn lead(&self) -> usize {
        self.lead
    }

    /// Number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The slot of an instant.
    #[must_use]
    pub fn slot_of(&self, instant: Instant) -> usize {
        let event = self.analysis.event_of(instant);
        event.map_or(0, |t| self.slot_after(t))
    }

    /// The slot after an entry.
    #[must_use]
    pub fn slot_after(&self, event: TraceId) -> usize {
        let row = event.0.saturating_sub(self.analysis.replay.first) as usize;
        (row + self.lead).min(self.slots.saturating_sub(1))
    }

    /// The instant of a slot.
    #[must_use]
    pub fn instant(&self, slot: usize) -> Instant {
        match slot.checked_sub(self.lead) {
            Some(row) if row < self.slots - self.lead => {
                Instant::Event(TraceId(self.analysis.replay.first + row as u32))
            }
            _ => Instant::Start,
        }
    }

    fn value(&self, bytes: &Bytes, start: u64, slot: usize) -> u64 {
        match slot.checked_sub(self.lead) {
            Some(row) => bytes.get(row).unwrap_or(0),
            None => start,
        }
    }

    /// Requested bytes of a slot.
    #[must_use]
    pub fn requested(&self, slot: usize) -> u64 {
        let start = self.analysis.replay.requested.start;
        self.value(self.analysis.stacked().total(), start, slot)
    }

    /// Reserved bytes of a slot.
    #[must_use]
    pub fn reserved(&self, slot: usize) -> u64 {
        let start = self.analysis.replay.reserved.start;
        self.value(&self.reserved_after, start, slot)
    }

    /// Nanoseconds since the first entry by slot; `None` where the source has no times.
    #[must_use]
    pub fn times(&self) -> Option<&[u64]> {
        let made = self.times.get_or_init(|| {
            let column = &self.analysis.snapshot().events.time_ns;
            let events = self.analysis.replay.events();
            let first = column.get(events.start)?;
            let mut out = vec![0; self.lead];
            let mut last = 0;
            for row in events {
                last = column.get(row)?.saturating_sub(first).max(last);
                out.push(last);
            }
            (last > 0).then_some(out)
        });
        made.as_deref()
    }

    /// The clock that can be used: without times only the event axis.
    #[must_use]
    pub fn usable(&self, clock: Clock) -> Clock {
        match clock {
            Clock::Time if self.times().is_some() => Clock::Time,
            _ => Clock::Event,
        }
    }

    /// Where a slot lies on the whole axis, as a share of it.
    #[must_use]
    pub fn share_of(&self, clock: Clock, slot: usize) -> f64 {
        match (self.usable(clock), self.times()) {
            (Clock::Time, Some(t)) => {
                let at = |i: usize| t.get(i).copied().unwrap_or(0) as f64;
                at(slot) / at(t.len().saturating_sub(1)).max(1.0)
            }
            _ => (slot as f64 + 0.5) / self.slots.max(1) as f64,
        }
    }

    /// The slots under a part of the axis, given as shares of the whole: those whose entries fall
    /// on it, else the one that stands there.
    #[must_use]
    pub fn slots_at(&self, clock: Clock, from: f64, to: f64) -> (usize, usize) {
        let last = self.slots.saturating_sub(1);
        let (a, b) = match (self.usable(clock), self.times()) {
            (Clock::Time, Some(t)) => {
                let whole = t.last().copied().unwrap_or(0) as f64;
                let at = |share: f64| t.partition_point(|&x| (x as f64) < share * whole);
                (at(from), at(to))
            }
            _ => {
                let n = self.slots as f64;
                ((from * n) as usize, (to * n).ceil() as usize)
            }
        };
        if a < b {
            (a.min(last), b.clamp(1, self.slots.max(1)))
        } else {
            let standing = if self.usable(clock) == Clock::Time {
                a.saturating_sub(1).min(last)
            } else {
                a.min(last)
            };
            (standing, standing + 1)
        }
    }

    /// The slot with most requested bytes in a range, the first of them.
    #[must_use]
    pub fn highest(&self, from: usize, to: usize) -> usize {
        let total = self.analysis.stacked().total();
        let rows = |s: usize| s.saturating_sub(self.lead);
        let mut best = (self.requested(from), from);
        let mut block = from;
        while block < to {
            let end = (block + BLOCK).min(to);
            let most = self.requested.span(total, rows(block), rows(end));
            if most.is_some_and(|m| m.max > best.0) {
                for slot in block..end {
                    if self.requested(slot) > best.0 {
                        best = (self.requested(slot), slot);
                    }
                }
            }
            block = end;
        }
        best.1
    }

    /// The columns of a window.
    #[must_use]
    pub fn columns(&self, window: Window, width: usize) -> Vec<Column> {
        let share = |px: usize| {
            window.start + (window.end - window.start) * px as f64 / width.max(1) as f64
        };
        (0..width)
            .map(|px| {
                let (a, b) = self.slots_at(window.clock, share(px), share(px + 1));
                let slot = self.highest(a, b);
                let rows = (a.saturating_sub(self.lead), b.saturating_sub(self.lead));
                let within = self.reserved.span(&self.reserved_after, rows.0, rows.1);
                let most = within.map_or(0, |s| s.max);
                let first = if a < self.lead { self.reserved(a) } else { 0 };
                Column {
                    slot,
                    requested: self.requested(slot),
                    reserved: most.max(first),
                }
            })
            .collect()
    }

    /// The height in pixels of some bytes in a plot.
    #[must_use]
    pub fn height(&self, bytes: u64, frame: Frame) -> f64 {
        bytes as f64 / self.scale_top() as f64 * f64::from(frame.bottom - frame.top)
    }

    /// Bytes at the upper edge of the plot.
    #[must_use]
    pub fn scale_top(&self) -> u64 {
        self.top.saturating_add(self.top / 25).max(1)
    }

    /// The allocation at a height of `bytes` in a slot's stack.
    #[must_use]
    pub fn allocation(&self, slot: usize, bytes: u64) -> Option<u32> {
        super::allocation_at(self.analysis.stacked(), self.sample(slot), bytes)
    }

    /// What is stacked in a slot, from below.
    #[must_use]
    pub fn live(&self, slot: usize) -> Vec<u32> {
        let mut out = Vec::new();
        let stacked = self.analysis.stacked();
        let sample = [self.sample(slot)];
        stacked.walk(&sample, |_, parts| out.extend(parts.map(|(id, _)| id)));
        out
    }

    fn sample(&self, slot: usize) -> usize {
        slot.checked_sub(self.lead).unwrap_or(BEFORE_FIRST)
    }

    /// The colour of an allocation: its category's, in a shade of its stack.
    #[must_use]
    pub fn color(&self, id: u32, theme: &Theme) -> Color {
        colors(theme)[usize::from(self.shades().get(id as usize).copied().unwrap_or(0))]
    }

    fn shades(&self) -> &[u8] {
        self.palette.get_or_init(|| {
            let a = &self.analysis;
            let allocations = &a.replay.allocations;
            let categories = a.categories();
            allocations
                .ids()
                .map(|id| {
                    let category = categories.get(id).0;
                    let at = Category::ALL.iter().position(|&c| c == category);
                    let stack = allocations.stack(id).map_or(0, |s| s.0);
                    let shade = (stack.wrapping_mul(0x9e37_79b9) >> 30) as usize;
                    (at.unwrap_or(0) * SHADES.len() + shade) as u8
                })
                .collect()
        })
    }

    /// The plot as opaque pixels, one a column: ground, reserved, and every allocation. Those that
    /// `lit` accepts are shown in ink.
    #[must_use]
    pub fn raster(
        &self,
        columns: &[Column],
        height: usize,
        theme: &Theme,
        lit: Option<&dyn Fn(u32) -> bool>,
    ) -> Pixels {
        let live = self.analysis.stacked().most();
        let stride = (live.saturating_mul(columns.len()) / WORK + 1).min(16);
        let shown: Vec<Column> = columns
            .chunks(stride)
            .filter_map(|c| c.iter().max_by_key(|c| c.requested).copied())
            .collect();
        let samples: Vec<usize> = shown.iter().map(|c| self.sample(c.slot)).collect();
        let colors = colors(theme);
        let shades = self.shades();
        let color = |id: u32| match lit {
            Some(lit) if lit(id) => theme.ink,
            _ => colors[usize::from(shades.get(id as usize).copied().unwrap_or(0))],
        };
        let top = self.scale_top();
        let narrow = stack(self.analysis.stacked(), &samples, height, top, color);
        let heights: Vec<usize> = columns
            .iter()
            .map(|c| (c.reserved as f64 / top as f64 * height as f64) as usize)
            .collect();
        narrow.over(columns.len(), stride, |x| {
            let rows = heights.get(x).copied().unwrap_or(0);
            (rows, theme.reserved, theme.ground)
        })
    }

    /// Requested bytes of each category in some slots, in the order of [`Category::ALL`]; slots
    /// must not fall.
    #[must_use]
    pub fn by_category(&self, slots: &[usize]) -> Vec<[u64; Category::ALL.len()]> {
        let shades = self.shades();
        let stacked = self.analysis.stacked();
        let mut out = vec![[0u64; Category::ALL.len()]; slots.len()];
        let samples: Vec<usize> = slots.iter().map(|&s| self.sample(s)).collect();
        stacked.walk(&samples, |column, parts| {
            let Some(sums) = out.get_mut(column) else {
                return;
            };
            for (id, bytes) in parts {
                let shade = shades.get(id as usize).copied().unwrap_or(0);
                if let Some(sum) = sums.get_mut(usize::from(shade) / SHADES.len()) {
                    *sum = sum.saturating_add(bytes);
                }
            }
        });
        out
    }
}

fn colors(theme: &Theme) -> Vec<Color> {
    Category::ALL
        .iter()
        .flat_map(|&c| {
            let own = category_color(c, theme.dark);
            SHADES.map(|s| mixed(own, theme.ground, s))
        })
        .collect()
}

/// What the process could have had at its first OOM: reserved and what the device had free.
fn capacity(a: &Analysis) -> Option<u64> {
    let &oom = a.replay.ooms.first()?;
    let free = a.snapshot().events.device_free.iter();
    let free = free.clone().find(|(t, _)| *t == oom)?.1;
    let at = (oom.0 - a.replay.first) as usize;
    a.replay.reserved.after.get(at)?.checked_add(free)
}

/// Where the annotation of a lane changes, by slot.
pub(super) type Lane = Vec<(usize, Option<StringId>)>;

/// Annotations that are nested lie below each other in so many lanes; the last has the innermost.
const LANES: usize = 3;

/// Annotations by lane, and their names in order of first occurrence.
fn phases(a: &Analysis, lead: usize) -> (Vec<Lane>, Vec<StringId>) {
    let first = a.replay.first;
    let mut names: Vec<StringId> = Vec::new();
    let mut known: HashMap<StringId, ()> = HashMap::new();
    let mut edges: Vec<(usize, bool, usize)> = Vec::new();
    let steps = |name: &str| name.starts_with("ProfilerStep#");
    for (i, r) in a.ranges().iter().enumerate() {
        if r.start >= r.end || steps(a.strings().get(r.name)) {
            continue;
        }
        if known.insert(r.name, ()).is_none() {
            names.push(r.name);
        }
        let slot = |t: TraceId| t.0.saturating_sub(first) as usize + lead;
        edges.push((slot(r.start), true, i));
        edges.push((slot(r.end), false, i));
    }
    // Ends come before starts at the same place.
    edges.sort_unstable();
    let mut open: std::collections::BTreeSet<(u32, usize)> = std::collections::BTreeSet::new();
    let mut lanes: Vec<Lane> = Vec::new();
    for (at, starts, i) in edges {
        let Some(range) = a.ranges().get(i) else {
            continue;
        };
        if starts {
            open.insert((range.depth, i));
        } else {
            open.remove(&(range.depth, i));
        }
        let named = |&(_, i): &(u32, usize)| a.ranges().get(i).map(|r| r.name);
        while lanes.len() < open.len().min(LANES) {
            lanes.push(Lane::new());
        }
        for (n, lane) in lanes.iter_mut().enumerate() {
            let own = if n + 1 == LANES && open.len() > LANES {
                open.last()
            } else {
                open.iter().nth(n)
            };
            let name = own.and_then(named);
            match lane.last_mut() {
                Some(last) if last.0 == at => last.1 = name,
                Some(last) if last.1 == name => {}
                _ => lane.push((at, name)),
            }
        }
    }
    (lanes, names)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    /// A history of ten entries with annotations `name` from and to a time in microseconds.
    fn with_annotations(ranges: &[(&str, u64, u64)]) -> Memory {
        let entry = |i: u64| {
            format!(
                r#"{{"action": "alloc", "addr": {}, "size": 512, "stream": 0, "time_us": {}}}"#,
                0x7000 + i * 512,
                10 * i
            )
        };
        let entries: Vec<String> = (0..10).map(entry).collect();
        let mut ends: Vec<(u64, &str, &str)> = Vec::new();
        for &(name, from, to) in ranges {
            ends.extend([(from, "START", name), (to, "END", name)]);
        }
        ends.sort_by_key(|e| e.0);
        let end = |(time, stage, name): &(u64, &str, &str)| {
            format!(r#"{{"stage": "{stage}", "name": "{name}", "device": 0, "time_us": {time}}}"#)
        };
        let ends: Vec<String> = ends.iter().map(end).collect();
        let json = format!(
            r#"{{"segments": [], "device_traces": [[{}]], "external_annotations": [{}]}}"#,
            entries.join(","),
            ends.join(",")
        );
        let rank = report::read::snapshot::read_json("made", json.as_bytes()).unwrap();
        Memory::new(Arc::new(Analysis::of(Arc::new(rank)).unwrap()))
    }

    /// What each lane says at an entry's place.
    fn at(memory: &Memory, slot: usize) -> Vec<Option<String>> {
        let strings = memory.analysis.strings();
        let of = |lane: &Lane| {
            let i = lane.partition_point(|(s, _)| *s <= slot).checked_sub(1)?;
            lane.get(i)?.1.map(|name| strings.get(name).to_owned())
        };
        memory.phases.iter().map(of).collect()
    }

    #[test]
    fn nested_annotations_lie_below_each_other() {
        let memory = with_annotations(&[("outer", 15, 75), ("inner", 35, 55)]);
        let lead = memory.lead;
        let (none, some) = (None::<String>, |t: &str| Some(t.to_owned()));
        assert_eq!(at(&memory, lead + 1), [none.clone(), none.clone()]);
        assert_eq!(at(&memory, lead + 3), [some("outer"), none.clone()]);
        assert_eq!(at(&memory, lead + 5), [some("outer"), some("inner")]);
        assert_eq!(at(&memory, lead + 7), [some("outer"), none.clone()]);
        assert_eq!(at(&memory, lead + 9), [none.clone(), none]);
        // One lane is enough for what is not nested, and the innermost is never left out.
        assert_eq!(
            with_annotations(&[("a", 5, 25), ("b", 35, 55)])
                .phases
                .len(),
            1
        );
        let deep = [
            ("a", 5, 95),
            ("b", 15, 85),
            ("c", 25, 75),
            ("d", 35, 65),
            ("e", 45, 55),
        ];
        let deep = with_annotations(&deep);
        assert_eq!(at(&deep, deep.lead + 5), [some("a"), some("b"), some("e")]);
    }
}
