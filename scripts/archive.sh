#!/usr/bin/env bash
# Builds the archives of a release, and checks them in an environment without Rust.
#
#   scripts/archive.sh [OPTION..]   options of Cargo select features of the command: --features png
#
# Writes into the folder `archives` of the build, each with a file of its SHA-256 checksum:
#
#   plimsoll-VERSION-TARGET.tar.gz      the commands, shell completions, manual pages
#   libplimsoll-VERSION-TARGET.tar.gz   the C library (not on Windows)
set -euo pipefail
shopt -s nullglob nocaseglob
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
export PROFILE=${PROFILE:-release}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
host=$(rustc -vV | sed -n 's/^host: //p')
cargo_home=${CARGO_HOME:-$HOME/.cargo}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
out=$target/archives
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
features=(--no-default-features "$@")
exe=
case "$host" in *windows*) exe=.exe ;; esac

# Internal errors name source files. Their paths must not depend on the folder of the build.
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=%s\x1f--remap-path-prefix=%s=%s' \
    "$cargo_home" /cargo "$PWD" /plimsoll)
export CARGO_ENCODED_RUSTFLAGS

checksum() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

# Prints `NAME vVERSION|LICENCE` for each package of another project that is linked. Those of this project have a
# path in parentheses.
linked_packages() {
    cargo tree --locked "$@" --edges normal,no-proc-macro --prefix none --no-dedupe --format '{p}|{l}' |
        grep -v '^[^|]* (' | sort -u
}

# Writes the licences of the linked packages to a file: a list, then each text once, with the packages that
# contain it. The further arguments select the package and its features.
list_licences() {
    local to=$1 texts=$folder/texts manifests package licence source file hash remark
    mkdir "$texts"
    manifests=$(cargo metadata --locked --format-version 1 --filter-platform "$host" |
        grep -o '"manifest_path":"[^"]*"' | cut -d'"' -f4 | sed 's|\\\\|/|g')
    printf 'This archive contains code of the Rust standard library and of these packages:\n\n' >"$to"
    while IFS='|' read -r package licence; do
        source=$(grep "/${package/ v/-}/Cargo.toml$" <<<"$manifests")
        remark=' (the package contains no text)'
        for file in "${source%/*}"/{licen[cs]e,copying,notice,unlicense}*; do
            [ -f "$file" ] || continue
            hash=$(checksum <"$file" | cut -d' ' -f1)
            [ -e "$texts/$hash" ] || echo "$hash" >>"$texts/order"
            cp "$file" "$texts/$hash"
            echo "$package" >>"$texts/$hash.packages"
            remark=
        done
        echo "$package: $licence$remark" >>"$to"
    done < <(linked_packages "${@:2}")
    while read -r hash; do
        printf '\n----------------------------------------\n'
        sed 's/$/:/' "$texts/$hash.packages"
        printf '\n'
        cat "$texts/$hash"
    done <"$texts/order" >>"$to"
    rm -rf "$texts"
}

# Adds licences and the first page to an archive. The further arguments are those of `list_licences`.
document() {
    local to=$1/share/doc/$2 library
    mkdir -p "$to"
    cp LICENSE-MIT LICENSE-APACHE README.md "$to/"
    list_licences "$to/THIRD-PARTY.txt" "${@:3}"
    library=$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html
    if [ -f "$library" ]; then
        cp "$library" "$to/RUST-LIBRARY.html"
    else
        echo "$library does not exist: the archive lacks the licences of the Rust standard library" >&2
    fi
}

# Packs a folder. The files of the same commit differ only if the programs in them do.
pack() {
    local name=$1 tar options=()
    tar=$(command -v gtar || echo tar)
    if "$tar" --version | grep -q 'GNU tar'; then
        options=(--sort=name "--mtime=@$epoch" --owner=0 --group=0 --numeric-owner "--mode=u=rwX,go=rX" --format=ustar)
    fi
    mkdir -p "$out"
    "$tar" ${options[@]+"${options[@]}"} -C "$folder" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
    (cd "$out" && checksum "$name.tar.gz" >"$name.tar.gz.sha256")
}

