#!/bin/sh
# Lays the Python package out as files, for machines without pip or network:
#   collector/python/stage.sh OUT
# OUT/memscope is the package with its native half, OUT/bin/memscope the command. There:
#   PYTHONPATH=OUT python3 train.py        or        OUT/bin/memscope run train.py
# The command is inside the native half with the viewer; SITE_SKIP_VIEWER=1 leaves the viewer out, and
# STAGE_FEATURES="--no-default-features" the command.
set -eu
out=${1:?usage: stage.sh OUT}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/bin"
out=$(cd "$out" && pwd)
# shellcheck disable=SC2086
(cd "$here/../.." && cargo build --locked --release --package memscope-python ${STAGE_FEATURES:-})
target=${CARGO_TARGET_DIR:-$here/../../target}
rm -rf "$out/memscope"
cp -R "$here/memscope" "$out/memscope"
find "$out/memscope" -name __pycache__ -prune -exec rm -rf {} +
rm -f "$out/memscope"/_native*.so
cp "$target/release/lib_native.so" "$out/memscope/_native.abi3.so"
strip --strip-unneeded "$out/memscope/_native.abi3.so" 2>/dev/null || true
cat > "$out/bin/memscope" <<'EOF'
#!/bin/sh
# The command of the package beside.
here=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
exec "${MEMSCOPE_PYTHON:-python3}" -m memscope "$@"
EOF
chmod +x "$out/bin/memscope"
echo "$out"
