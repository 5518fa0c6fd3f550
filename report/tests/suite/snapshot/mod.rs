//! Memory snapshots: reader, tables, replay and analyses.

mod agreement;
mod analyses;
mod diff;
mod exact;
mod fields;
pub mod fixtures;
mod hostile;
mod make;
mod merged;
mod moments;
mod profiler;
mod properties;
mod readers;
mod state;
