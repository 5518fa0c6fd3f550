#![no_main]

// The test suite runs the same bodies without libFuzzer.
#[allow(dead_code)]
#[path = "../../tests/suite/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::snapshot(bytes));
