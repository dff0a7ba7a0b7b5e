#!/usr/bin/env bash
# Packs the published crates, and checks them from the packed files alone: the library builds and its examples
# run, the documentation builds as on docs.rs, and the command installs and answers the first example of the
# README in an empty folder.
#
#   scripts/package.sh                    packs and checks everything
#   scripts/package.sh list [OPTION..]    packs with these options of Cargo, and checks only the sizes
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
limit=$((2 << 20))

# Packs the crates. The Python package and the C library are released in other forms.
pack() {
    rm -f "$target"/package/*.crate
    cargo package --workspace --exclude plimsoll-python --exclude plimsoll-capi --no-verify --locked "$@"
    local crate bytes
    for crate in "$target"/package/*.crate; do
        bytes=$(wc -c <"$crate")
        echo "$(basename "$crate"): $bytes bytes" >&2
        if [ "$bytes" -gt "$limit" ]; then
            echo "the package is larger than $limit bytes" >&2
            exit 1
        fi
    done
}

# Unpacks the crates into a workspace of their own, so that nothing else of this one is found.
check() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    local crate name
    printf '[workspace]\nresolver = "3"\nmembers = ["plimsoll*"]\n\n[patch.crates-io]\n' >"$folder/Cargo.toml"
    for crate in "$target"/package/*.crate; do
        tar -xzf "$crate" -C "$folder"
        name=$(basename "$crate" .crate)
        echo "${name%-*} = { path = \"$name\" }" >>"$folder/Cargo.toml"
    done
    cp Cargo.lock "$folder"
    export CARGO_TARGET_DIR=$target/packed
    (cd "$folder" && cargo test --doc --package plimsoll)
    # As docs.rs builds it: without the network and with the features in the metadata.
    export DOCS_RS=1 RUSTDOCFLAGS='-D warnings'
    (cd "$folder" && cargo doc --offline --no-deps --workspace --exclude plimsoll-command &&
        cargo doc --offline --no-deps --package plimsoll-command --no-default-features)
    unset DOCS_RS RUSTDOCFLAGS
    cargo install --locked --path "$folder"/plimsoll-command-* --no-default-features --root "$folder/installed"
    mkdir "$folder/empty"
    sed -n '/as `example.12.csv`:$/,/^```$/p' README.md | sed '1,3d;$d' >"$folder/empty/example.12.csv"
    (cd "$folder/empty" && "$folder/installed/bin/plimsoll" solve example.12.csv)
}

case "${1:-}" in
"")
    pack
    check
    ;;
list) pack "${@:2}" ;;
*)
    echo "usage: scripts/package.sh [list [OPTION..]]" >&2
    exit 2
    ;;
esac
