//! Writers: tables into the formats of others.

pub mod runtime_report;
