//! What the page shows, as signals.

use std::sync::Arc;

use leptos::prelude::*;
use present::chart::AxisKind;
use present::rows::Pick;
use present::{Lang, Word};
use report::analyze::modules::ModuleId;
use report::container::Container;
use report::model::StringId;
#[cfg(feature = "snapshot")]
use report::model::snapshot::Device;

use crate::data::RankData;
use crate::selection::Selection;

/// A tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Two recordings side by side.
    Compare,
    /// What lives at an instant of a snapshot, by stack, line, function, category.
    Live,
    /// The allocator's segments and blocks at an instant.
    State,
    /// The entries of a snapshot's trace.
    Entries,
    /// What stays, waits and passes.
    Lifetimes,
    /// Source lines.
    Lines,
    /// Memory by category, of a profiler's timeline.
    Series,
    /// The device's memory by who holds it, of a recording.
    #[cfg(feature = "snapshot")]
    Device,
    /// Parameters, gradients and so on by name, of a recording.
    #[cfg(feature = "snapshot")]
    ByName,
    /// What holds the peak, and growth.
    #[default]
    Peak,
    /// Steps: the table behind the timeline.
    Steps,
    /// Phases.
    Phases,
    /// Top events.
    Top,
    /// Modules.
    Modules,
    /// Tensors.
    Tensors,
    /// About this report.
    About,
}

impl View {
    /// In the order of the tabs and of the keys 1 to 9.
    pub const ALL: [Self; if cfg!(feature = "snapshot") { 16 } else { 14 }] = [
        Self::Compare,
        Self::Live,
        Self::State,
        Self::Entries,
        Self::Lifetimes,
        Self::Lines,
        Self::Series,
        Self::Peak,
        Self::Steps,
        Self::Phases,
        Self::Top,
        Self::Modules,
        Self::Tensors,
        #[cfg(feature = "snapshot")]
        Self::Device,
        #[cfg(feature = "snapshot")]
        Self::ByName,
        Self::About,
    ];

    /// Its word in links.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::Live => "live",
            Self::State => "state",
            Self::Entries => "entries",
            Self::Lifetimes => "lifetimes",
            Self::Lines => "lines",
            Self::Series => "series",
            #[cfg(feature = "snapshot")]
            Self::Device => "device",
            #[cfg(feature = "snapshot")]
            Self::ByName => "names",
            Self::Peak => "peak",
            Self::Steps => "steps",
            Self::Phases => "phases",
            Self::Top => "top",
            Self::Modules => "modules",
            Self::Tensors => "tensors",
            Self::About => "about",
        }
    }

    /// Whether it has something to show for a rank with or without events, a snapshot and a
    /// profiler's timeline.
    #[must_use]
    pub fn shows(self, events: bool, snapshot: bool, series: bool) -> bool {
        match self {
            Self::Live | Self::State | Self::Entries | Self::Lifetimes | Self::Lines => snapshot,
            Self::About => true,
            // There when something is compared, see [`State::views`].
            Self::Compare => false,
            Self::Series => series,
            // There when the rank was recorded, see [`State::views`].
            #[cfg(feature = "snapshot")]
            Self::Device | Self::ByName => false,
            _ => events || !(snapshot || series),
        }
    }

    /// From its word in links.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.word() == word)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> Word {
        match self {
            Self::Compare => Word::Compare,
            Self::Live => Word::Live,
            Self::State => Word::AllocatorState,
            Self::Entries => Word::Entries,
            Self::Lifetimes => Word::Lifetimes,
            Self::Lines => Word::SourceLines,
            Self::Series => Word::ProfilerTimeline,
            #[cfg(feature = "snapshot")]
            Self::Device => Word::DeviceMemory,
            #[cfg(feature = "snapshot")]
            Self::ByName => Word::ByName,
            Self::Peak => Word::Holders,
            Self::Steps => Word::Steps,
            Self::Phases => Word::Phases,
            Self::Top => Word::TopEvents,
            Self::Modules => Word::Modules,
            Self::Tensors => Word::Tensors,
            Self::About => Word::About,
        }
    }
}

/// How a table is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// Name of the table.
    pub table: String,
    /// Id of the column.
    pub column: String,
    /// Largest first.
    pub descending: bool,
}

