#!/usr/bin/env bash
# Builds the C library and installs it under a prefix, or tests it.
#
#   scripts/c.sh install PREFIX   library (shared and static), headers, pkg-config file, CMake package
#   scripts/c.sh test             sanitizers, 100,000 random instances, the installation with pkg-config and CMake
#   scripts/c.sh overhead         time through C relative to Rust; PLIMSOLL_CORPORA is the folder of the corpora
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)

install_library() {
    local prefix=$1
    cargo build --profile "${PROFILE:-release}" --locked --package plimsoll-capi
    local built=$target/${PROFILE:-release}
    mkdir -p "$prefix"/include "$prefix"/lib/pkgconfig "$prefix"/lib/cmake/plimsoll
    prefix=$(cd "$prefix" && pwd)
    cp capi/include/plimsoll.h capi/include/plimsoll_mlir.hpp "$prefix/include/"
    cp "$built/libplimsoll_capi.a" "$prefix/lib/libplimsoll.a"
    cp "$built/libplimsoll_capi.so" "$prefix/lib/libplimsoll.so.$version"
    ln -sf "libplimsoll.so.$version" "$prefix/lib/libplimsoll.so.0"
    ln -sf libplimsoll.so.0 "$prefix/lib/libplimsoll.so"
    sed -e "s|@prefix@|$prefix|" -e "s|@version@|$version|" capi/plimsoll.pc.in >"$prefix/lib/pkgconfig/plimsoll.pc"
    sed -e "s|@version@|$version|" capi/plimsoll-config-version.cmake.in \
        >"$prefix/lib/cmake/plimsoll/plimsoll-config-version.cmake"
    cp capi/plimsoll-config.cmake "$prefix/lib/cmake/plimsoll/"
    echo "installed under $prefix" >&2
}

# Builds an example against the installation, once with pkg-config and once with CMake.
try_installation() {
    local prefix=$1 folder=$1/try
    mkdir -p "$folder"
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    if command -v pkg-config >/dev/null; then
        # shellcheck disable=SC2046
        cc capi/examples/plan.c $(pkg-config --cflags --libs plimsoll) -o "$folder/plan"
        "$folder/plan"
        # shellcheck disable=SC2046
        cc capi/examples/plan.c $(pkg-config --cflags --libs --static plimsoll) -o "$folder/static"
        "$folder/static" >/dev/null
    else
        echo "pkg-config is not installed: the pkg-config file is not tested" >&2
    fi
    cat >"$folder/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.16)
project(try C CXX)
find_package(plimsoll 0.1 REQUIRED)
add_executable(shared $PWD/capi/examples/plan.c)
target_link_libraries(shared plimsoll::plimsoll)
add_executable(static $PWD/capi/examples/mlir.cpp)
target_link_libraries(static plimsoll::plimsoll_static)
EOF
    cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$folder/build" >/dev/null
    "$folder/build/shared"
    "$folder/build/static"
}

case "${1:-}" in
install)
    install_library "${2:?usage: scripts/c.sh install PREFIX}"
    ;;
test)
    PROFILE=${PROFILE:-first}
    export PROFILE
    PLIMSOLL_SANITIZE=1 cargo test --profile "$PROFILE" --locked --package plimsoll-capi
    prefix=$(mktemp -d)
    trap 'rm -rf "$prefix"' EXIT
    install_library "$prefix"
    try_installation "$prefix"
    ;;
overhead)
    : "${PLIMSOLL_CORPORA:?must name the folder of the corpora; see 'plimsoll datasets fetch'}"
    cargo test --profile "${PROFILE:-release}" --locked --package plimsoll-capi --test c \
        overhead -- --ignored --exact --nocapture
    ;;
*)
    echo "usage: scripts/c.sh install PREFIX | test | overhead" >&2
    exit 2
    ;;
esac
