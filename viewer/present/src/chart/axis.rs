//! The horizontal axis: by event, or by step with every step equally wide.

use report::analyze::steps::Step;

/// What the axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AxisKind {
    /// Events.
    #[default]
    Event,
    /// Steps.
    Step,
    /// True time; only memory snapshots have one.
    Time,
}

/// Maps positions among events (event `i` spans `i..i+1`) to axis positions and back.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    kind: AxisKind,
    events: usize,
    /// First event of each step, and behind the last one.
    bounds: Vec<usize>,
}

impl Axis {
    /// An axis over all events of a rank.
    #[must_use]
    pub fn new(kind: AxisKind, events: usize, steps: &[Step]) -> Self {
        let mut bounds: Vec<usize> = steps.iter().map(|s| s.start).collect();
        bounds.push(events);
        Self {
            kind,
            events,
            bounds,
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> AxisKind {
        self.kind
    }

    /// Length of the whole axis.
    #[must_use]
    pub fn length(&self) -> f64 {
        match self.kind {
            AxisKind::Event | AxisKind::Time => self.events.max(1) as f64,
            AxisKind::Step => (self.bounds.len() - 1).max(1) as f64,
        }
    }

    /// From a position among events to the axis.
    #[must_use]
    pub fn of_event(&self, event: f64) -> f64 {
        match self.kind {
            AxisKind::Event | AxisKind::Time => event,
            AxisKind::Step => {
                let at = self.bounds.partition_point(|&b| b as f64 <= event);
                let step = at
                    .saturating_sub(1)
                    .min(self.bounds.len().saturating_sub(2));
                let (a, b) = self.step(step);
                step as f64 + ((event - a) / (b - a).max(1.0)).clamp(0.0, 1.0)
            }
        }
    }

    /// From the axis to a position among events.
    #[must_use]
    pub fn to_event(&self, x: f64) -> f64 {
        let event = match self.kind {
            AxisKind::Event | AxisKind::Time => x,
            AxisKind::Step => {
                let step = (x.max(0.0) as usize).min(self.bounds.len().saturating_sub(2));
                let (a, b) = self.step(step);
                a + (x - step as f64) * (b - a)
            }
        };
        event.clamp(0.0, self.events as f64)
    }

    fn step(&self, step: usize) -> (f64, f64) {
        let at = |i: usize| self.bounds.get(i).copied().unwrap_or(self.events) as f64;
        (at(step), at(step + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::analyze::steps::Step;

    fn step(start: usize, end: usize) -> Step {
        Step {
            step: Some(0),
            start,
            end,
            allocated_start: None,
            allocated_end: None,
            reserved_end: None,
            sampled_peak: None,
            high_water: None,
            reserved_peak: None,
        }
    }

    #[test]
    fn both_axes_map_there_and_back() {
        let steps = [step(0, 10), step(10, 12), step(12, 112)];
        for kind in [AxisKind::Event, AxisKind::Step] {
            let axis = Axis::new(kind, 112, &steps);
            for event in [0.0, 0.5, 9.9, 10.0, 11.0, 12.0, 60.0, 111.5, 112.0] {
                let back = axis.to_event(axis.of_event(event));
                assert!(
                    (back - event).abs() < 1e-9,
                    "{kind:?} {event} came back as {back}"
                );
            }
        }
        let axis = Axis::new(AxisKind::Step, 112, &steps);
        assert_eq!(axis.length(), 3.0);
        assert_eq!(axis.of_event(11.0), 1.5);
        let none = Axis::new(AxisKind::Step, 0, &[]);
        assert_eq!(none.to_event(none.of_event(0.0)), 0.0);
    }
}
