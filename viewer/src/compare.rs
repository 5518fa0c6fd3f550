//! A second recording beside the open one: side B of the comparison, the open one being A.

use std::sync::Arc;

use leptos::prelude::*;
use present::compare::Seen;
use report::analyze::diff::{Comparison, Side};
use report::analyze::snapshot::{Analysis, Instant};
use report::container::Container;
use report::model::Rank;
use report::model::snapshot::Device;

use crate::data::RankData;
use crate::state::{Shown, State, View};

/// Something shared in a signal; two are equal when they are the same.
#[derive(Debug)]
pub struct Same<T>(pub Arc<T>);

impl<T> Clone for Same<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Side B.
#[derive(Clone, Copy)]
pub struct Compared {
    /// The report that was dropped; `None` when B is another rank of the open one.
    pub container: RwSignal<Option<Arc<Container>>>,
    /// B's index in its report.
    pub rank: RwSignal<usize>,
    /// B, decoded; `None` when nothing is compared.
    pub other: RwSignal<Option<Arc<RankData>>>,
    /// The comparison at the instants that are looked at.
    pub seen: Memo<Option<Same<Seen>>>,
}

impl Compared {
    /// Nothing compared yet.
    #[must_use]
    pub fn new(data: RwSignal<Option<Arc<RankData>>>, shown: RwSignal<Shown>) -> Self {
        let other: RwSignal<Option<Arc<RankData>>> = RwSignal::new(None);
        let comparison = Memo::new(move |_| {
            let (a, b) = (data.get()?, other.get()?);
            Some(Same(Arc::new(Comparison::of(side(&a), side(&b)))))
        });
        let instants = Memo::new(move |_| shown.with(|s| (s.at.clone(), s.at_b.clone())));
        Self {
            container: RwSignal::new(None),
            rank: RwSignal::new(0),
            other,
            seen: Memo::new(move |_| {
                let comparison = comparison.get()?;
                let (a, b) = instants.get();
                let live = comparison.0.snapshot.as_ref().map(|diff| {
                    let a = instant(&a, &diff.a);
                    diff.at(a, instant(&b, &diff.b))
                });
                Some(Same(Arc::new(Seen {
                    comparison: (*comparison.0).clone(),
                    live,
                })))
            }),
        }
    }
}

fn side(data: &RankData) -> Side {
    Side {
        rank: Arc::clone(&data.rank),
        snapshot: data.snapshot(),
    }
}

/// The instant of a name; the peak for what is none of this history.
fn instant(name: &str, of: &Analysis) -> Instant {
    let known = |i: &Instant| match i {
        Instant::Event(t) => of.replay.events().contains(&t.index()),
        Instant::Oom(n) => (*n as usize) < of.replay.ooms.len(),
        _ => true,
    };
    name.parse().ok().filter(known).unwrap_or(Instant::Peak)
}

impl State {
    /// Takes a report that was dropped or chosen: beside the open one, or as the first.
    pub fn receive(self, container: Container) {
        if self.data.with_untracked(Option::is_none) {
            self.replace(container);
            return;
        }
        let rank = worst(&container);
        self.error.set(None);
        if self.decode_other(&container, rank) {
            self.compared.container.set(Some(Arc::new(container)));
            self.shown.update(|s| {
                s.with = None;
                s.at_b.clear();
                s.zoom = (0.0, 1.0);
            });
            self.go(View::Compare);
        }
    }

    fn decode_other(self, container: &Container, rank: usize) -> bool {
        match container.rank(rank) {
            Ok(tables) => {
                self.compared.rank.set(rank);
                self.show_other(Arc::new(tables));
                true
            }
            Err(e) => {
                self.error.set(Some(e.to_string()));
                false
            }
        }
    }

    /// Shows B's device that is chosen for A, where B has it.
    fn show_other(self, tables: Arc<Rank>) {
        let device = self.shown.with_untracked(|s| s.device);
        let data = RankData::on(tables, device);
        self.compared.other.set(Some(Arc::new(data)));
    }

