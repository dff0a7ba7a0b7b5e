#!/usr/bin/env bash
# Checks the dependencies against deny.toml with cargo-deny, which it installs into target/tools if missing.
#
#   scripts/deny.sh              licences, duplicate versions and sources; needs no network
#   scripts/deny.sh advisories   known vulnerabilities; downloads the database of advisories
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=0.20.2

case "${1:-}" in
"") checks=(licenses bans sources) ;;
advisories) checks=(advisories) ;;
*)
    echo "usage: scripts/deny.sh [advisories]" >&2
    exit 2
    ;;
esac
export PATH=$target/tools/bin:$PATH
if [ "$(cargo-deny --version 2>/dev/null)" != "cargo-deny $version" ]; then
    cargo install --locked --quiet cargo-deny --version "$version" --root "$target/tools"
fi
for manifest in Cargo.toml fuzz/Cargo.toml; do
    cargo-deny --manifest-path "$manifest" --config deny.toml --locked check "${checks[@]}"
done
