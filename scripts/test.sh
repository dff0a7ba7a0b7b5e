#!/usr/bin/env bash
# Checks that must pass before a change is merged: format, lints, documentation, tests.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    echo "==> $*" >&2
    "$@"
}

step cargo fmt --all --check
step cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --locked
step cargo test --workspace --locked
# Without HiGHS and z3: the features that `make run` builds.
step cargo clippy -p plimsoll-command --no-default-features --all-targets --locked -- -D warnings
step cargo build -p plimsoll-command --no-default-features --locked
# Aside, because the next step puts the full command in its place.
lean=$(realpath "${CARGO_TARGET_DIR:-target}")/plimsoll-lean
cp "${CARGO_TARGET_DIR:-target}/debug/plimsoll" "$lean"
PLIMSOLL_LEAN="$lean" step cargo test --workspace --locked --test all features::
