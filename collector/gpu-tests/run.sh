#!/usr/bin/env bash
# Runs the checks of `memscope record` on a machine with a GPU and PyTorch.
#
#   collector/gpu-tests/run.sh BINDIR
#
# BINDIR holds what was built elsewhere: `memscope`, or `libmemscope.so` alone (cargo build --release
# -p collector), or both. Nothing is built or downloaded here. PYTHON names another Python.
set -euo pipefail

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: $0 BINDIR (the folder with memscope or libmemscope.so)" >&2
    exit 2
fi
if [ ! -e "$1/memscope" ] && [ ! -e "$1/libmemscope.so" ]; then
    echo "$1: neither memscope nor libmemscope.so is there" >&2
    exit 2
fi
exec "${PYTHON:-python3}" "$(dirname "$0")/driver_cuda.py" "$1"
