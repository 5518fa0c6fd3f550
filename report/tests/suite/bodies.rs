//! What must hold for any bytes. `report/fuzz` and [`crate::mutation`] run the same.

use std::io::Read;

use report::analyze::{
    growth, holders, levels, modules, pairing, peak, phases, search, steps, summary, tensors, top,
};
use report::container::{Container, Header, Level, MAGIC, VERSION, pack};
use report::model::{Bytes, Figure, Rank, Report};

/// Any bytes as a runtime report: read or refused, the same in whatever pieces they come; and what
/// was read can be analysed and packed without a loss.
pub fn runtime_report(bytes: &[u8]) {
    let whole = report::read::read_runtime_report("fuzz", bytes);
    let pieces = report::read::read_runtime_report("fuzz", Sevens(bytes));
    match (whole, pieces) {
        (Ok(report), Ok(again)) => {
            assert_eq!(report, again);
            everything(&report);
            repack(&report);
        }
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("whole {:?}, in pieces {:?}", a.err(), b.err()),
    }
}

/// Any bytes as a pickled snapshot: as for a runtime report.
#[cfg(feature = "snapshot")]
pub fn snapshot(bytes: &[u8]) {
    let whole = report::read::snapshot::read_pickle("fuzz", bytes);
    let pieces = report::read::snapshot::read_pickle("fuzz", Sevens(bytes));
    match (whole, pieces) {
        (Ok(rank), Ok(again)) => {
            assert_eq!(rank, again);
            let report = Report::of(vec![rank]);
            everything(&report);
            repack(&report);
        }
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("whole {:?}, in pieces {:?}", a.err(), b.err()),
    }
}

/// Any bytes as a file of a journal: the same in whatever pieces they come, packed and written without
/// a loss.
#[cfg(feature = "snapshot")]
pub fn journal(bytes: &[u8]) {
    use report::read::journal::{Part, read};
    let of = |source| {
        let name = "h-1-1.python.core.jsonl".to_owned();
        read("fuzz", vec![Part { name, source }])
    };
    match (of(Box::new(bytes)), of(Box::new(Sevens(bytes)))) {
        (Ok(rank), Ok(again)) => {
            assert_eq!(rank, again);
            let _ = report::analyze::driver::layers(&rank, 100);
            let mut text = Vec::new();
            report::write::runtime_report::write(&rank, &mut text).unwrap();
            let back = report::read::runtime_report::read("fuzz", &text[..]).unwrap();
            assert_eq!(back.recording, rank.recording);
            let report = Report::of(vec![rank]);
            everything(&report);
            repack(&report);
        }
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("whole {:?}, in pieces {:?}", a.err(), b.err()),
    }
}

/// Asks every question about a snapshot: sums of groups and lines are those of the curves.
#[cfg(feature = "snapshot")]
pub fn snapshot_answers(rank: &Rank) {
    use report::analyze::snapshot::{
        categories, figures, flame, group, lifetimes, lines, live, replay, sites, state, steps,
    };
    let Some(snapshot) = &rank.snapshot else {
        return;
    };
    let sites = sites::Sites::of(&rank.strings, snapshot);
    for device in snapshot.device_list() {
        let replay = replay::replay(snapshot, device);
        let _ = figures::figures(rank);
        let categories = categories::categories(&rank.strings, snapshot, &replay, &sites);
        let index = live::LiveIndex::of(&replay);
        let steps = steps::steps(&rank.strings, snapshot, device);
        let _ = lifetimes::survivors(&replay, &steps, 1);
        let _ = lifetimes::pending(&replay, 10);
        let _ = lifetimes::brief(&replay, 100);
        let lines = lines::lines(&replay, &sites, None);
        let small = snapshot.events.size.iter().all(|&s| s < 1 << 40);
        for at in [
            replay.peak_requested().event,
            replay.last_event(),
            replay.ooms.first().copied(),
        ]
        .into_iter()
        .flatten()
        {
            let live = index.after(&replay, at);
            let bytes = replay
                .requested
                .after
                .get(at.index() - replay.first as usize)
                .copied();
            let known = replay.findings.rows.is_empty() && small;
            for by in [group::By::Stack, group::By::Line, group::By::Category] {
                let groups = group::group(&replay, &sites, &categories, &live, by);
                if known {
                    assert_eq!(
                        groups.iter().map(|g| g.bytes).sum::<u64>(),
                        bytes.unwrap_or(0)
                    );
                }
            }
            let tree = flame::flame(
                snapshot,
                &replay,
                &sites,
                &live,
                flame::Direction::RootFirst,
                false,
            );
            assert!(!tree.nodes.is_empty());
            let state = state::after(&replay, &index, at);
            let _ = state::fragmentation(&replay, &state);
            let _ = state::pins(&replay, &state);
        }
        let _ = lines.len();
    }
}

/// Any bytes as a container, as they are and with the checksums put right, so that changes reach
/// what lies behind them.
pub fn container(bytes: &[u8]) {
    open(bytes.to_vec());
    if let Some(repaired) = repair(bytes) {
        open(repaired);
    }
}

