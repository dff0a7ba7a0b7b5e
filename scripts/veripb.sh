#!/usr/bin/env bash
# Installs VeriPB, a checker of pseudo-Boolean proofs, and checks translated proofs of lower bounds with it.
#
#   scripts/veripb.sh path   installs the program if it is missing, and prints its path
#   scripts/veripb.sh test   translates proofs with proof/oracle/veripb.py and checks them
#
# PLIMSOLL_VERIPB sets the path of an installed VeriPB. PROFILE is the profile of the test build.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=3.0.2

path() {
    if [ -n "${PLIMSOLL_VERIPB:-}" ]; then
        echo "$PLIMSOLL_VERIPB"
        return
    fi
    local program=$target/tools/bin/veripb
    if [ "$("$program" --version 2>/dev/null | tail -n 1)" != "veripb $version" ]; then
        cargo install veripb --version "$version" --locked --quiet --root "$target/tools" >&2
    fi
    echo "$program"
}

case "${1:-}" in
path)
    path
    ;;
test)
    PLIMSOLL_VERIPB=$(path)
    export PLIMSOLL_VERIPB
    cargo test --profile "${PROFILE:-first}" --locked --package plimsoll-solvers --lib veripb \
        -- --include-ignored --nocapture
    ;;
*)
    echo "usage: scripts/veripb.sh path | test" >&2
    exit 2
    ;;
esac
