//! What the recorder knows between two records.

use memscope::Figures;
use memscope::journal::{Journal, clock};
use memscope::peaks::{Peaks, Rose};
use memscope::records::{At, Cost, Overhead};

/// Ten seconds, ns: how often the clock and the overhead are written.
const OFTEN: u64 = 10_000_000_000;

/// A module's call that has begun.
#[derive(Debug)]
pub struct Call {
    pub number: u64,
    pub name: String,
    pub class: String,
    pub depth: u64,
    pub phase: String,
    pub before: Figures,
}

/// Between two records.
#[derive(Debug, Default)]
pub struct State {
    /// Step and micro-batch at hand.
    pub step: Option<u64>,
    pub micro: Option<u64>,
    /// The phase since the last boundary.
    pub phase: String,
    peaks: Peaks,
    /// Whether a peak of allocated was recorded since [`take_peak`](Self::take_peak).
    peaked: bool,
    /// Calls that are open, outermost first.
    pub calls: Vec<Call>,
    next_call: u64,
    /// Cumulative cost.
    pub overhead: Overhead,
    step_began: Option<u64>,
    last_tick: Option<u64>,
}

impl State {
    /// Before the first boundary.
    pub fn new() -> Self {
        Self {
            phase: "init".to_owned(),
            overhead: Overhead {
                samples: Some(Cost::default()),
                modules: Some(Cost::default()),
                ..Overhead::default()
            },
            ..Self::default()
        }
    }

    /// Takes a reading at an edge, before anything changes with it: records what rose until then.
    pub fn look(&mut self, journal: &Journal, edge: &str, figures: &Figures) -> Rose {
        let at = At {
            step: self.step,
            micro: self.micro,
            phase: &self.phase,
            module: self.calls.last().map_or("", |c| c.name.as_str()),
        };
        let rose = self.peaks.look(journal, &at, edge, figures);
        self.peaked |= rose.allocated;
        rose
    }

    /// Whether allocated rose to a new peak since this was last asked.
    pub fn take_peak(&mut self) -> bool {
        std::mem::take(&mut self.peaked)
    }

    /// Opens a call; its number.
    pub fn open(&mut self, name: &str, class: &str, depth: u64, phase: &str, f: Figures) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        self.calls.push(Call {
            number,
            name: name.to_owned(),
            class: class.to_owned(),
            depth,
            phase: phase.to_owned(),
            before: f,
        });
        number
    }

    /// Closes a call; `None` when it is not open.
    pub fn close(&mut self, number: u64) -> Option<Call> {
        let at = self.calls.iter().rposition(|c| c.number == number)?;
        Some(self.calls.remove(at))
    }

    /// Counts the wall time of steps from their edges.
    pub fn count_step(&mut self, edge: &str) {
        match edge {
            "step_start" => self.step_began = Some(clock::monotonic()),
            "step_end" => {
                if let Some(began) = self.step_began.take() {
                    self.overhead.steps += 1;
                    self.overhead.step_ns += clock::monotonic().saturating_sub(began);
                }
            }
            _ => (),
        }
    }

    /// Whether ten seconds passed since this was last true.
    pub fn ticks(&mut self, now: u64) -> bool {
        let last = *self.last_tick.get_or_insert(now);
        let ticks = now.saturating_sub(last) >= OFTEN;
        if ticks {
            self.last_tick = Some(now);
        }
        ticks
    }
}
