//! The packed page in Debian's Chromium: opened from `file://`, with the network off.
//!
//! Every test has a browser of its own with an empty profile, and fails on any request, on any
//! error in the console and on any dialog; see `e2e::harness`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail by panicking"
)]

mod compare;
mod devices;
mod edges;
mod entries;
mod exports;
mod faults;
mod hosts;
mod injection;
mod keyboard;
mod lifetimes;
mod lines;
mod live;
mod look;
mod memory;
mod numbers;
mod open;
mod pages;
mod recorded;
mod segments;
mod size;
mod state;
mod tables;
mod timeline;
mod trace;