    /// Follows A to another device.
    pub fn follow_device(self) {
        let tables = self
            .compared
            .other
            .with_untracked(|d| d.as_ref().map(|d| Arc::clone(&d.rank)));
        if let Some(tables) = tables {
            self.show_other(tables);
        }
    }

    /// Holds another rank of the open report against the one that is shown, or none.
    pub fn set_with(self, rank: Option<usize>) {
        let Some(rank) = rank else {
            return self.close_comparison();
        };
        let container = self.container.get_untracked();
        if container.is_some_and(|c| self.decode_other(&c, rank)) {
            self.compared.container.set(None);
            self.shown.update(|s| {
                s.with = Some(rank);
                s.at_b.clear();
            });
            self.go(View::Compare);
        }
    }

    /// Follows what a link says of side B.
    pub fn follow_with(self) {
        let with = self.shown.with_untracked(|s| s.with);
        let container = self.container.get_untracked();
        match with.zip(container) {
            Some((rank, container)) if rank < container.header().ranks.len() => {
                self.compared.container.set(None);
                self.decode_other(&container, rank);
            }
            _ if self.compared.container.with_untracked(Option::is_none) => {
                self.compared.other.set(None);
            }
            _ => {}
        }
    }

    /// Another rank of the report that was dropped.
    pub fn set_other_rank(self, rank: usize) {
        let container = self.compared.container.get_untracked();
        if let Some(container) = container {
            self.decode_other(&container, rank);
            self.shown.update(|s| s.at_b.clear());
        }
    }

    /// Shows A alone.
    pub fn close_comparison(self) {
        self.compared.other.set(None);
        self.compared.container.set(None);
        self.shown.update(|s| {
            s.with = None;
            s.at_b.clear();
            s.change.clear();
            s.view = s.view.filter(|v| *v != View::Compare);
            s.zoom = (0.0, 1.0);
        });
    }

    /// Shows B alone.
    pub fn only_other(self) {
        let rank = self.compared.rank.get_untracked();
        let dropped = self.compared.container.get_untracked();
        let device = self.other_device();
        self.close_comparison();
        self.show_from(dropped, rank, device);
    }

    /// Puts B in A's place and A in B's.
    pub fn swap_sides(self) {
        let (a, b) = (
            self.rank.get_untracked(),
            self.compared.rank.get_untracked(),
        );
        let other = self.data.get_untracked();
        let dropped = self.compared.container.get_untracked();
        let own = self.container.get_untracked();
        let within = dropped.is_none();
        let device = self.other_device();
        self.compared.other.set(None);
        let (at, at_b) = self
            .shown
            .with_untracked(|s| (s.at.clone(), s.at_b.clone()));
        self.show_from(dropped, b, device);
        self.compared.rank.set(a);
        self.compared.other.set(other);
        if !within {
            self.compared.container.set(own);
        }
        self.shown.update(|s| {
            s.with = within.then_some(a);
            (s.at, s.at_b) = (at_b, at);
            s.flame.clear();
        });
        self.go(View::Compare);
    }

    /// The device that B shows, where one was chosen.
    fn other_device(self) -> Option<Device> {
        self.shown.with_untracked(|s| s.device)?;
        let other = self.compared.other.get_untracked()?;
        other.snapshot().map(|a| a.device)
    }

    /// Shows a rank of another report, or of the open one.
    fn show_from(self, container: Option<Arc<Container>>, rank: usize, device: Option<Device>) {
        if let Some(container) = container {
            self.container.set(Some(container));
        }
        self.set_rank_on(rank, device);
    }
}

/// The rank with the highest peak: see [`State::open`].
fn worst(container: &Container) -> usize {
    let ranks = &container.header().ranks;
    let peak = |(i, r): &(usize, &report::container::RankEntry)| {
        (r.headline.peak_allocated, std::cmp::Reverse(*i))
    };
    ranks.iter().enumerate().max_by_key(peak).map_or(0, |r| r.0)
}
