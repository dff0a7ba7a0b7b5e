#!/usr/bin/env bash
# Regenerates the records in results/, about a quarter of an hour in all:
#   benchmark    every heuristic and the default exact solver on the embedded instances and, where PLIMSOLL_CORPORA is
#                set, on the real ones
#   scaling      how far ilp, smt and search get on perfect packings of 20 to 200 buffers
#   ablation     what each part of ilp, smt and search buys on perfect packings of 100 buffers
# With a word, only that record: scripts/results.sh ablation
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked --workspace
binary="${CARGO_TARGET_DIR:-target}/release/plimsoll"
prefix="results/$(date -u +%Y-%m-%d)-$(uname -m)"
only=${1:-}

record() {
    local name=$1
    shift
    if [ -z "$only" ] || [ "$only" = "$name" ]; then
        "$binary" bench "$@" --out "$prefix-$name"
    fi
}

variants=$("$binary" list --json | grep -o '"name":"[a-z]*:[a-z-]*"' | cut -d'"' -f4 | paste -sd, -)

record benchmark --time-limit 5
record scaling scaling --problems offsets --solvers search,ilp,smt --time-limit 20
record ablation ablation --problems offsets --solvers "search,ilp,smt,$variants" --time-limit 5