fn open(bytes: Vec<u8>) {
    let Ok(container) = Container::open("fuzz", bytes) else {
        return;
    };
    if let Ok(report) = container.report() {
        everything(&report);
        repack(&report);
    }
}

pub fn repack(report: &Report) {
    let packed = pack(report, "fuzz", Level(1)).expect("any tables can be packed");
    assert_eq!(
        packed,
        pack(report, "fuzz", Level(1)).expect("packed before")
    );
    let again = Container::open("fuzz", packed)
        .and_then(|c| c.report())
        .expect("what was packed opens");
    assert_eq!(*report, again);
}

/// States the checksums that the bytes have.
pub fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(*bytes.get(12..16)?.first_chunk()?) as usize;
    let head = bytes.get(24..24usize.checked_add(length)?)?;
    let body = bytes.get(24 + length..)?;
    let mut header: Header = serde_json::from_slice(head).ok()?;
    for column in header.ranks.iter_mut().flat_map(|r| &mut r.columns) {
        let start = usize::try_from(column.offset).ok()?;
        let end = start.checked_add(usize::try_from(column.length).ok()?)?;
        if let Some(slab) = body.get(start..end) {
            column.crc32 = crc32fast::hash(slab);
        }
    }
    let head = serde_json::to_vec(&header).ok()?;
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&u32::try_from(head.len()).ok()?.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&head);
    out.extend_from_slice(body);
    Some(out)
}

/// Asks every question.
pub fn everything(report: &Report) {
    let summary = summary::summary(report);
    serde_json::to_string(&summary).expect("every answer has a JSON form");
    for rank in &report.ranks {
        #[cfg(feature = "snapshot")]
        snapshot_answers(rank);
        every_answer(rank);
    }
}

fn every_answer(rank: &Rank) {
    let events = rank.events.len();
    let growth = growth::growth(rank);
    assert!(growth.iter().all(|g| g.event < events));
    let peak = peak::peak(rank);
    assert!(
        peak.allocated
            .and_then(|p| p.event)
            .is_none_or(|e| e < events)
    );
    let _ = peak.between_events();
    if let Some(found) = holders::holders(rank, &growth) {
        let sum: i128 = found.parts.iter().map(|p| i128::from(p.bytes)).sum();
        if exact(rank) {
            assert_eq!(sum, i128::from(found.peak));
        }
    }
    let phases = phases::phases(rank);
    assert_eq!(phases.iter().map(|p| p.count).sum::<u64>(), events as u64);
    let groups = top::groups(&rank.events, |_| true);
    assert_eq!(groups.iter().map(|g| g.count).sum::<u64>(), events as u64);
    let steps = steps::steps(rank);
    assert_eq!(steps.iter().map(|s| s.end - s.start).sum::<usize>(), events);
    let pairing = pairing::pair(rank);
    for i in 0..events {
        if let pairing::Partner::Event(other) = pairing.partner(i) {
            assert_eq!(pairing.partner(other), pairing::Partner::Event(i));
        }
    }
    let tree = modules::modules(rank, &pairing);
    let loop_kind = report::analyze::step_kind(rank);
    let outside = rank
        .events
        .kind
        .iter()
        .filter(|&&k| Some(k) != loop_kind)
        .count();
    let counted: u64 = tree
        .roots
        .iter()
        .filter_map(|&r| tree.get(r))
        .map(|m| m.rolled.count)
        .sum();
    assert_eq!(counted, outside as u64);
    let _ = tensors::tensors(rank);
    let column = rank.events.column(Figure::AllocatedAfter);
    let levels = levels::Levels::of(column);
    for (start, end) in [(0, events), (1, events / 2), (events / 3, events)] {
        assert_eq!(
            levels.span(column, start, end),
            naive_span(column, start, end)
        );
    }
    let matches = search::Matches::of(&rank.strings, "Head");
    let _ = (0..events)
        .filter(|&i| matches.event(&rank.events, i))
        .count();
    let _ = rank.skipped.total();
}

/// Whether no sum of the rank leaves 64 bits, where answers saturate.
fn exact(rank: &Rank) -> bool {
    let e = &rank.events;
    let columns = [&e.allocated_before, &e.allocated_after, &e.max_allocated];
    columns
        .iter()
        .all(|c| c.iter().flatten().all(|v| v < 1 << 40))
}

/// [`levels::Levels::span`] without the levels.
pub fn naive_span(column: &Bytes, start: usize, end: usize) -> Option<levels::Span> {
    let known: Vec<u64> = (start..end.min(column.len()))
        .filter_map(|i| column.get(i))
        .collect();
    Some(levels::Span {
        min: *known.iter().min()?,
        max: *known.iter().max()?,
        last: *known.last()?,
    })
}

/// Hands out seven bytes at a time.
struct Sevens<'a>(&'a [u8]);

impl Read for Sevens<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(into.len()).min(7);
        into[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}
