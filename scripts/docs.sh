#!/usr/bin/env bash
# Builds the book as target/book/index.html. Installs mdbook into target/tools if it is not installed yet.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.5.4
target=${CARGO_TARGET_DIR:-target}
if command -v mdbook >/dev/null 2>&1; then
    mdbook=mdbook
else
    mdbook=$target/tools/bin/mdbook
    if [ ! -x "$mdbook" ]; then
        echo "installing mdbook $version into $target/tools (takes a few minutes, only once)" >&2
        cargo install --locked --quiet --no-default-features --features search --root "$target/tools" \
            "mdbook@$version"
    fi
fi

# A warning is an error: broken links and missing pages are reported as warnings.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$mdbook" build docs --dest-dir "$(mkdir -p "$target/book" && realpath "$target/book")" 2>&1 | tee "$log" >&2
if grep -qE 'WARN|ERROR' "$log"; then
    echo "the book has warnings" >&2
    exit 1
fi
echo "$target/book/index.html"
