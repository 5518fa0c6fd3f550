//! Which `forward_pre` belongs to which `forward`.
//!
//! Hooks come in nested pairs, but not always: an exception, an early stop of recomputation or a
//! compiled region leaves a first without its second. Those are counted, never guessed.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::model::{Events, Rank, StringId};

/// The partner of every event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    partner: Vec<u32>,
    /// Pairs found.
    pub pairs: u64,
    /// `*_pre` events without the event that should follow.
    pub lone_pre: u64,
    /// Events without the `*_pre` event that should precede them.
    pub lone_post: u64,
}

const NONE: u32 = u32::MAX;
const LONE: u32 = u32::MAX - 1;

/// An event's part in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partner {
    /// Events of this phase come alone.
    Unpaired,
    /// The partner is this event.
    Event(usize),
    /// There should be a partner, but there is none.
    Missing,
}

impl Pairing {
    /// The partner of an event.
    #[must_use]
    pub fn partner(&self, event: usize) -> Partner {
        match self.partner.get(event) {
            None | Some(&NONE) => Partner::Unpaired,
            Some(&LONE) => Partner::Missing,
            Some(&other) => Partner::Event(other as usize),
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Alone,
    Pre,
    /// With the phase that should have preceded.
    Post(StringId),
}

/// Pairs `X_pre` with `X` of the same module, innermost first, within a step.
#[must_use]
pub fn pair(rank: &Rank) -> Pairing {
    let events = &rank.events;
    let sides = sides(rank);
    let mut out = Pairing {
        partner: vec![NONE; events.len()],
        ..Pairing::default()
    };
    let mut open: Vec<usize> = Vec::new();
    // Where in `open` the events of a place are: without it, a million first events whose second
    // never comes would be walked over again and again.
    let mut places = Places::default();
    let mut step = None;
    for i in 0..events.len() {
        if events.step.get(i) != step {
            step = events.step.get(i);
            close(&mut open, &mut places, 0, events);
        }
        let phase = events.phase.get(i).copied().unwrap_or_default();
        match sides.get(phase.0 as usize) {
            None | Some(Side::Alone) => {}
            Some(Side::Pre) => {
                places
                    .entry((events.module[i], phase))
                    .or_default()
                    .push(open.len());
                open.push(i);
                out.partner[i] = LONE;
            }
            Some(&Side::Post(pre)) => {
                let found = places
                    .get(&(events.module[i], pre))
                    .and_then(|at| at.last().copied());
                match found {
                    Some(at) => {
                        let p = open[at];
                        close(&mut open, &mut places, at, events);
                        out.partner[i] = p as u32;
                        out.partner[p] = i as u32;
                        out.pairs += 1;
                    }
                    None => {
                        out.partner[i] = LONE;
                        out.lone_post += 1;
                    }
                }
            }
        }
    }
    out.lone_pre = out.partner.iter().filter(|&&p| p == LONE).count() as u64 - out.lone_post;
    out
}

/// Places in a stack, by module and phase.
type Places = HashMap<(StringId, StringId), Vec<usize>, FxBuildHasher>;

/// Takes everything from `at` on off the stack.
fn close(open: &mut Vec<usize>, places: &mut Places, at: usize, events: &Events) {
    for event in open.drain(at..) {
        if let Some(stack) = places.get_mut(&(events.module[event], events.phase[event])) {
            stack.pop();
        }
    }
}

fn sides(rank: &Rank) -> Vec<Side> {
    let mut out = vec![Side::Alone; rank.strings.len()];
    let used: std::collections::BTreeSet<StringId> = rank.events.phase.iter().copied().collect();
    let by_text: HashMap<&str, StringId> =
        used.iter().map(|&id| (rank.strings.get(id), id)).collect();
    for &pre in &used {
        let Some(base) = rank.strings.get(pre).strip_suffix("_pre") else {
            continue;
        };
        if let Some(slot) = out.get_mut(pre.0 as usize) {
            *slot = Side::Pre;
        }
        let post = by_text.get(base);
        if let Some(slot) = post.and_then(|p| out.get_mut(p.0 as usize)) {
            *slot = Side::Post(pre);
        }
    }
    out
}
