# Sourced by the commands of the README: brings what they need. Says what it does; does nothing
# where everything is there.
set -eu

say() { printf '\033[1m» %s\033[0m\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    say "please run as root: $*"; exit 1
  fi
}

# need_debian COMMAND PACKAGE...: installs the packages unless the command is there.
need_debian() {
  command=$1; shift
  if command -v "$command" >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null; then
    say "'$command' is missing and this is no Debian-like system: install $*"; exit 1
  fi
  say "installing $*"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

need_rust() {
  [ -f "${CARGO_HOME:-$HOME/.cargo}/env" ] && . "${CARGO_HOME:-$HOME/.cargo}/env"
  if ! command -v rustup >/dev/null; then
    say "rustup is missing: see https://rustup.rs"; exit 1
  fi
  # The toolchain and target that rust-toolchain.toml names; rustup does not always add them itself.
  channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
  if ! rustup toolchain list | grep -q "^$channel-"; then
    say "installing Rust $channel"
    rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy
  fi
  if ! rustup target list --installed --toolchain "$channel" | grep -qx wasm32-unknown-unknown; then
    say "adding the target wasm32-unknown-unknown"
    rustup target add --toolchain "$channel" wasm32-unknown-unknown
  fi
}
