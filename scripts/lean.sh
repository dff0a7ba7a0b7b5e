#!/usr/bin/env bash
# Tests what needs neither HiGHS nor z3. Linux, macOS and Windows run the same tests.
#
#   scripts/lean.sh           the tests of all crates except the Python package and the C library
#   scripts/lean.sh oldest    builds the crates with the oldest Rust that Cargo.toml declares
set -euo pipefail
cd "$(dirname "$0")/.."
lean=(--workspace --no-default-features --locked)

case "${1:-}" in
"") cargo test "${lean[@]}" --exclude plimsoll-python --exclude plimsoll-capi ;;
oldest)
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    if ! rustup toolchain list | grep "^$oldest-" >/dev/null; then
        rustup toolchain install "$oldest" --profile minimal
    fi
    # Tests may need a newer Rust, because their dependencies do.
    cargo "+$oldest" check "${lean[@]}" --lib --bins
    ;;
*)
    echo "usage: scripts/lean.sh [oldest]" >&2
    exit 2
    ;;
esac
