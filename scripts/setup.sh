#!/usr/bin/env bash
# Installs what a build needs and this machine lacks: on Debian and Ubuntu through apt, elsewhere it says what is
# missing. Silent where nothing is. Asks before it uses sudo; as root or with CI=true it does not ask.
#   scripts/setup.sh         everything: HiGHS and z3 as well
#   scripts/setup.sh first   only what a build without HiGHS and z3 needs: cargo and a C compiler
set -euo pipefail

packages=()
reasons=()

need() { # package, reason
    packages+=("$1")
    reasons+=("$2")
}

have() {
    command -v "$1" >/dev/null 2>&1
}

compiler() {
    local candidate
    for candidate in "${CXX:-}" c++ g++ clang++; do
        if [ -n "$candidate" ] && have "$candidate"; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

# Where bindgen looks for libclang: LIBCLANG_PATH, llvm-config, the usual library folders.
clang_folders() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        if [ -d "$LIBCLANG_PATH" ]; then printf '%s\n' "$LIBCLANG_PATH"; else dirname "$LIBCLANG_PATH"; fi
    fi
    if have "${LLVM_CONFIG_PATH:-llvm-config}"; then
        "${LLVM_CONFIG_PATH:-llvm-config}" --libdir 2>/dev/null || true
    fi
    local folder
    for folder in /usr/lib /usr/lib64 /usr/lib/*-linux-gnu* /usr/lib/llvm-*/lib /usr/lib64/llvm*/lib \
        /usr/local/lib /usr/local/lib64 /usr/local/llvm*/lib; do
        if [ -d "$folder" ]; then printf '%s\n' "$folder"; fi
    done
}

# The library itself, not the C++ one nor the sanitisers' run time.
has_libclang() {
    local folder file
    while IFS= read -r folder; do
        for file in "$folder"/libclang.so "$folder"/libclang.so.* "$folder"/libclang-[0-9]*.so \
            "$folder"/libclang-[0-9]*.so.* "$folder"/libclang.dylib; do
            if [ -e "$file" ]; then return 0; fi
        done
    done < <(clang_folders)
    return 1
}

# The bare library parses nothing without clang's own stddef.h, which another package brings.
has_clang_headers() {
    local file
    if have clang && [ -e "$(clang -print-resource-dir 2>/dev/null)/include/stddef.h" ]; then return 0; fi
    for file in /usr/lib/llvm-*/lib/clang/*/include/stddef.h /usr/lib*/clang/*/include/stddef.h \
        /usr/local/lib*/clang/*/include/stddef.h /usr/local/llvm*/lib/clang/*/include/stddef.h; do
        if [ -e "$file" ]; then return 0; fi
    done
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        for file in "$(clang_folders | head -n 1)"/clang/*/include/stddef.h; do
            if [ -e "$file" ]; then return 0; fi
        done
    fi
    return 1
}

# Header and library, as the compiler finds them.
has_z3() {
    local cxx scratch found=1
    cxx=$(compiler) || return 1
    scratch=$(mktemp -d)
    printf '#include <z3.h>\nint main() { return Z3_L_UNDEF; }\n' >"$scratch/probe.cpp"
    local flags=()
    if [ -n "${Z3_LIBRARY_PATH_OVERRIDE:-}" ]; then flags+=("-L$Z3_LIBRARY_PATH_OVERRIDE"); fi
    if "$cxx" "$scratch/probe.cpp" -o "$scratch/probe" "${flags[@]+"${flags[@]}"}" -lz3 >/dev/null 2>&1; then
        found=0
    fi
    rm -rf "$scratch"
    return "$found"
}

look() {
    if ! have cc && ! have gcc && ! have clang; then need gcc "a C compiler and linker"; fi
    if [ "$1" = first ]; then return; fi
    if ! compiler >/dev/null; then need g++ "a C++ compiler, for HiGHS"; fi
    if ! have cmake; then need cmake "builds HiGHS"; fi
    if ! have make && ! have ninja; then need make "builds HiGHS"; fi
    if ! have pkg-config; then need pkg-config "finds libz3"; fi
    if ! has_libclang || ! has_clang_headers; then need libclang-dev "reads the headers of HiGHS"; fi
    if ! has_z3; then need libz3-dev "the solver z3: header and library"; fi
}

list() {
    local at
    for at in "${!packages[@]}"; do
        printf '  %-14s %s\n' "${packages[$at]}" "${reasons[$at]}" >&2
    done
}

is_debian_like() {
    have apt-get && [ -r /etc/os-release ] && grep -Eq '^(ID|ID_LIKE)=.*(debian|ubuntu)' /etc/os-release
}

install() {
    local run=()
    echo "Missing, to be installed with apt-get:" >&2
    list
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo; then
            echo "There is no sudo here. As root: apt-get install ${packages[*]}" >&2
            exit 1
        fi
        run=(sudo)
        if [ "${CI:-}" != true ]; then
            if [ ! -t 0 ]; then
                echo "Nobody to ask. Run this in a terminal, or: sudo apt-get install ${packages[*]}" >&2
                exit 1
            fi
            local answer
            read -r -p "Install them with sudo? [y/N] " answer
            case "$answer" in
                y | Y | yes) ;;
                *)
                    echo "Nothing installed." >&2
                    exit 1
                    ;;
            esac
        fi
    fi
    "${run[@]+"${run[@]}"}" apt-get update -qq
    "${run[@]+"${run[@]}"}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

main() {
    local what=${1:-everything}
    case "$what" in
        everything | first) ;;
        *)
            echo "usage: scripts/setup.sh [first]" >&2
            exit 2
            ;;
    esac
    look "$what"
    if [ "${#packages[@]}" -gt 0 ]; then
        if is_debian_like; then
            install
            packages=() reasons=()
            look "$what"
            if [ "${#packages[@]}" -gt 0 ]; then
                echo "Still missing after the installation:" >&2
                list
                exit 1
            fi
        else
            echo "Missing; the names are Debian's packages, please install what they stand for on this system:" >&2
            list
            exit 1
        fi
    fi
    if ! have cargo; then
        echo "cargo is missing. Rust 1.88 or newer is needed: see https://rustup.rs (or the package rustup)." >&2
        exit 1
    fi
}

main "$@"
