#!/bin/sh
# Runs every test, those in a real browser included.
cd "$(dirname "$0")/.."
. .ci/setup.sh
need_debian cc build-essential
need_debian chromium chromium
need_debian chromedriver chromium-driver
need_debian python3 python3
need_rust
say "building and testing (five to ten minutes the first time on two cores)"
cargo test --locked --workspace --features viewer/snapshot "$@"
# What the page of a runtime report is made of stands without snapshots too.
cargo test --locked --package report "$@"
# The probe of CUDA devices: on a machine without one it must say so.
cargo test --locked --package collector --features cuda --lib "$@"
