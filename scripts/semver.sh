#!/usr/bin/env bash
# Compares the public interfaces of the published crates with those of the last release, which is the newest
# tag vX.Y.Z below HEAD, and fails if the version number does not allow a difference. Without such a tag,
# nothing is checked. Installs cargo-semver-checks into target/tools if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=0.51.0

if ! release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
    echo "skipped: no release tag below HEAD, so there is no interface to keep" >&2
    exit 0
fi
export PATH=$target/tools/bin:$PATH
if [ "$(cargo-semver-checks --version 2>/dev/null)" != "cargo-semver-checks $version" ]; then
    cargo install --locked --quiet cargo-semver-checks --version "$version" --root "$target/tools"
fi
# With the features of the library on docs.rs: neither HiGHS nor z3.
cargo semver-checks --workspace --exclude plimsoll-python --exclude plimsoll-capi --exclude plimsoll-command \
    --default-features --baseline-rev "$release"
