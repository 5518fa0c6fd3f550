//! Allocations stacked over time: which are live at an event, in order of their birth.
//!
//! A picture of a million allocations on a thousand pixel columns needs a thousand live sets a
//! frame. They come from a replay that starts at the nearest checkpoint and keeps the live ones in
//! a linked list: a birth goes to the end, a death is unlinked, and nothing is ever moved. Since
//! the live set of a column is walked whole, the height of the stack is the exact sum at every
//! zoom.

use crate::model::Bytes;
use crate::pause::{Pauses, now, piece};

/// Born before the history began.
pub const BEFORE: u32 = u32::MAX;
/// Never freed in the history.
pub const NEVER: u32 = u32::MAX;

/// A sample before the first event.
pub const BEFORE_FIRST: usize = usize::MAX;

const NONE: u32 = u32::MAX;
const FREED: u32 = 1 << 31;
/// A frame at most replays so many events beyond what it shows.
const STRIDE: usize = 1 << 14;

/// Lifetimes over a history of events.
#[derive(Debug, Clone, Default)]
pub struct Stacked {
    size: Vec<u64>,
    /// What each event does: `NONE`, the allocation that is born, or with `FREED` the one that dies.
    ops: Vec<u32>,
    /// Where each allocation stands in [`Live`] while it lives. Places are used again, so that the
    /// list is as long as most live at once, and stays in the processor's first cache.
    place: Vec<u32>,
    places: usize,
    /// Live allocations before every `STRIDE`-th event, in order of birth.
    checkpoints: Vec<Vec<u32>>,
    /// Live bytes after each event.
    total: Bytes,
}

impl Stacked {
    /// Prepares lifetimes. The three columns have one row an allocation: bytes, the event of its
    /// birth ([`BEFORE`] where it was there already), the event of its death ([`NEVER`] where it
    /// stayed). At most one allocation is born or dies at an event; where a source claims more, the
    /// later row wins. Rows beyond 2^31 are left out.
    #[must_use]
    pub fn new(events: usize, size: Vec<u64>, born: &[u32], freed: &[u32]) -> Self {
        now(Self::in_pieces(events, size, born, freed, Pauses::NONE))
    }

    /// As [`Self::new`], with pauses.
    pub async fn in_pieces(
        events: usize,
        size: Vec<u64>,
        born: &[u32],
        freed: &[u32],
        pauses: Pauses<'_>,
    ) -> Self {
        let mut ops = vec![NONE; events];
        let rows = size.len().min(FREED as usize - 1);
        for id in 0..rows as u32 {
            let at = |column: &[u32]| column.get(id as usize).copied().unwrap_or(NEVER);
            if let Some(op) = ops.get_mut(at(born) as usize) {
                *op = id;
            }
            if let Some(op) = ops.get_mut(at(freed) as usize) {
                *op = id | FREED;
            }
        }
        let before = (0..rows as u32)
            .filter(|&id| born.get(id as usize) == Some(&BEFORE))
            .collect();
        let mut this = Self {
            place: vec![NONE; rows],
            places: 0,
            size,
            ops,
            checkpoints: vec![before],
            total: Bytes::default(),
        };
        pauses.here().await;
        this.prepare(pauses).await;
        this
    }

    async fn prepare(&mut self, pauses: Pauses<'_>) {
        for (place, &id) in self.checkpoints[0].iter().enumerate() {
            self.place[id as usize] = place as u32;
        }
        self.places = self.checkpoints[0].len();
        let mut live = self.restored(0);
        let mut free: Vec<u32> = Vec::new();
        let mut sum = self.sum(&self.checkpoints[0]);
        for start in (0..self.ops.len()).step_by(STRIDE) {
            if start > 0 {
                pauses.here().await;
                self.checkpoints
                    .push(live.iter().map(|(id, _)| id).collect());
            }
            piece(|| self.block(start, &mut live, &mut free, &mut sum));
        }
    }

