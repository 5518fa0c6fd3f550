//! What views are made of.

mod actions;
mod header;
mod help;
mod table;
mod tabs;

pub use actions::{ChartActions, TableActions};
pub use header::Header;
pub(crate) use header::{toggle_lang, toggle_theme};
pub use help::Help;
pub use table::{DataTable, Table, Tree};
pub use tabs::Tabs;
