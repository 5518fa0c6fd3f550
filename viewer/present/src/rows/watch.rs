//! [`WatchRows`]: running ranks, as a recorder left them a moment ago.

use super::{Cell, Column, Rows, figure, text};
use crate::units::seconds;
use crate::words::{Lang, Word};

/// How a rank stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It writes.
    Running,
    /// It has not written for long.
    Stalled,
    /// Its process is gone, and it did not say that it was done.
    Died,
    /// It said how it ended.
    Ended(String),
}

impl Standing {
    /// The word that scripts see.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Stalled => "stalled",
            Self::Died => "died",
            Self::Ended(_) => "ended",
        }
    }
}

/// What is known of a rank. Sizes in bytes, times in ns; `None` is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its number, else its folder.
    pub rank: String,
    /// How it stands.
    pub standing: Standing,
    /// Step.
    pub step: Option<i64>,
    /// Time of the last whole step.
    pub step_ns: Option<u64>,
    /// Phase.
    pub phase: Option<String>,
    /// Allocated.
    pub allocated: Option<u64>,
    /// Reserved.
    pub reserved: Option<u64>,
    /// Highest allocated so far.
    pub peak: Option<u64>,
    /// In use on the device.
    pub device_used: Option<u64>,
    /// In use on the device, as the driver's tool says now.
    pub driver_used: Option<u64>,
    /// In use by other processes, as the driver's tool says now.
    pub others: Option<u64>,
    /// Requests that failed.
    pub ooms: u64,
    /// Since the last record.
    pub age_ns: Option<u64>,
}

/// Ranks.
#[derive(Debug)]
pub struct WatchRows(pub Vec<Watched>);

impl Rows for WatchRows {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("rank", Word::Rank),
                text("state", Word::Standing),
                figure("step", Word::Step),
                text("step_time", Word::StepTime),
                text("phase", Word::Phase),
                figure("allocated", Word::Allocated),
                figure("reserved", Word::Reserved),
                figure("peak", Word::AtPeak),
                figure("device_used", Word::DeviceUsed),
                figure("driver_used", Word::DriverSays),
                figure("others", Word::OtherProcesses),
                figure("ooms", Word::FailedRequests),
                text("age", Word::LastRecord),
            ]
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(r) = self.0.get(row) else {
            return super::BLANK;
        };
        let time = |ns: Option<u64>| Cell::Text(ns.map_or_else(|| "–".to_owned(), seconds).into());
        match column {
            0 => Cell::Text(r.rank.as_str().into()),
            1 => Cell::Text(match &r.standing {
                Standing::Ended(reason) if !reason.is_empty() => reason.as_str().into(),
                other => other.word().to_owned().into(),
            }),
            2 => Cell::Count(r.step),
            3 => time(r.step_ns),
            4 => Cell::Text(r.phase.as_deref().unwrap_or("–").into()),
            5 => Cell::Bytes(r.allocated),
            6 => Cell::Bytes(r.reserved),
            7 => Cell::Bytes(r.peak),
            8 => Cell::Bytes(r.device_used),
            9 => Cell::Bytes(r.driver_used),
            10 => Cell::Bytes(r.others),
            11 => Cell::Count(i64::try_from(r.ooms).ok()),
            12 => time(r.age_ns),
            _ => super::BLANK,
        }
    }
}
