#!/usr/bin/env bash
# Builds and publishes a release. The version is that of Cargo.toml.
#
#   scripts/release.sh check TAG           fails unless TAG is vVERSION, and CHANGELOG.md and
#                                          CITATION.cff describe the version
#   scripts/release.sh build               builds the archives and the wheel of this system in target/upload
#   scripts/release.sh crates [OPTION..]   publishes all crates that are not on crates.io yet, in the order of
#                                          their dependencies, with these options of Cargo: --dry-run
#   scripts/release.sh page TAG FOLDER     creates the release page of the tag, with all files of the folder
#                                          and their checksums; needs the command gh
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)

check() { # tag
    if [ "$1" != "v$version" ]; then
        echo "the tag is '$1', but the version in Cargo.toml is $version" >&2
        exit 1
    fi
    if ! grep -q "^## \[$version\]" CHANGELOG.md; then
        echo "CHANGELOG.md has no section '## [$version]'" >&2
        exit 1
    fi
    if ! grep -q "^version: $version$" CITATION.cff || ! grep -q '^date-released: ' CITATION.cff; then
        echo "CITATION.cff must contain 'version: $version' and 'date-released: YYYY-MM-DD'" >&2
        exit 1
    fi
}

build() {
    rm -rf "$target/upload"
    mkdir -p "$target/upload"
    # The glibc of Debian 10 and of every later distribution runs the wheel.
    if [ "$(uname)" = Linux ]; then export PLIMSOLL_GLIBC=2.28; fi
    bash scripts/python.sh wheel
    bash scripts/archive.sh
    cp "$target"/wheels/*.whl "$target"/archives/* "$target/upload"
}

# Cargo fails if one of the crates is published already, as after an interrupted run.
crates() { # options of Cargo
    local names name skipped=(--exclude plimsoll-python --exclude plimsoll-capi) left=0
    names=$(cargo metadata --no-deps --format-version 1 |
        jq --raw-output '.packages[] | select(.publish == null).name')
    for name in $names; do
        if cargo info --quiet "$name@$version" --registry crates-io >/dev/null 2>&1; then
            echo "$name $version is published already" >&2
            skipped+=(--exclude "$name")
        else
            left=$((left + 1))
        fi
    done
    # `make package` has built the packed crates. Here, the command would be built with HiGHS and z3.
    if [ "$left" -gt 0 ]; then cargo publish --workspace "${skipped[@]}" --locked --no-verify "$@"; fi
}

page() { # tag, folder
    (cd "$2" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS)
    # The section of the version in the changelog.
    sed -n "/^## \[$version\]/,/^## \[/p" CHANGELOG.md | sed '1d;/^## \[/d' |
        gh release create "$1" --verify-tag --title "Plimsoll $version" --notes-file - "$2"/*
}

case "${1:-} $#" in
"check 2") check "$2" ;;
"build 1") build ;;
crates\ *) crates "${@:2}" ;;
"page 3") page "$2" "$3" ;;
*)
    echo "usage: scripts/release.sh check TAG | build | crates [OPTION..] | page TAG FOLDER" >&2
    exit 2
    ;;
esac
