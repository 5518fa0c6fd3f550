//! The tabs' contents, one a file.

mod about;
#[cfg(feature = "snapshot")]
mod compare;
mod modules;
mod peak;
mod phases;
#[cfg(feature = "snapshot")]
pub mod snapshot;
mod steps;
mod tensors;
mod top;

use std::sync::Arc;

use leptos::prelude::*;
use present::rows::Rows;

use crate::components::Table;
use crate::data::RankData;
use crate::state::State;

pub use about::About;
#[cfg(feature = "snapshot")]
pub use compare::Compare;
pub use modules::ModulesView;
pub use peak::Peak;
pub use phases::Phases;
pub use steps::Steps;
pub use tensors::Tensors;
pub use top::Top;

/// A table made anew for each rank.
fn table<R: Rows + 'static>(
    state: State,
    make: impl Fn(&Arc<RankData>) -> R + Send + Sync + 'static,
) -> Memo<Table> {
    Memo::new(move |_| {
        let rows: Arc<dyn Rows> = match state.data.get() {
            Some(data) => Arc::new(make(&data)),
            None => Arc::new(present::rows::FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    })
}
