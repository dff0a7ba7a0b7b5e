#!/usr/bin/env bash
# Runs the checks that must pass before a change is merged: format, lints, documentation and tests.
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
step bash scripts/python.sh
# Runs the checks without HiGHS and z3, that is, with the features that `make run` builds.
step cargo clippy -p plimsoll-command --no-default-features --all-targets --locked -- -D warnings
step cargo build -p plimsoll-command --no-default-features --locked
# Saves the binary, because the next step overwrites it with the full command.
lean=$(realpath "${CARGO_TARGET_DIR:-target}")/plimsoll-lean
cp "${CARGO_TARGET_DIR:-target}/debug/plimsoll" "$lean"
PLIMSOLL_LEAN="$lean" step cargo test --workspace --locked --test all features::
