//! A snapshot's device with everything that is asked of it, each made when first asked for.

use std::sync::{Arc, LazyLock, OnceLock};

use super::align;
use super::allocations::AllocationId;
use super::categories::{self, Categories, categories};
use super::entries::Entries;
use super::figures::{self, Figures};
use super::instant::Instant;
use super::live::LiveIndex;
use super::replay::{self, Replay, replay};
use super::sites::Sites;
use super::steps::{self, Range, Step};
use crate::analyze::stacked::{BEFORE, NEVER, Stacked};
use crate::model::snapshot::{Device, Snapshot, TraceId};
use crate::model::{Rank, StringTable};
use crate::pause::{Pauses, now};

static NOTHING: LazyLock<Snapshot> = LazyLock::new(Snapshot::default);

/// The analyses of one device of a rank's snapshot. Command and page hold one of these each, so
/// that both show the same figures.
#[derive(Debug)]
pub struct Analysis {
    /// The rank.
    pub rank: Arc<Rank>,
    /// The device.
    pub device: Device,
    /// Its history, played.
    pub replay: Replay,
    figures: OnceLock<Figures>,
    aligned: OnceLock<Vec<Option<TraceId>>>,
    steps: OnceLock<Vec<Step>>,
    ranges: OnceLock<Vec<Range>>,
    live: OnceLock<LiveIndex>,
    sites: OnceLock<Sites>,
    categories: OnceLock<Categories>,
    stacked: OnceLock<Stacked>,
    entries: OnceLock<Entries>,
    sequence: OnceLock<Vec<u32>>,
    pub(super) missing: OnceLock<super::missing::Missing>,
}

impl Analysis {
    /// Plays the main device of a rank's snapshot; `None` when it has none, or an empty one.
    #[must_use]
    pub fn of(rank: Arc<Rank>) -> Option<Self> {
        Self::chosen(rank, None)
    }

    /// As [`Self::of`], of the chosen device where the snapshot has it.
    #[must_use]
    pub fn chosen(rank: Arc<Rank>, device: Option<Device>) -> Option<Self> {
        let device = rank.snapshot.as_ref()?.device_or_main(device)?;
        Self::on(rank, device)
    }

    /// Plays one device; `None` when the rank has no snapshot.
    #[must_use]
    pub fn on(rank: Arc<Rank>, device: Device) -> Option<Self> {
        let replay = replay(rank.snapshot.as_ref()?, device);
        Some(Self::with(rank, device, replay))
    }

    /// As [`Self::chosen`] with pauses, and with everything made that a first screen asks for.
    pub async fn in_pieces(
        rank: Arc<Rank>,
        device: Option<Device>,
        pauses: Pauses<'_>,
    ) -> Option<Self> {
        let snapshot = rank.snapshot.as_ref()?;
        let device = snapshot.device_or_main(device)?;
        let replay = replay::in_pieces(snapshot, device, pauses).await;
        let this = Self::with(Arc::clone(&rank), device, replay);
        pauses.here().await;
        let (rank, replay) = (&this.rank, &this.replay);
        let found =
            categories::in_pieces(&rank.strings, this.snapshot(), replay, this.sites(), pauses);
        let found = this.by_name(found.await);
        this.categories.set(found).ok();
        this.stacked.set(this.stack(pauses).await).ok();
        this.live();
        pauses.here().await;
        this.figures();
        pauses.here().await;
        Some(this)
    }

    fn with(rank: Arc<Rank>, device: Device, replay: Replay) -> Self {
        Self {
            rank,
            device,
            replay,
            figures: OnceLock::new(),
            aligned: OnceLock::new(),
            steps: OnceLock::new(),
            ranges: OnceLock::new(),
            live: OnceLock::new(),
            sites: OnceLock::new(),
            categories: OnceLock::new(),
            stacked: OnceLock::new(),
            entries: OnceLock::new(),
            sequence: OnceLock::new(),
            missing: OnceLock::new(),
        }
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        self.rank.snapshot.as_ref().unwrap_or(&NOTHING)
    }

    /// The text of all tables.
    #[must_use]
    pub fn strings(&self) -> &StringTable {
        &self.rank.strings
    }

    /// Headline figures.
    pub fn figures(&self) -> &Figures {
        self.figures.get_or_init(|| {
            let (steps, ranges) = (self.steps(), self.ranges());
            figures::of(&self.rank, self.snapshot(), &self.replay, steps, ranges)
        })
    }

