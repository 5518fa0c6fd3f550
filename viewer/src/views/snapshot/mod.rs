//! The tabs of a memory snapshot, one a file.

mod entries;
mod held;
mod lifetimes;
mod lines;
mod live;
mod recorded;
mod series;
mod state;

pub use entries::Entries;
pub use lifetimes::Lifetimes;
pub use lines::Lines;
pub use live::Live;
pub use recorded::{ByName, DeviceView};
pub use series::Series;
pub use state::StateView;

use std::sync::Arc;

use leptos::prelude::*;
use report::analyze::snapshot::{Analysis, Instant};

use crate::state::State;

impl State {
    /// The snapshot of the rank that is shown.
    #[must_use]
    pub fn snapshot(self) -> Option<Arc<Analysis>> {
        self.data.with(|d| d.as_ref()?.snapshot())
    }

    /// The instant that is looked at.
    #[must_use]
    pub fn instant(self) -> Option<Instant> {
        let snapshot = self.snapshot()?;
        let chosen = self.shown.with(|s| s.at.clone());
        // What another report's link says is no instant of this one.
        Some(
            snapshot
                .instant(&chosen)
                .unwrap_or_else(|_| snapshot.first_instant()),
        )
    }

    /// Looks at another instant.
    pub fn set_instant(self, instant: Instant) {
        self.shown.update(|s| s.at = instant.to_string());
    }
}
