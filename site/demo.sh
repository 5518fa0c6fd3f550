#!/bin/sh
# Renders the recorded two-rank run into one HTML file and says where it is.
cd "$(dirname "$0")/.."
. .ci/setup.sh
need_debian cc build-essential
need_rust
say "building memscope (about two minutes the first time; the viewer is built inside it, unseen)"
cargo build --locked --release --package site
mkdir -p target/demo
target/release/memscope render tests/fixtures/original_ddp -o target/demo/original_ddp.html
say "open it in any browser: file://$PWD/target/demo/original_ddp.html"
