//! Several inputs of one rank become one [`Rank`].
//!
//! A run leaves a runtime report, a memory snapshot and a profiler's timeline beside each other.
//! Each is a part of the same story, so their tables go into one rank where no table is there
//! twice. Every rank has one string table: the second's texts are interned into the first's.

use crate::model::{Interner, Rank, StringId};

/// Why two ranks stay apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Apart {
    /// Both have events of a runtime report.
    #[error("both are runtime reports")]
    Events,
    /// Both have an allocator's history.
    #[error("both have an allocator's history")]
    Snapshots,
    /// Both have a memory timeline.
    #[error("both are memory timelines")]
    Series,
    /// They say that they are of different ranks.
    #[error("they are of different ranks")]
    Numbers,
    /// Their texts together are more than a table takes.
    #[error("their texts are too long for one report")]
    Full,
}

/// Whether a rank came from a runtime report.
#[must_use]
pub fn has_events(rank: &Rank) -> bool {
    #[cfg(feature = "snapshot")]
    if rank.recording.is_some() {
        return true;
    }
    !rank.events.is_empty()
        || !rank.recorded_top.is_empty()
        || rank.recorded_peak.is_some()
        || !rank.comparisons.is_empty()
        || (rank.snapshot.is_none() && rank.series.is_none())
}

/// Why two ranks cannot become one; `None` when they can.
#[must_use]
pub fn apart(a: &Rank, b: &Rank) -> Option<Apart> {
    if a.number().zip(b.number()).is_some_and(|(a, b)| a != b) {
        return Some(Apart::Numbers);
    }
    if has_events(a) && has_events(b) {
        return Some(Apart::Events);
    }
    let text = a.strings.text.len().saturating_add(b.strings.text.len());
    if text > Interner::MAX_TEXT {
        return Some(Apart::Full);
    }
    if a.snapshot.is_some() && b.snapshot.is_some() {
        return Some(Apart::Snapshots);
    }
    if a.series.is_some() && b.series.is_some() {
        return Some(Apart::Series);
    }
    None
}

/// Puts the tables of two ranks together. The runtime report's source comes first, else `a`'s.
///
/// # Errors
/// [`Apart`] when they cannot be one. Both are lost then: ask [`apart`] before.
pub fn merge(a: Rank, b: Rank) -> Result<Rank, Apart> {
    match apart(&a, &b) {
        Some(reason) => Err(reason),
        None => Ok(joined(a, b)),
    }
}

fn joined(a: Rank, b: Rank) -> Rank {
    let (mut base, mut other) = if has_events(&b) { (b, a) } else { (a, b) };
    let mut strings = Texts {
        known: vec![None; other.strings.len()],
        from: std::mem::take(&mut other.strings),
        into: Interner::of(std::mem::take(&mut base.strings)),
    };
    if let Some(mut snapshot) = other.snapshot.take() {
        snapshot.texts(&mut |id| *id = strings.moved(*id));
        base.snapshot = Some(snapshot);
    }
    phases(&mut strings.into, &base);
    base.strings = strings.into.finish();
    if let Some(series) = other.series.take() {
        base.series = Some(series);
    }
    for (key, value) in other.metadata.iter() {
        if base.metadata.get(key).is_none() {
            base.metadata.set(key.to_owned(), value.clone());
        }
    }
    base.skipped.extend(&other.skipped);
    base.also.push(other.source);
    base.also.append(&mut other.also);
    base
}