/// All that a link holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The tab, when chosen; else the rank's first.
    pub view: Option<View>,
    /// Index of the rank, when chosen; else the one with the highest peak is shown.
    pub rank: Option<usize>,
    /// What the axis counts.
    pub axis: AxisKind,
    /// The part of the axis shown, as shares of the whole.
    pub zoom: (f64, f64),
    /// The selection, see [`selection_word`].
    pub selection: Option<String>,
    /// Search text.
    pub query: String,
    /// Filter by step; empty for all.
    pub step: String,
    /// Filter by phase; empty for all.
    pub phase: String,
    /// Filter by type; empty for all.
    pub kind: String,
    /// Filter of tensors by role; empty for all.
    pub role: String,
    #[cfg(feature = "snapshot")]
    /// Device of the snapshot, when chosen; else the one with the longest history is shown.
    pub device: Option<Device>,
    #[cfg(feature = "snapshot")]
    /// The instant of a snapshot that is looked at: `peak`, `oom`, `t412`. Empty for the first.
    pub at: String,
    #[cfg(feature = "snapshot")]
    /// What is picked of a snapshot, by its name: `b7f3c40000000_2`, `t412`, `k12`, `g3`.
    pub pick: String,
    #[cfg(feature = "snapshot")]
    /// What live allocations are grouped by; empty for the first.
    pub by: String,
    #[cfg(feature = "snapshot")]
    /// The instant of side B of a comparison; empty for the peak.
    pub at_b: String,
    #[cfg(feature = "snapshot")]
    /// Another rank of this report that the one shown is compared with.
    pub with: Option<usize>,
    #[cfg(feature = "snapshot")]
    /// Filter of a comparison's rows by what became of them: `new`, `gone`, ...; empty for all.
    pub change: String,
    #[cfg(feature = "snapshot")]
    /// How they are shown: `table`, `flame`, `tree`. Empty for the first.
    pub how: String,
    #[cfg(feature = "snapshot")]
    /// The frame over the full width of the flame graph: `k12.3`, in a comparison `a.k12.3`. Empty
    /// for all.
    pub flame: String,
    #[cfg(feature = "snapshot")]
    /// Action of entries; empty for all.
    pub action: String,
    #[cfg(feature = "snapshot")]
    /// Fewest bytes of an entry, as text: `64MiB`. Empty for any.
    pub min: String,
    #[cfg(feature = "snapshot")]
    /// Most bytes of an entry.
    pub max: String,
    #[cfg(feature = "snapshot")]
    /// Steps that memory must live through to be looked at; empty for one.
    pub keep: String,
    #[cfg(feature = "snapshot")]
    /// How the allocator's segments are arranged: `address`, `together`, `address-together`. Empty
    /// for the first.
    pub lay: String,
    /// One row per event.
    pub each: bool,
    /// Modules flat instead of as a tree.
    pub flat: bool,
    /// Sorting of the table of the tab.
    pub sort: Option<Sort>,
    /// Language, when chosen by the user.
    pub lang: Option<Lang>,
    /// Ground, when chosen by the user.
    pub dark: Option<bool>,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            view: None,
            rank: None,
            axis: AxisKind::Event,
            zoom: (0.0, 1.0),
            selection: None,
            query: String::new(),
            step: String::new(),
            phase: String::new(),
            kind: String::new(),
            role: String::new(),
            #[cfg(feature = "snapshot")]
            device: None,
            #[cfg(feature = "snapshot")]
            at: String::new(),
            #[cfg(feature = "snapshot")]
            pick: String::new(),
            #[cfg(feature = "snapshot")]
            by: String::new(),
            #[cfg(feature = "snapshot")]
            at_b: String::new(),
            #[cfg(feature = "snapshot")]
            with: None,
            #[cfg(feature = "snapshot")]
            change: String::new(),
            #[cfg(feature = "snapshot")]
            how: String::new(),
            #[cfg(feature = "snapshot")]
            flame: String::new(),
            #[cfg(feature = "snapshot")]
            action: String::new(),
            #[cfg(feature = "snapshot")]
            min: String::new(),
            #[cfg(feature = "snapshot")]
            max: String::new(),
            #[cfg(feature = "snapshot")]
            keep: String::new(),
            #[cfg(feature = "snapshot")]
            lay: String::new(),
            each: false,
            flat: false,
            sort: None,
            lang: None,
            dark: None,
        }
    }
}

#[cfg(feature = "snapshot")]
impl Shown {
    /// Forgets the device and what was looked at of it.
    fn forget_device(&mut self) {
        self.device = None;
        self.at.clear();
        self.at_b.clear();
        self.pick.clear();
        self.flame.clear();
    }
}