    /// Whether this is the device that the rank's runtime report is about.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.snapshot().main_device() == Some(self.device)
    }

    /// For each event of the rank's runtime report the entry after which it happened; empty
    /// without a report, and on other devices than the one that it is about.
    pub fn aligned(&self) -> &[Option<TraceId>] {
        self.aligned.get_or_init(|| {
            if self.is_main() {
                align::align(self)
            } else {
                Vec::new()
            }
        })
    }

    /// Steps: those of the runtime report where there is one, else by annotations.
    pub fn steps(&self) -> &[Step] {
        self.steps
            .get_or_init(|| steps::of(&self.rank, self.snapshot(), self.device, self.aligned()))
    }

    /// Annotated ranges and the phases of the runtime report, in order of their starts.
    pub fn ranges(&self) -> &[Range] {
        self.ranges.get_or_init(|| {
            steps::all_ranges(&self.rank, self.snapshot(), self.device, self.aligned())
        })
    }

    /// Finds what lives after an event.
    pub fn live(&self) -> &LiveIndex {
        self.live.get_or_init(|| LiveIndex::of(&self.replay))
    }

    /// Whose code every stack is.
    pub fn sites(&self) -> &Sites {
        self.sites
            .get_or_init(|| Sites::of(&self.rank.strings, self.snapshot()))
    }

    /// What every allocation is for.
    pub fn categories(&self) -> &Categories {
        self.categories.get_or_init(|| {
            self.by_name(categories(
                &self.rank.strings,
                self.snapshot(),
                &self.replay,
                self.sites(),
            ))
        })
    }

    /// What a recorder knew by name goes before what was told.
    fn by_name(&self, mut categories: Categories) -> Categories {
        if let Some(recording) = &self.rank.recording {
            super::inventory::exact(&mut categories, &self.replay, recording);
        }
        categories
    }

    /// Allocations stacked over time; events count from the device's first.
    pub fn stacked(&self) -> &Stacked {
        self.stacked.get_or_init(|| now(self.stack(Pauses::NONE)))
    }

    async fn stack(&self, pauses: Pauses<'_>) -> Stacked {
        let a = &self.replay.allocations;
        let first = self.replay.first;
        let from = |rows: &[u32], absent: u32| -> Vec<u32> {
            rows.iter()
                .map(|&r| {
                    r.checked_sub(first)
                        .filter(|_| r != NEVER)
                        .unwrap_or(absent)
                })
                .collect()
        };
        // Those from before the history have no birth: `NEVER` in the table, `BEFORE` here.
        let born = from(&a.born, BEFORE);
        let freed = from(&a.completed, NEVER);
        let events = self.replay.events().len();
        Stacked::in_pieces(events, a.size.clone(), &born, &freed, pauses).await
    }

    /// What every entry of the history is about.
    pub fn entries(&self) -> &Entries {
        self.entries.get_or_init(|| Entries::of(&self.replay))
    }

    /// What lives at an instant, by id.
    #[must_use]
    pub fn live_at(&self, instant: Instant) -> Vec<AllocationId> {
        match self.event_of(instant) {
            Some(at) => self.live().after(&self.replay, at),
            None => self.live().before(),
        }
    }

    /// The event after which an instant is; `None` is before the first event.
    #[must_use]
    pub fn event_of(&self, instant: Instant) -> Option<TraceId> {
        match instant {
            Instant::Start => None,
            Instant::Peak => self.replay.peak_requested().event,
            Instant::End => self.replay.last_event(),
            Instant::Oom(n) => {
                let at = self.replay.ooms.get(n as usize).copied();
                at.or_else(|| self.replay.last_event())
            }
            Instant::Event(event) => Some(event),
        }
    }

    /// The instant that a first view shows: the first OOM where there is one, else the peak.
    #[must_use]
    pub fn first_instant(&self) -> Instant {
        if self.replay.ooms.is_empty() {
            Instant::Peak
        } else {
            Instant::Oom(0)
        }
    }

    /// How many uses of the same address came before an allocation.
    pub(super) fn sequence(&self, id: AllocationId) -> u32 {
        let all = self.sequence.get_or_init(|| {
            let mut uses = super::replay::Open::default();
            let addresses = &self.replay.allocations.address;
            addresses
                .iter()
                .map(|&address| {
                    let n = uses.entry(address).or_insert(0);
                    *n += 1;
                    *n - 1
                })
                .collect()
        });
        all.get(id.index()).copied().unwrap_or(0)
    }
}
