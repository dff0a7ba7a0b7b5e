#!/usr/bin/env bash
# Runs the fuzz targets with libFuzzer, which needs a nightly compiler. Installs cargo-fuzz into target/tools
# if it is missing. fuzz/corpus keeps the inputs found, and fuzz/artifacts those that fail.
#
#   scripts/fuzz.sh SECONDS [TARGET..]   runs each target, or all targets, for this time
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=0.13.2

if ! [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: scripts/fuzz.sh SECONDS [TARGET..]" >&2
    exit 2
fi
seconds=$1
targets=("${@:2}")
if [ "${#targets[@]}" -eq 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

if command -v rustup >/dev/null && ! rustup toolchain list | grep '^nightly-' >/dev/null; then
    rustup toolchain install nightly --profile minimal
fi
export PATH=$target/tools/bin:$PATH
if [ "$(cargo-fuzz --version 2>/dev/null)" != "cargo-fuzz $version" ]; then
    cargo install --locked --quiet cargo-fuzz --version "$version" --root "$target/tools"
fi
for name in "${targets[@]}"; do
    echo "==> $name, $seconds s" >&2
    mkdir -p "fuzz/corpus/$name"
    cargo +nightly fuzz run "$name" "fuzz/corpus/$name" "fuzz/seeds/$name" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1
done