/// The page's signals. Copied freely.
#[derive(Clone, Copy)]
pub struct State {
    /// The opened report.
    pub container: RwSignal<Option<Arc<Container>>>,
    /// Index of the rank shown.
    pub rank: RwSignal<usize>,
    /// The rank shown, decoded.
    pub data: RwSignal<Option<Arc<RankData>>>,
    /// What the link holds.
    pub shown: RwSignal<Shown>,
    /// What is picked of a snapshot, resolved.
    pub pick: Memo<Option<Pick>>,
    /// The selection, resolved.
    pub selection: RwSignal<Option<Selection>>,
    /// The language in use.
    pub lang: Memo<Lang>,
    /// Whether the ground is dark; paper never is.
    pub dark: Memo<bool>,
    /// Whether the page is being printed.
    pub printing: RwSignal<bool>,
    /// What went wrong, for the page's head.
    pub error: RwSignal<Option<String>>,
    /// Short messages for the live region.
    pub status: RwSignal<String>,
    /// Whether the keyboard sheet is open.
    pub help: RwSignal<bool>,
    /// Sizes of the file's parts: program, glue and style, static part, data; bytes.
    pub parts: StoredValue<Vec<f64>>,
    /// What is being read.
    pub reading: RwSignal<Option<String>>,
    /// The recording that the one shown is compared with.
    #[cfg(feature = "snapshot")]
    pub compared: crate::compare::Compared,
    /// How much of it is read, from 0 to 1; `None` where that is not known.
    pub progress: RwSignal<Option<f64>>,
    /// Whether a rank is being decoded, or its chart put up.
    pub working: RwSignal<bool>,
}

impl State {
    /// The initial state: what the link says, else the browser's choices.
    #[must_use]
    pub fn new(
        container: Option<Container>,
        parts: Vec<f64>,
        hash: &str,
        browser_lang: Lang,
        browser_dark: RwSignal<bool>,
    ) -> Self {
        let shown = RwSignal::new(crate::hash::read(hash));
        let data = RwSignal::new(None);
        let printing = RwSignal::new(false);
        let state = Self {
            container: RwSignal::new(None),
            rank: RwSignal::new(0),
            data,
            #[cfg(feature = "snapshot")]
            pick: Memo::new(move |_| {
                let name = shown.with(|s| s.pick.clone());
                data.with(|d: &Option<Arc<RankData>>| d.as_ref()?.picked(&name))
            }),
            #[cfg(not(feature = "snapshot"))]
            pick: Memo::new(|_| None),
            shown,
            selection: RwSignal::new(None),
            lang: Memo::new(move |_| shown.with(|s| s.lang).unwrap_or(browser_lang)),
            dark: Memo::new(move |_| {
                !printing.get() && shown.with(|s| s.dark).unwrap_or_else(|| browser_dark.get())
            }),
            printing,
            error: RwSignal::new(None),
            status: RwSignal::new(String::new()),
            help: RwSignal::new(false),
            parts: StoredValue::new(parts),
            reading: RwSignal::new(None),
            #[cfg(feature = "snapshot")]
            compared: crate::compare::Compared::new(data, shown),
            progress: RwSignal::new(None),
            working: RwSignal::new(false),
        };
        if let Some(container) = container {
            state.open(container);
        }
        state
    }

    /// The tabs that the rank has something for, in order.
    #[must_use]
    pub fn views(self) -> Vec<View> {
        let (events, snapshot, series) = self.data.with(|d| {
            d.as_ref().map_or((false, false, false), |d| {
                let series = cfg!(feature = "snapshot") && d.rank.series.is_some();
                (!d.rank.events.is_empty(), d.has_snapshot(), series)
            })
        });
        #[cfg(feature = "snapshot")]
        let compares = self.compared.other.with(Option::is_some);
        #[cfg(not(feature = "snapshot"))]
        let compares = false;
        // A profiler's trace knows no segments.
        #[cfg(feature = "snapshot")]
        let segments = !self.snapshot().is_some_and(|a| a.replay.stated);
        #[cfg(not(feature = "snapshot"))]
        let segments = false;
        View::ALL
            .into_iter()
            .filter(|v| {
                #[cfg(feature = "snapshot")]
                if matches!(v, View::Device | View::ByName) {
                    return self.recorded(*v);
                }
                v.shows(events, snapshot, series) || (*v == View::Compare && compares)
            })
            .filter(|v| *v != View::State || segments)
            .collect()
    }

    /// The tab that is shown.
    #[must_use]
    pub fn view(self) -> View {
        let views = self.views();
        let chosen = self.shown.with(|s| s.view);
        chosen
            .filter(|v| views.contains(v))
            .or(views.first().copied())
            .unwrap_or_default()
    }

    /// Shows another tab.
    pub fn go(self, view: View) {
        self.shown.update(|s| {
            s.view = Some(view);
            s.sort = None;
        });
    }

