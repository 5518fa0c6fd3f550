//! What is selected, and which rows of other views show it too.

use present::rows::Subject;
use report::analyze::modules::ModuleId;
use report::model::StringId;

use crate::data::RankData;

/// What is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// One event.
    Event(usize),
    /// A module with everything below it.
    Module(ModuleId),
    /// A place: all events of this module string and phase.
    Place(StringId, StringId),
    /// A phase.
    Phase(StringId),
    /// A step: its index among the steps.
    Step(usize),
}

impl Selection {
    /// What selecting a row means, by what the row is about.
    #[must_use]
    pub fn of(subject: Subject, data: &RankData) -> Option<Self> {
        match subject {
            Subject {
                node: Some(node), ..
            } => Some(Self::Module(node)),
            Subject {
                event: Some(e),
                single: true,
                ..
            } => Some(Self::Event(e)),
            Subject {
                module: Some(m),
                phase: Some(p),
                ..
            } => Some(Self::Place(m, p)),
            Subject {
                module: Some(m), ..
            } => data.modules().of(m).map(Self::Module),
            Subject { phase: Some(p), .. } => Some(Self::Phase(p)),
            Subject {
                event: Some(e),
                step: Some(_),
                ..
            } => data
                .timeline
                .steps
                .iter()
                .position(|s| (s.start..s.end).contains(&e))
                .map(Self::Step),
            Subject { event, .. } => event.map(Self::Event),
        }
    }

    /// Whether an event belongs to the selection.
    #[must_use]
    pub fn has_event(self, event: usize, data: &RankData) -> bool {
        let e = &data.rank.events;
        match self {
            Self::Event(i) => i == event,
            Self::Module(id) => e
                .module
                .get(event)
                .and_then(|&m| data.modules().of(m))
                .is_some_and(|m| below(m, id, data)),
            Self::Place(m, p) => e.module.get(event) == Some(&m) && e.phase.get(event) == Some(&p),
            Self::Phase(p) => e.phase.get(event) == Some(&p),
            Self::Step(n) => data
                .timeline
                .steps
                .get(n)
                .is_some_and(|s| (s.start..s.end).contains(&event)),
        }
    }

    /// Whether a row of any view shows something of the selection.
    #[must_use]
    pub fn has_row(self, subject: Subject, data: &RankData) -> bool {
        if subject.single {
            return subject.event.is_some_and(|e| self.has_event(e, data));
        }
        let row = |i: usize| data.rank.events.row(i);
        if let Some(node) = subject.node {
            return match self {
                Self::Event(e) => data.modules().of(row(e).module) == Some(node),
                Self::Module(id) => below(node, id, data),
                Self::Place(m, _) => data.modules().of(m) == Some(node),
                Self::Phase(_) | Self::Step(_) => false,
            };
        }
        let module = |m: StringId| data.modules().of(m);
        match self {
            Self::Event(e) => {
                let r = row(e);
                let step = || {
                    let of = |i: usize| {
                        data.timeline
                            .steps
                            .iter()
                            .position(|s| (s.start..s.end).contains(&i))
                    };
                    subject.event.is_some_and(|s| of(s) == of(e))
                };
                match subject {
                    Subject {
                        module: Some(m),
                        phase: Some(p),
                        ..
                    } => m == r.module && p == r.phase,
                    Subject {
                        module: Some(m), ..
                    } => module(m).is_some() && module(m) == module(r.module),
                    Subject { phase: Some(p), .. } => p == r.phase,
                    Subject { step: Some(_), .. } => step(),
                    Subject { event, .. } => event == Some(e),
                }
            }
            Self::Module(id) => subject
                .module
                .and_then(module)
                .is_some_and(|m| below(m, id, data)),
            Self::Place(m, p) => match subject {
                Subject {
                    module: Some(sm),
                    phase: Some(sp),
                    ..
                } => sm == m && sp == p,
                Subject {
                    module: Some(sm), ..
                } => module(sm).is_some() && module(sm) == module(m),
                Subject {
                    phase: Some(sp), ..
                } => sp == p,
                _ => false,
            },
            Self::Phase(p) => subject.phase == Some(p),
            Self::Step(n) => {
                subject.step.is_some()
                    && data
                        .timeline
                        .steps
                        .get(n)
                        .is_some_and(|s| subject.event == Some(s.start))
            }
        }
    }

    /// The event that shows the selection best on the chart.
    #[must_use]
    pub fn event(self, data: &RankData) -> Option<usize> {
        match self {
            Self::Event(e) => Some(e),
            Self::Module(id) => data.modules().get(id).and_then(|m| m.event),
            Self::Step(n) => data.timeline.steps.get(n).map(|s| s.start),
            Self::Place(..) | Self::Phase(_) => {
                let e = &data.rank.events;
                (0..e.len())
                    .filter(|&i| self.has_event(i, data))
                    .max_by_key(|&i| (e.allocated_after.get(i), std::cmp::Reverse(i)))
            }
        }
    }
}

/// Whether a module is another or lies below it.
fn below(mut module: ModuleId, above: ModuleId, data: &RankData) -> bool {
    loop {
        if module == above {
            return true;
        }
        match data.modules().get(module).and_then(|m| m.parent) {
            Some(parent) => module = parent,
            None => return false,
        }
    }
}
