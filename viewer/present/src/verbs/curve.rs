//! [`CurveRows`]: memory after every entry.

use report::analyze::snapshot::replay::Curve;
use report::analyze::snapshot::{Analysis, Named};
use report::model::snapshot::TraceId;

use crate::rows::{BLANK, Cell, Column, Rows, figure, text};
use crate::words::{Lang, Word};

/// Requested, allocated and reserved bytes after every entry; the first row is before them all.
#[derive(Debug)]
pub struct CurveRows<'a>(pub &'a Analysis);

impl Rows for CurveRows<'_> {
    fn name(&self) -> &'static str {
        "curve"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("entry", Word::EntryHead),
                figure("time_ns", Word::TimeHead),
                figure("requested", Word::Requested),
                figure("allocated", Word::Allocated),
                figure("reserved", Word::Reserved),
            ]
        }
    }

    fn len(&self) -> usize {
        self.0.replay.events().len() + 1
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let replay = &self.0.replay;
        let after = row.checked_sub(1);
        let at = after.map(|i| TraceId(replay.first + i as u32));
        let value = |curve: &Curve| {
            Cell::Bytes(match after {
                Some(i) => curve.after.get(i).copied(),
                None => Some(curve.start),
            })
        };
        match column {
            0 => Cell::Text(
                at.map_or_else(|| "start".into(), |t| self.0.name(Named::Event(t)).into()),
            ),
            1 => {
                let time = at.and_then(|t| self.0.snapshot().events.time_ns.get(t.index()));
                Cell::Count(time.and_then(|t| i64::try_from(t).ok()))
            }
            2 => value(&replay.requested),
            3 => value(&replay.allocated),
            4 => value(&replay.reserved),
            _ => BLANK,
        }
    }
}
