#!/usr/bin/env bash
# Builds or tests the page that plans memory in a browser. Needs Node 20.19 or newer. Installs the packages of
# web/package-lock.json and the Rust target for WASI.
#
#   scripts/web.sh build   builds target/page/plimsoll.html: one file that contains the engine. Updates the
#                          committed files: the page of `view`, and the map of `report`
#   scripts/web.sh test    compares the engine with the native command, and tests the pages in Chromium, which
#                          apt installs if it is missing; PLIMSOLL_CORPORA is the folder of the corpora, and
#                          PLIMSOLL_WRITE_DOCS=1 updates the screenshots of the book
#   scripts/web.sh speed   compares the times of the engine and of the native command on instances A to K of
#                          the corpora
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
command=(--package plimsoll-command --bin plimsoll --no-default-features --locked)
shell=experiments/command/src/commands/view.html
map=experiments/lab/src/report/html/map.html

# Updates the committed file $2 from the file $1 that web/ builds. In CI, fails if they differ.
commit() {
    if cmp --silent "$1" "$2"; then return; fi
    if [ "${CI:-}" = true ]; then
        echo "$2 differs from the file that web/ builds; run make web and commit the file" >&2
        exit 1
    fi
    cp "$1" "$2"
    echo "updated $2; commit it" >&2
}

build() {
    if ! command -v npm >/dev/null; then
        echo "npm is missing. Node 20.19 or newer is required." >&2
        exit 1
    fi
    if command -v rustup >/dev/null; then rustup target add wasm32-wasip1; fi
    # An allocator that grows the memory page by page makes short runs several times slower.
    cargo rustc --target wasm32-wasip1 --profile web "${command[@]}" -- -C link-arg=--initial-memory=$((128 << 20))
    npm --prefix web ci --no-audit --no-fund
    npm --prefix web run check
    npm --prefix web run build
    commit "$target/page/page.html" "$shell"
    commit "$target/page/report/map.html" "$map"
    # Limits the compressed size of the whole page.
    local bytes
    bytes=$(gzip -9 -c "$target/page/plimsoll.html" | wc -c)
    echo "$target/page/plimsoll.html: $bytes bytes compressed" >&2
    if [ "$bytes" -gt $((3 << 20)) ]; then
        echo "the page is larger than 3 MiB" >&2
        exit 1
    fi
}

chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if [ -x "/usr/bin/$name" ]; then return; fi
    done
    if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
        echo "Chromium is missing. Install it with the package manager of this system." >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
}

case "${1:-}" in
build) build ;;
test)
    chromium
    build
    cargo build "${command[@]}"
    export PLIMSOLL_ENGINE=$target/wasm32-wasip1/web/plimsoll.wasm PLIMSOLL_NATIVE=$target/debug/plimsoll
    export PLIMSOLL_PAGE=$target/page/plimsoll.html PLIMSOLL_AXE=$PWD/web/node_modules/axe-core/axe.min.js
    export PLIMSOLL_SHOTS=$target/page/shots
    if [ -n "${PLIMSOLL_WRITE_DOCS:-}" ]; then export PLIMSOLL_SCREENS=$PWD/docs/src/screens; fi
    npm --prefix web test
    ;;
speed)
    build
    cargo build --release "${command[@]}"
    export PLIMSOLL_ENGINE=$target/wasm32-wasip1/web/plimsoll.wasm PLIMSOLL_NATIVE=$target/release/plimsoll
    npm --prefix web run speed
    ;;
*)
    echo "usage: scripts/web.sh build|test|speed" >&2
    exit 2
    ;;
esac
