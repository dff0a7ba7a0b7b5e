#!/usr/bin/env bash
# Runs the checks that must pass before a change is merged.
#   scripts/test.sh        format, lints and tests: one build for lints and one for all tests
#   scripts/test.sh long   tests that take minutes, documentation, wheel, packages, the command without HiGHS and z3
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

step() {
    echo "==> $*" >&2
    "$@"
}

passed() { # the checks, in a few words
    echo "passed in $((SECONDS / 60)) min $((SECONDS % 60)) s: $*" >&2
}

case "${1:-}" in
"")
    step cargo fmt --all --check
    step cargo clippy --workspace --all-targets --locked -- -D warnings
    step cargo test --workspace --locked
    PLIMSOLL=$target/debug/plimsoll step bash scripts/action-test.sh
    step bash scripts/workflows.sh
    step bash scripts/python.sh
    passed format, lints, tests, action, workflows, Python package
    ;;
long)
    PLIMSOLL_VERIPB=$(bash scripts/veripb.sh path)
    export PLIMSOLL_VERIPB
    RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --locked
    step cargo test --workspace --release --locked -- --include-ignored
    # The features that `make run` builds.
    step cargo clippy -p plimsoll-command --no-default-features --all-targets --locked -- -D warnings
    step cargo build -p plimsoll-command --release --no-default-features --locked
    # Another build of the command would overwrite it.
    cp "$target/release/plimsoll" "$target/plimsoll-lean"
    PLIMSOLL_LEAN=$target/plimsoll-lean step cargo test --workspace --release --locked --test all features::
    step bash scripts/python.sh wheel
    step bash scripts/package.sh
    passed documentation, all tests, lints and tests without HiGHS and z3, wheel, packages
    ;;
*)
    echo "usage: scripts/test.sh [long]" >&2
    exit 2
    ;;
esac
