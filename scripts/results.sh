#!/usr/bin/env bash
# Regenerates the records in results/: the default algorithms on the embedded instances and, where PLIMSOLL_CORPORA is
# set, on the real ones. Takes the better part of an hour. Another folder may be named: scripts/results.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-results/$(date -u +%Y-%m-%d)-$(uname -m)-benchmark}
cargo build --release --locked --package plimsoll
binary="${CARGO_TARGET_DIR:-target}/release/plimsoll"
"$binary" bench --time-limit 60 --out "$folder"