    /// A word in the language in use.
    #[must_use]
    pub fn t(self, word: Word) -> &'static str {
        word.text(self.lang.get())
    }

    /// A word that follows the language. One closure type for all words: each distinct closure in
    /// a view costs about a kilobyte of program.
    pub fn text(self, word: Word) -> impl Fn() -> &'static str + Copy + Send + Sync + 'static {
        move || word.text(self.lang.get())
    }

    /// The same for labels that are owned strings.
    #[must_use]
    pub fn label(self, word: Word) -> Signal<String> {
        Signal::derive(move || word.text(self.lang.get()).to_owned())
    }

    /// Shows a report.
    pub fn open(self, container: Container) {
        self.container.set(Some(Arc::new(container)));
        let rank = self.shown.with_untracked(|s| s.rank);
        self.decode(rank, false);
        #[cfg(feature = "snapshot")]
        self.follow_with();
    }

    /// Shows a report in place of the one that is open.
    pub fn replace(self, container: Container) {
        self.shown.update(|s| {
            s.rank = None;
            s.selection = None;
            s.zoom = (0.0, 1.0);
            #[cfg(feature = "snapshot")]
            s.forget_device();
        });
        self.open(container);
    }

    /// Takes a report that was dropped or chosen.
    #[cfg(not(feature = "snapshot"))]
    pub fn receive(self, container: Container) {
        self.replace(container);
    }

    /// Shows another rank.
    pub fn set_rank(self, rank: usize) {
        #[cfg(feature = "snapshot")]
        self.set_rank_on(rank, None);
        #[cfg(not(feature = "snapshot"))]
        {
            self.shown.update(|s| {
                s.rank = Some(rank);
                s.selection = None;
            });
            self.decode(Some(rank), false);
        }
    }

    /// Shows another rank on a device of its snapshot, or on its first.
    #[cfg(feature = "snapshot")]
    pub fn set_rank_on(self, rank: usize, device: Option<Device>) {
        self.shown.update(|s| {
            s.rank = Some(rank);
            s.selection = None;
            s.forget_device();
            s.device = device;
        });
        self.decode(Some(rank), false);
    }

    /// Shows another device of the snapshot, and of side B where it has it.
    #[cfg(feature = "snapshot")]
    pub fn set_device(self, device: Device) {
        self.shown.update(|s| {
            s.forget_device();
            s.device = Some(device);
        });
        self.decode(Some(self.rank.get_untracked()), true);
        self.follow_device();
    }

    /// The devices of the rank's snapshot with the bytes of their segments, when there are several.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn devices(self) -> Vec<(Device, Option<u64>)> {
        let of = |d: &Arc<RankData>| {
            let snapshot = d.rank.snapshot.as_ref()?;
            let all = snapshot.device_list().into_iter();
            let all: Vec<_> = all.map(|d| (d, snapshot.reserved(d))).collect();
            (all.len() > 1).then_some(all)
        };
        self.data
            .with(|d| d.as_ref().and_then(of))
            .unwrap_or_default()
    }

    /// Decodes the chosen rank, or without a choice the one with the highest peak: whoever opens
    /// a report of many ranks wants the one that ran out of memory first. `again` is the rank that
    /// is shown already: its tables are kept, another device of it is asked for.
    fn decode(self, chosen: Option<usize>, again: bool) {
        let Some(container) = self.container.get_untracked() else {
            return;
        };
        let ranks = &container.header().ranks;
        let worst = || {
            let peak = |i: &usize| (ranks[*i].headline.peak_allocated, std::cmp::Reverse(*i));
            (0..ranks.len()).max_by_key(peak).unwrap_or(0)
        };
        let rank = chosen.filter(|&r| r < ranks.len()).unwrap_or_else(worst);
        self.rank.set(rank);
        #[cfg(not(feature = "snapshot"))]
        let _ = again;
        #[cfg(feature = "snapshot")]
        let device = self.shown.with_untracked(|s| s.device);
        #[cfg(feature = "snapshot")]
        let tables = self
            .data
            .with_untracked(|d| d.as_ref().map(|d| Arc::clone(&d.rank)))
            .filter(|_| again);
        #[cfg(feature = "snapshot")]
        if crate::pieces::is_long(&container, rank) {
            // Another choice that comes meanwhile makes this one void.
            let current = move |c: &Arc<Container>| {
                self.rank.get_untracked() == rank
                    && self.shown.with_untracked(|s| s.device) == device
                    && self
                        .container
                        .with_untracked(|now| now.as_ref().is_some_and(|now| Arc::ptr_eq(now, c)))
            };
            self.working.set(true);
            let work = crate::pieces::Work::begin();
            wasm_bindgen_futures::spawn_local(async move {
                let read = crate::pieces::rank(&container, rank, tables, device).await;
                if current(&container) {
                    self.show(read);
                    // The chart comes in one piece, the tab below it in the next.
                    crate::pieces::task().await;
                    crate::pieces::task().await;
                    self.working.set(false);
                }
                drop(work);
            });
            return;
        }
        self.working.set(false);
        #[cfg(feature = "snapshot")]
        self.show(
            match tables {
                Some(tables) => Ok(tables),
                None => container.rank(rank).map(Arc::new),
            }
            .map(|tables| RankData::on(tables, device)),
        );
        #[cfg(not(feature = "snapshot"))]
        self.show(container.rank(rank).map(RankData::new));
    }

    /// Shows a rank, or why there is none.
    fn show(self, read: Result<RankData, report::Error>) {
        match read {
            Ok(data) => {
                let data = Arc::new(data);
                let word = self.shown.with_untracked(|s| s.selection.clone());
                let selection = word.and_then(|w| selection_of(&w, &data));
                self.error.set(None);
                self.data.set(Some(data));
                self.selection.set(selection);
            }
            Err(e) => {
                self.data.set(None);
                self.error.set(Some(e.to_string()));
            }
        }
    }

    /// Selects something, or nothing.
    pub fn select(self, selection: Option<Selection>) {
        self.selection.set(selection);
        self.shown
            .update(|s| s.selection = selection.map(selection_word));
    }

    /// Picks something of a snapshot, or nothing.
    pub fn set_pick(self, pick: Option<Pick>) {
        #[cfg(feature = "snapshot")]
        {
            let name = pick.zip(self.data.get_untracked());
            let name = name.map_or_else(String::new, |(pick, data)| data.pick_name(pick));
            self.shown.update(|s| s.pick = name);
        }
        #[cfg(not(feature = "snapshot"))]
        let _ = pick;
    }

    /// Takes over what a link says, as when the user goes back or edits it.
    pub fn follow(self, hash: &str) {
        let next = crate::hash::read(hash);
        let was = self.shown.get_untracked();
        if next == was {
            return;
        }
        let (rank, word) = (next.rank, next.selection.clone());
        self.shown.set(next);
        #[cfg(feature = "snapshot")]
        if self.shown.with_untracked(|s| s.with) != was.with {
            self.follow_with();
        }
        #[cfg(feature = "snapshot")]
        let device = self.shown.with_untracked(|s| s.device) != was.device;
        #[cfg(not(feature = "snapshot"))]
        let device = false;
        #[cfg(feature = "snapshot")]
        if device {
            self.follow_device();
        }
        if rank != was.rank || device {
            self.decode(rank, rank == was.rank);
        } else if word != was.selection
            && let Some(data) = self.data.get_untracked()
        {
            self.selection
                .set(word.and_then(|w| selection_of(&w, &data)));
        }
    }
}