    /// Plays the events from one checkpoint to the next.
    fn block(&mut self, start: usize, live: &mut Live, free: &mut Vec<u32>, sum: &mut u64) {
        for event in start..(start + STRIDE).min(self.ops.len()) {
            let op = self.ops[event];
            let id = op & !FREED;
            if op != NONE {
                let bytes = self.size.get(id as usize).copied().unwrap_or(0);
                if op & FREED == 0 {
                    if self.place[id as usize] == NONE {
                        let place = free.pop().unwrap_or_else(|| {
                            self.places += 1;
                            live.grow();
                            self.places as u32 - 1
                        });
                        self.place[id as usize] = place;
                        live.push(place, id, bytes);
                        *sum = sum.saturating_add(bytes);
                    }
                } else if live.remove(self.place[id as usize], id) {
                    free.push(self.place[id as usize]);
                    *sum = sum.saturating_sub(bytes);
                }
            }
            self.total.push(Some(*sum));
        }
    }

    /// The list as a checkpoint has it.
    fn restored(&self, block: usize) -> Live {
        let mut live = Live::new(self.places);
        for &id in self.checkpoints.get(block).into_iter().flatten() {
            live.push(self.place[id as usize], id, self.size(id));
        }
        live
    }

    /// Most allocations that live at once.
    #[must_use]
    pub fn most(&self) -> usize {
        self.places
    }

    fn sum(&self, ids: &[u32]) -> u64 {
        ids.iter()
            .filter_map(|&id| self.size.get(id as usize))
            .fold(0, |a, &b| a.saturating_add(b))
    }

    /// What lives before the first event.
    #[must_use]
    pub fn before(&self) -> &[u32] {
        self.checkpoints.first().map_or(&[], Vec::as_slice)
    }

    /// Number of events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.ops.len()
    }

    /// Bytes of an allocation.
    #[must_use]
    pub fn size(&self, id: u32) -> u64 {
        self.size.get(id as usize).copied().unwrap_or(0)
    }

    /// Live bytes after each event.
    #[must_use]
    pub fn total(&self) -> &Bytes {
        &self.total
    }

    /// Calls `see` for each of `samples` (events in rising order, behind any number of
    /// [`BEFORE_FIRST`]) with the allocations that live after it and their bytes, in order of birth.
    pub fn walk(&self, samples: &[usize], mut see: impl FnMut(usize, Parts<'_>)) {
        let early = samples.iter().take_while(|&&s| s == BEFORE_FIRST).count();
        if early > 0 {
            let before = self.restored(0);
            for column in 0..early {
                see(column, before.iter());
            }
        }
        let Some(&first) = samples.get(early) else {
            return;
        };
        let block = (first / STRIDE).min(self.checkpoints.len() - 1);
        let mut live = self.restored(block);
        let mut next = block * STRIDE;
        for (column, &sample) in samples.iter().enumerate().skip(early) {
            while next <= sample && next < self.ops.len() {
                let op = self.ops[next];
                if op != NONE {
                    let id = op & !FREED;
                    let place = self.place[id as usize];
                    if op & FREED == 0 {
                        live.push(place, id, self.size(id));
                    } else {
                        live.remove(place, id);
                    }
                }
                next += 1;
            }
            see(column, live.iter());
        }
    }

    /// The allocations that live after an event, in order of birth.
    #[must_use]
    pub fn live(&self, event: usize) -> Vec<u32> {
        let mut out = Vec::new();
        self.walk(&[event], |_, parts| out.extend(parts.map(|(id, _)| id)));
        out
    }
}

/// A doubly linked list through places; entry 0 is the head, place `i` has entry `i + 1`.
struct Live {
    entries: Vec<Entry>,
    last: u32,
}

/// What stands at a place. What a walk reads lies together.
#[derive(Clone, Copy)]
struct Entry {
    next: u32,
    id: u32,
    bytes: u64,
    prev: u32,
}

const VACANT: Entry = Entry {
    next: NONE,
    id: NONE,
    bytes: 0,
    prev: NONE,
};