/// What one folder holds, as ranks: a runtime report, a history and a memory timeline become one.
/// Where several could be meant, names decide (`memory_snapshot`, `snapshot`); where they do not,
/// everything stays apart, in its order.
#[must_use]
pub fn together(ranks: Vec<Rank>) -> Vec<Rank> {
    let pick = |which: &dyn Fn(&Rank) -> bool| -> Option<usize> {
        let of = |i: &usize| ranks.get(*i).map_or(u8::MAX, preference);
        let all: Vec<usize> = (0..ranks.len()).filter(|&i| which(&ranks[i])).collect();
        let best = all.iter().copied().min_by_key(of)?;
        let others = all.iter().filter(|&i| of(i) == of(&best)).count();
        (others == 1).then_some(best)
    };
    let report = ranks.iter().filter(|r| has_events(r)).count();
    let chosen = [
        pick(&has_events),
        pick(&|r| !has_events(r) && r.snapshot.is_some()),
        pick(&|r| !has_events(r) && r.snapshot.is_none()),
    ];
    if report > 1 {
        return ranks;
    }
    let mut base: Option<Rank> = None;
    let mut at = usize::MAX;
    let mut out: Vec<(usize, Rank)> = Vec::new();
    let mut parts: Vec<(usize, Rank)> = ranks.into_iter().enumerate().collect();
    parts.sort_by_key(|(i, _)| chosen.iter().position(|c| *c == Some(*i)).unwrap_or(3));
    for (i, rank) in parts {
        let fits = chosen.contains(&Some(i))
            && base
                .as_ref()
                .is_none_or(|base| apart(base, &rank).is_none());
        if !fits {
            out.push((i, rank));
            continue;
        }
        at = at.min(i);
        base = Some(match base {
            None => rank,
            Some(base) => joined(base, rank),
        });
    }
    out.extend(base.map(|base| (at, base)));
    out.sort_by_key(|(i, _)| *i);
    out.into_iter().map(|(_, rank)| rank).collect()
}

/// Of a journal and the runtime reports that lie in the same folder, what tells more: the report where
/// it was made from this journal's last record or a later one, else the journal. Also the names of what
/// was left out because it is older than the journal.
#[cfg(feature = "snapshot")]
#[must_use]
pub fn newest(ranks: Vec<Rank>) -> (Vec<Rank>, Vec<String>) {
    use crate::read::journal::FORMAT;
    let journal = |r: &Rank| r.source.format == FORMAT;
    let begun = |r: &Rank| {
        let recording = r.recording.as_ref()?;
        let process = &recording.process;
        let clock = recording.clock.monotonic_ns;
        Some((
            process.boot.clone(),
            process.host.clone(),
            process.pid,
            clock,
        ))
    };
    let end = |r: &Rank| {
        let recording = r.recording.as_ref()?;
        Some((recording.complete, recording.ending.time_ns))
    };
    if !ranks.iter().any(journal) {
        return (ranks, Vec::new());
    }
    let made = |report: &Rank, journal: &Rank| {
        begun(report).is_some() && begun(report) == begun(journal) && end(report) >= end(journal)
    };
    let mut stays: Vec<bool> = vec![true; ranks.len()];
    let mut left = Vec::new();
    for (i, rank) in ranks.iter().enumerate() {
        if journal(rank) {
            let newer = |r: &&Rank| !journal(r) && has_events(r) && made(r, rank);
            if ranks.iter().any(|r| newer(&r)) {
                stays[i] = false;
            }
        } else if has_events(rank) && !ranks.iter().any(|j| journal(j) && made(rank, j)) {
            stays[i] = false;
            left.push(rank.source.name.clone());
        }
    }
    let kept = ranks.into_iter().zip(stays).filter(|(_, stays)| *stays);
    (kept.map(|(rank, _)| rank).collect(), left)
}

/// Which of several snapshots of a folder is the run's own.
fn preference(rank: &Rank) -> u8 {
    let name = rank.source.name.rsplit(['/', '\\']).next();
    match name.unwrap_or_default().split('.').next() {
        Some("memory_snapshot" | "runtime_report") => 0,
        Some("snapshot") => 1,
        _ => 2,
    }
}

/// Phases come as `forward_start` and `forward_end`; the bands of a timeline want their bare names.
fn phases(strings: &mut Interner, rank: &Rank) {
    let mut phases = rank.events.phase.clone();
    phases.sort_unstable();
    phases.dedup();
    for phase in phases {
        let text = strings.table().get(phase);
        if let Some(bare) = text.strip_suffix("_end").map(str::to_owned) {
            // A name that has no room is a band less, and no error.
            let _ = strings.intern(&bare);
        }
    }
}

/// Texts of one table in another, each looked up once.
struct Texts {
    known: Vec<Option<StringId>>,
    from: crate::model::StringTable,
    into: Interner,
}

impl Texts {
    fn moved(&mut self, id: StringId) -> StringId {
        let slot = self.known.get(id.0 as usize).copied().flatten();
        if let Some(known) = slot {
            return known;
        }
        // `apart` saw that there is room.
        let new = self.into.intern(self.from.get(id)).unwrap_or_default();
        if let Some(slot) = self.known.get_mut(id.0 as usize) {
            *slot = Some(new);
        }
        new
    }
}