/// The selection's word in links: `e412` an event, `m7` a module, `l3.5` a place, `p4` a phase,
/// `s2` a step. Numbers are those of this report's tables.
#[must_use]
pub fn selection_word(selection: Selection) -> String {
    match selection {
        Selection::Event(e) => format!("e{e}"),
        Selection::Module(m) => format!("m{}", m.0),
        Selection::Place(m, p) => format!("l{}.{}", m.0, p.0),
        Selection::Phase(p) => format!("p{}", p.0),
        Selection::Step(s) => format!("s{s}"),
    }
}

/// The inverse of [`selection_word`]; `None` for what is not in this report.
#[must_use]
pub fn selection_of(word: &str, data: &RankData) -> Option<Selection> {
    let (kind, rest) = word.split_at_checked(1)?;
    let strings = data.rank.strings.len() as u32;
    let string = |t: &str| t.parse().ok().filter(|&s: &u32| s < strings).map(StringId);
    match kind {
        "e" => {
            let event: usize = rest.parse().ok()?;
            (event < data.rank.events.len()).then_some(Selection::Event(event))
        }
        "m" => {
            let id = ModuleId(rest.parse().ok()?);
            data.modules().get(id).map(|_| Selection::Module(id))
        }
        "l" => {
            let (m, p) = rest.split_once('.')?;
            Some(Selection::Place(string(m)?, string(p)?))
        }
        "p" => string(rest).map(Selection::Phase),
        "s" => {
            let step: usize = rest.parse().ok()?;
            (step < data.timeline.steps.len()).then_some(Selection::Step(step))
        }
        _ => None,
    }
}