pack_command() {
    local name=plimsoll-$version-$host program
    local root=$folder/$name
    cargo build --profile "$PROFILE" --locked --package plimsoll-command "${features[@]}"
    mkdir -p "$root"/bin "$root"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
    for program in plimsoll plimsoll-minimalloc; do
        cp "$target/$PROFILE/$program$exe" "$root/bin/"
    done
    program=$root/bin/plimsoll$exe
    "$program" completions bash >"$root/share/bash-completion/completions/plimsoll"
    "$program" completions zsh >"$root/share/zsh/site-functions/_plimsoll"
    "$program" completions fish >"$root/share/fish/vendor_completions.d/plimsoll.fish"
    "$program" man "$root/share/man/man1"
    document "$root" plimsoll --package plimsoll-command "${features[@]}"
    pack "$name"
}

pack_library() {
    local name=libplimsoll-$version-$host
    scripts/c.sh install "$folder/$name"
    document "$folder/$name" libplimsoll --package plimsoll-capi
    pack "$name"
}

# Unpacks an archive into an empty folder, verifies its checksum, and looks for paths of this machine.
unpack() {
    mkdir -p "$folder/$1" "$folder/home"
    (cd "$out" && checksum -c "$2.tar.gz.sha256" >&2)
    tar -xzf "$out/$2.tar.gz" -C "$folder/$1" --strip-components=1
    if grep -rlF -e "$cargo_home" -e "$PWD" "$folder/$1"; then
        echo "these files contain paths of the machine that built them" >&2
        exit 1
    fi
}

# Runs a command with no environment but a search path without Rust.
clean() {
    local path='' place
    while read -r place; do
        [ -x "$place/cargo$exe" ] || [ -x "$place/rustc$exe" ] || path=$path:$place
    done < <(tr : '\n' <<<"$PATH")
    env -i HOME="$folder/home" PATH="${path#:}" ${SYSTEMROOT:+SYSTEMROOT="$SYSTEMROOT"} "$@"
}

check_command() {
    local root=$folder/command page
    unpack command "plimsoll-$version-$host"
    mkdir "$folder/empty"
    sed -n '/as `example.12.csv`:$/,/^```$/p' "$root/share/doc/plimsoll/README.md" | sed '1,3d;$d' \
        >"$folder/empty/example.12.csv"
    (
        cd "$folder/empty"
        PATH=$root/bin:$PATH
        [[ $(clean plimsoll --version) == "plimsoll $version ("* ]]
        clean plimsoll solve example.12.csv --output layout.csv --certificate proof.json
        clean plimsoll verify example.12.csv layout.csv --certificate proof.json
        clean plimsoll-minimalloc --capacity=12 --input=example.12.csv --output=minimalloc.csv
        clean bash -c 'source "$1" && complete -p plimsoll' - "$root/share/bash-completion/completions/plimsoll"
        ! command -v zsh >/dev/null || zsh -n "$root/share/zsh/site-functions/_plimsoll"
        ! command -v fish >/dev/null || fish -n "$root/share/fish/vendor_completions.d/plimsoll.fish"
    )
    [ -s "$root/share/man/man1/plimsoll-solve.1" ]
    ! command -v groff >/dev/null || for page in "$root"/share/man/man1/*.1; do
        if [ -n "$(groff -man -ww -z "$page" 2>&1 | tee >(cat >&2))" ]; then
            echo "$page: invalid manual page" >&2
            exit 1
        fi
    done
}

check_library() {
    unpack library "libplimsoll-$version-$host"
    clean bash scripts/c.sh check "$folder/library"
}

# Prints sizes in bytes, and the oldest glibc with which the programs run.
report() {
    local file glibc
    for file in "$out"/*.gz "$folder"/command/bin/* "$folder"/library/lib/libplimsoll.*; do
        [ -L "$file" ] || echo "$(basename "$file"): $(($(wc -c <"$file"))) bytes"
    done
    command -v objdump >/dev/null || return 0
    for file in "$folder"/command/bin/plimsoll "$folder"/library/lib/libplimsoll.so.[0-9]; do
        glibc=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
        echo "$(basename "$file"): needs ${glibc:-no glibc}"
    done
}

rm -rf "$out"
pack_command
[ -n "$exe" ] || pack_library
check_command
[ -n "$exe" ] || check_library
report
