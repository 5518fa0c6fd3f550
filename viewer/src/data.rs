//! A rank with its analyses. What is costly is made when a view first asks for it.

use std::sync::{Arc, OnceLock};

use present::chart::Timeline;
use present::rows::EventRows;
#[cfg(feature = "snapshot")]
use present::rows::Pick;
use present::sentences::Facts;
use report::analyze::modules::{Modules, modules};
use report::analyze::pairing::{Pairing, pair};
use report::analyze::tensors::{TensorUse, tensors};
use report::analyze::top::{Places, listed};
use report::model::Rank;
#[cfg(feature = "snapshot")]
use report::model::snapshot::Device;

/// The rank that is shown.
#[derive(Debug)]
pub struct RankData {
    /// Its tables.
    pub rank: Arc<Rank>,
    /// What the sentences say.
    pub facts: Arc<Facts>,
    /// The chart's levels.
    pub timeline: Timeline,
    pairing: OnceLock<Arc<Pairing>>,
    modules: OnceLock<Arc<Modules>>,
    alphabet: OnceLock<Arc<Vec<u32>>>,
    places: OnceLock<Places>,
    tensors: OnceLock<Vec<TensorUse>>,
    #[cfg(feature = "snapshot")]
    names: OnceLock<Option<Arc<present::names::Names>>>,
}

impl RankData {
    /// Asks what the first screen needs.
    #[must_use]
    pub fn new(rank: Rank) -> Self {
        let rank = Arc::new(rank);
        let facts = Facts::of(&rank);
        Self::with(rank, facts)
    }

    /// A rank whose tables are there already, with the chosen device of its snapshot.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn on(rank: Arc<Rank>, device: Option<Device>) -> Self {
        let facts = Facts::on(&rank, device);
        Self::with(rank, facts)
    }

    /// As [`Self::on`], with pauses in what is long.
    #[cfg(feature = "snapshot")]
    pub async fn in_pieces(
        rank: Arc<Rank>,
        device: Option<Device>,
        pauses: report::pause::Pauses<'_>,
    ) -> Self {
        let facts = Facts::in_pieces(&rank, device, pauses).await;
        Self::with(rank, facts)
    }

    fn with(rank: Arc<Rank>, facts: Facts) -> Self {
        let facts = Arc::new(facts);
        Self {
            timeline: Timeline::new(Arc::clone(&rank), &facts),
            rank,
            facts,
            pairing: OnceLock::new(),
            modules: OnceLock::new(),
            alphabet: OnceLock::new(),
            places: OnceLock::new(),
            tensors: OnceLock::new(),
            #[cfg(feature = "snapshot")]
            names: OnceLock::new(),
        }
    }

    /// Whether there is a memory snapshot to show.
    pub fn has_snapshot(&self) -> bool {
        cfg!(feature = "snapshot")
            && self
                .rank
                .snapshot
                .as_ref()
                .is_some_and(|s| s.main_device().is_some())
    }

    /// What the name of something of a snapshot means; `None` when nothing has it.
    #[cfg(feature = "snapshot")]
    pub fn picked(&self, name: &str) -> Option<Pick> {
        use report::analyze::snapshot::Named;
        if name.is_empty() {
            return None;
        }
        Some(match self.snapshot()?.named(name)? {
            Named::Event(t) => Pick::Entry(t.0),
            Named::Allocation(a) => Pick::Allocation(a.0),
            Named::Stack(s) => Pick::Stack(s.0),
            Named::Span(s) => Pick::Span(s.0),
        })
    }

    /// The inverse of [`Self::picked`].
    #[cfg(feature = "snapshot")]
    pub fn pick_name(&self, pick: Pick) -> String {
        use report::analyze::snapshot::Named;
        use report::analyze::snapshot::allocations::{AllocationId, SpanId};
        use report::model::snapshot::{StackId, TraceId};
        let named = match pick {
            Pick::Entry(n) => Named::Event(TraceId(n)),
            Pick::Allocation(n) => Named::Allocation(AllocationId(n)),
            Pick::Stack(n) => Named::Stack(StackId(n)),
            Pick::Span(n) => Named::Span(SpanId(n)),
        };
        self.snapshot().map_or_else(String::new, |s| s.name(named))
    }

    /// What the snapshot's frames, streams and pools are called.
    #[cfg(feature = "snapshot")]
    pub fn names(&self) -> Option<Arc<present::names::Names>> {
        self.names
            .get_or_init(|| {
                self.snapshot()
                    .map(|a| Arc::new(present::names::Names::of(a)))
            })
            .clone()
    }

    /// The snapshot's device that is shown, played.
    #[cfg(feature = "snapshot")]
    pub fn snapshot(&self) -> Option<Arc<report::analyze::snapshot::Analysis>> {
        self.facts.snapshot.clone()
    }

    /// Which event belongs to which.
    pub fn pairing(&self) -> &Arc<Pairing> {
        self.pairing.get_or_init(|| Arc::new(pair(&self.rank)))
    }

    /// The module tree.
    pub fn modules(&self) -> &Arc<Modules> {
        self.modules
            .get_or_init(|| Arc::new(modules(&self.rank, self.pairing())))
    }

    /// Alphabetical positions of strings.
    pub fn alphabet(&self) -> &Arc<Vec<u32>> {
        self.alphabet
            .get_or_init(|| EventRows::alphabet(&self.rank))
    }

    /// The place of every listed event.
    pub fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::new(listed(&self.rank)))
    }

    /// Tensors that events named.
    pub fn tensors(&self) -> &[TensorUse] {
        self.tensors.get_or_init(|| tensors(&self.rank))
    }
}