impl Live {
    fn new(places: usize) -> Self {
        Self {
            entries: vec![VACANT; places + 1],
            last: 0,
        }
    }

    /// One more place.
    fn grow(&mut self) {
        self.entries.push(VACANT);
    }

    fn push(&mut self, place: u32, id: u32, bytes: u64) {
        let entry = (place as usize).wrapping_add(1);
        if self.entries.get(entry).is_none_or(|e| e.prev != NONE) {
            return;
        }
        self.entries[self.last as usize].next = entry as u32;
        self.entries[entry] = Entry {
            next: NONE,
            id,
            bytes,
            prev: self.last,
        };
        self.last = entry as u32;
    }

    /// Whether it was there.
    fn remove(&mut self, place: u32, id: u32) -> bool {
        let entry = (place as usize).wrapping_add(1);
        let Some(&Entry { next, prev, .. }) = self.entries.get(entry).filter(|e| e.id == id) else {
            return false;
        };
        self.entries[prev as usize].next = next;
        if next == NONE {
            self.last = prev;
        } else {
            self.entries[next as usize].prev = prev;
        }
        self.entries[entry] = VACANT;
        true
    }

    fn iter(&self) -> Parts<'_> {
        Parts {
            entries: &self.entries,
            at: self.entries.first().map_or(NONE, |head| head.next),
        }
    }
}

/// Live allocations in order of birth, with their bytes.
#[derive(Clone)]
pub struct Parts<'a> {
    entries: &'a [Entry],
    at: u32,
}

impl Iterator for Parts<'_> {
    type Item = (u32, u64);

    #[inline]
    fn next(&mut self) -> Option<(u32, u64)> {
        // The end of the list lies beyond the entries.
        let entry = self.entries.get(self.at as usize)?;
        self.at = entry.next;
        Some((entry.id, entry.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random lifetimes; the live set after an event is recomputed naively.
    #[test]
    fn live_sets_equal_a_naive_computation_at_any_event() {
        let mut seed = 42u64;
        let mut random = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % n as u64) as usize
        };
        let events = 40_000;
        let (mut size, mut born, mut freed) = (vec![5, 7], vec![BEFORE, BEFORE], vec![NEVER, 17]);
        let mut open: Vec<usize> = vec![0];
        for event in 0..events as u32 {
            if event == 17 {
                continue;
            }
            if !open.is_empty() && random(100) < 49 {
                let id = open.swap_remove(random(open.len()));
                freed[id] = event;
            } else {
                open.push(size.len());
                size.push(random(1000) as u64);
                born.push(event);
                freed.push(NEVER);
            }
        }
        let stacked = Stacked::new(events, size.clone(), &born, &freed);
        for event in [0, 16, 17, 18, 5_000, 16_383, 16_384, 16_385, 39_999] {
            let lives = |id: &usize| {
                (born[*id] == BEFORE || born[*id] as usize <= event) && freed[*id] as usize > event
            };
            let expected: Vec<u32> = (0..size.len()).filter(lives).map(|id| id as u32).collect();
            assert_eq!(stacked.live(event), expected, "event {event}");
            let bytes = expected.iter().map(|&id| size[id as usize]).sum();
            assert_eq!(stacked.total().get(event), Some(bytes));
        }
        let mut early = Vec::new();
        stacked.walk(&[BEFORE_FIRST, BEFORE_FIRST, 0], |c, ids| {
            early.push((c, ids.count()))
        });
        assert_eq!(early, [(0, 2), (1, 2), (2, stacked.live(0).len())]);
        let mut columns = Vec::new();
        stacked.walk(&[10, 10, 20_000, 39_999], |c, ids| {
            columns.push((c, ids.count()))
        });
        assert_eq!(columns.len(), 4);
        assert_eq!(columns[0].1, columns[1].1);
        assert_eq!(columns[3].1, stacked.live(39_999).len());
    }
}
