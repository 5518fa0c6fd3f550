//! What was there before the first event of a history, worked out backwards from the final state.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::Allocation;
use super::findings::FindingKind;
use super::replay::Player;
use super::spans::{self, Span};
use crate::model::Value;
use crate::model::snapshot::{Action, StreamIndex, TraceId};
use crate::pause::{PIECE, Pauses};

impl Player<'_> {
    /// The state before the first event.
    pub(super) async fn before(&mut self, pauses: Pauses<'_>) {
        if self.out.stated {
            return self.before_stated(pauses).await;
        }
        let mut live = spans::last(self.snapshot, self.out.device);
        let mut cut = 0u64;
        for i in self.out.events().rev() {
            let action = self
                .snapshot
                .events
                .action
                .get(i)
                .copied()
                .unwrap_or_default();
            if !action.is_segment() {
                continue;
            }
            let row = self.snapshot.events.row(i);
            let ok = match action {
                Action::SegmentAlloc | Action::SegmentMap => {
                    let made = spans::cut(&mut live, row.address, row.size);
                    if let Some(made) = made {
                        self.made.insert(i as u32, (made.pool, made.class));
                    }
                    made.is_some()
                }
                _ => spans::join(&mut live, spans::of_event(&row)).is_some(),
            };
            cut += u64::from(!ok);
        }
        if self.snapshot.segments.is_empty() && cut > 0 {
            // A history without a state: nothing can be said about before.
            live.clear();
        }
        // Nothing lives where nothing is reserved, so a whole history needs no search.
        let olds = if live.is_empty() {
            Vec::new()
        } else {
            self.olds(Some(&live), pauses).await
        };
        for span in live.into_values() {
            self.reserved = self.reserved.saturating_add(span.size);
            self.free.insert(span.address, span.size);
            self.add_span(span);
        }
        self.started(olds);
    }

    /// Where the source states totals: what was freed without having been handed out was there
    /// before, and so was the rest of the first total, though nobody knows in how many blocks. The
    /// rest is one allocation without an address.
    async fn before_stated(&mut self, pauses: Pauses<'_>) {
        let mut olds = self.olds(None, pauses).await;
        for (old, _) in &mut olds {
            (old.rounded, old.rounded_known) = (old.size, true);
        }
        let events = &self.snapshot.events;
        let mut first = None;
        for i in self.out.events() {
            let row = events.row(i);
            if let Some(total) = events.total_allocated.get(i) {
                first = Some(match row.action {
                    Action::Alloc => total.saturating_sub(row.size),
                    Action::Free => total.saturating_add(row.size),
                    _ => total,
                });
                break;
            }
        }
        let sizes = olds.iter().map(|(a, _)| a.size);
        let known = sizes.fold(0, u64::saturating_add);
        let rest = first.unwrap_or(0).saturating_sub(known);
        if rest > 0 {
            let rest = Allocation {
                address: 0,
                size: rest,
                rounded: rest,
                rounded_known: true,
                born: None,
                free_requested: None,
                free_completed: None,
                stack: None,
                stream: StreamIndex::default(),
                pool: None,
                span: None,
            };
            olds.insert(0, (rest, false));
        }
        let reserved = &events.total_reserved;
        let reserved = self.out.events().find_map(|i| reserved.get(i));
        self.reserved = reserved.unwrap_or(0);
        self.started(olds);
        self.out.coverage.whole = first == Some(0) && self.out.allocations.is_empty();
    }

    /// Takes over what was there before, and says so.
    fn started(&mut self, olds: Vec<(Allocation, bool)>) {
        for (old, freed) in olds {
            self.place(&old);
            self.requested = self.requested.saturating_add(old.size);
            self.active = self.active.saturating_add(old.rounded);
            let id = self.out.allocations.push(&Allocation {
                span: self.span_at(old.address),
                ..old
            });
            if freed {
                self.out.allocations.freed_before.push(id);
            } else {
                self.allocated = self.allocated.saturating_add(old.rounded);
            }
            self.open.insert(old.address, id.0);
        }
        let first = self.out.events().next();
        let coverage = &mut self.out.coverage;
        coverage.since_ns = first.and_then(|i| self.snapshot.events.time_ns.get(i));
        coverage.requested_before = self.requested;
        coverage.reserved_before = self.reserved;
        coverage.allocations_before = self.out.allocations.len() as u64;
        coverage.whole = self.reserved == 0 && self.out.allocations.is_empty();
        if first.is_none() && self.reserved > 0 {
            self.out
                .findings
                .add(FindingKind::NoHistory, None, self.reserved);
        } else if !self.out.coverage.whole {
            let at = first.map(|i| TraceId(i as u32));
            self.out
                .findings
                .add(FindingKind::StartsLate, at, self.reserved);
        }
        if self.snapshot.settings.get("trace_alloc_overflowed") == Some(&Value::Bool(true)) {
            self.out.findings.add(FindingKind::Overflowed, None, 0);
        }
        self.out.requested.start = self.requested;
        self.out.allocated.start = self.allocated;
        self.out.reserved.start = self.reserved;
        self.out.active_peak = self.active;
        let n = self.out.events().len();
        self.out.requested.after.reserve_exact(n);
        self.out.allocated.after.reserve_exact(n);
        self.out.reserved.after.reserve_exact(n);
    }

    /// Allocations from before the history, by address, and whether each was freed by then and
    /// waited for another stream. Without `live` it is not known where memory was reserved.
    async fn olds(
        &self,
        live: Option<&BTreeMap<u64, Span>>,
        pauses: Pauses<'_>,
    ) -> Vec<(Allocation, bool)> {
        let events = &self.snapshot.events;
        // Where frees are recorded in two events, one that lacks the first began before. Where
        // `skip_actions` dropped the first of all, none tells.
        let actions = events.action.get(self.out.events()).unwrap_or_default();
        let requests = actions.contains(&Action::FreeRequested);
        // By address: whether the use at hand began in the history.
        let mut seen: HashMap<u64, bool, FxBuildHasher> = HashMap::default();
        let mut olds = BTreeMap::new();
        for i in self.out.events() {
            if i % PIECE == 0 {
                pauses.here().await;
            }
            let row = events.row(i);
            match row.action {
                Action::Alloc => {
                    seen.insert(row.address, true);
                }
                Action::FreeRequested | Action::FreeCompleted | Action::Free => {
                    if let hashbrown::hash_map::Entry::Vacant(slot) = seen.entry(row.address) {
                        slot.insert(false);
                        let span = live.and_then(|live| spans::holding(live, row.address));
                        if span.is_none() && live.is_some() {
                            continue;
                        }
                        let freed = requests && row.action == Action::FreeCompleted;
                        olds.insert(
                            row.address,
                            (
                                Allocation {
                                    address: row.address,
                                    size: row.size,
                                    rounded: self.rounding.round(row.size),
                                    rounded_known: false,
                                    born: None,
                                    free_requested: None,
                                    free_completed: None,
                                    // What is recorded with a free is where it was freed, or cannot be
                                    // told from that.
                                    stack: None,
                                    stream: row.stream,
                                    pool: row.pool.or(span.and_then(|s| s.pool)),
                                    span: None,
                                },
                                freed,
                            ),
                        );
                    }
                }
                _ => {}
            }
        }
        for (address, (block, segment)) in self.final_blocks() {
            if seen.contains_key(&address)
                || live.is_some_and(|live| spans::holding(live, address).is_none())
            {
                continue;
            }
            olds.insert(
                address,
                (
                    Allocation {
                        address,
                        size: block.requested.unwrap_or(block.size),
                        rounded: block.size,
                        rounded_known: true,
                        born: None,
                        free_requested: None,
                        free_completed: None,
                        stack: block.stack,
                        stream: segment.stream,
                        pool: segment.pool,
                        span: None,
                    },
                    false,
                ),
            );
        }
        olds.into_values().collect()
    }

    /// Takes an allocation's block out of the free ones.
    fn place(&mut self, a: &Allocation) {
        let Some((&start, &size)) = self.free.range(..=a.address).next_back() else {
            return;
        };
        let (end, mine) = (
            start.saturating_add(size),
            a.address.saturating_add(a.rounded),
        );
        if a.address >= end {
            return;
        }
        self.free.remove(&start);
        if start < a.address {
            self.free.insert(start, a.address - start);
        }
        if mine < end {
            self.free.insert(mine, end - mine);
        }
    }
}
