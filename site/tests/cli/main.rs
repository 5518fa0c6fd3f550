//! The `memscope` binary, run as its users run it.
//!
//! Tests that look into pages need the embedded viewer, so the crate is tested as it is built by
//! default, without `SITE_SKIP_VIEWER`; with it they say so and check the refusal instead.
//! `MEMSCOPE_BLESS=1` writes the golden files anew.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod compare;
mod errors;
mod exports;
mod folders;
mod golden;
mod inputs;
mod names;
mod output;
mod page;
mod record;
mod recorded;
mod render;
mod shell;
mod summary;
mod support;
mod verbs;
mod viz;
