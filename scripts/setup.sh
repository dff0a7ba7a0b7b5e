#!/usr/bin/env bash
# Installs missing build dependencies with apt on Debian and Ubuntu, and lists them on other systems. Prints
# nothing if all are present. Asks before using sudo, except as root or with CI=true.
#   scripts/setup.sh         all dependencies, including those of HiGHS and z3
#   scripts/setup.sh first   the dependencies of a build without HiGHS and z3: cargo and a C compiler
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

# Lists the folders in which bindgen searches for libclang: LIBCLANG_PATH, llvm-config, standard library
# folders.
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

# Checks for libclang itself, not for the C++ library or the sanitizer runtimes.
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

# libclang needs the stddef.h of clang, which is in another package.
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

# Checks that the compiler finds the header and the library.
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
    if ! have cmake; then need cmake "to build HiGHS"; fi
    if ! have make && ! have ninja; then need make "to build HiGHS"; fi
    if ! have jq; then need jq "the action for continuous integration"; fi
    if ! have pkg-config; then need pkg-config "to find libz3"; fi
    if ! has_libclang || ! has_clang_headers; then need libclang-dev "to read the headers of HiGHS"; fi
    if have python3 && ! python3 -c 'import ensurepip' 2>/dev/null; then
        need python3-venv "an environment to test the Python package"
    fi
    if ! has_z3; then need libz3-dev "header and library of the solver z3"; fi
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
    echo "Missing packages, to be installed with apt-get:" >&2
    list
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo; then
            echo "sudo is not available. Run as root: apt-get install ${packages[*]}" >&2
            exit 1
        fi
        run=(sudo)
        if [ "${CI:-}" != true ]; then
            if [ ! -t 0 ]; then
                echo "Standard input is not a terminal. Run this in a terminal, or run: sudo apt-get install ${packages[*]}" >&2
                exit 1
            fi
            local answer
            read -r -p "Install them with sudo? [y/N] " answer
            case "$answer" in
                y | Y | yes) ;;
                *)
                    echo "Nothing was installed." >&2
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
            echo "Missing dependencies. The names are Debian packages; install their equivalents on this system:" >&2
            list
            exit 1
        fi
    fi
    if ! have cargo; then
        echo "cargo is missing. Rust 1.89 or newer is required: see https://rustup.rs (or the package rustup)." >&2
        exit 1
    fi
}

main "$@"
