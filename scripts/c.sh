#!/usr/bin/env bash
# Builds the C library and installs it under a prefix, or tests it.
#
#   scripts/c.sh install PREFIX   library (shared and static), headers, pkg-config files, CMake package, examples
#   scripts/c.sh check PREFIX     compiles and runs the examples of an installation; needs no Rust
#   scripts/c.sh test             sanitizers, 100,000 random instances, an installation
#   scripts/c.sh overhead         time through C relative to Rust; PLIMSOLL_CORPORA is the folder of the corpora
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
if [ "$(uname)" = Darwin ]; then
    built=libplimsoll_capi.dylib file=libplimsoll.$version.dylib name=libplimsoll.0.dylib shared=libplimsoll.dylib
else
    built=libplimsoll_capi.so file=libplimsoll.so.$version name=libplimsoll.so.0 shared=libplimsoll.so
fi

# The files name no prefix, so the installation can be moved.
install_library() {
    local prefix=$1 profile=${PROFILE:-release} private template
    # The compiler names the libraries of the system that a program needs with the static library. `libgcc_s`
    # has no static form, and every C compiler links what is needed of it.
    private=$(cargo rustc --color never --profile "$profile" --locked --package plimsoll-capi --lib \
        -- --print native-static-libs 2>&1 | tee >(cat >&2) | sed -n 's/^note: native-static-libs: //p')
    private=${private/-lgcc_s /}
    mkdir -p "$prefix"/include "$prefix"/lib/{pkgconfig,cmake/plimsoll} "$prefix"/share/doc/libplimsoll
    cp capi/include/plimsoll.h capi/include/plimsoll_mlir.hpp "$prefix/include/"
    cp "$target/$profile/libplimsoll_capi.a" "$prefix/lib/libplimsoll.a"
    strip -S "$prefix/lib/libplimsoll.a"
    cp "$target/$profile/$built" "$prefix/lib/$file"
    ln -sf "$file" "$prefix/lib/$name"
    ln -sf "$name" "$prefix/lib/$shared"
    for template in pkgconfig/plimsoll.pc pkgconfig/plimsoll-static.pc \
        cmake/plimsoll/plimsoll-config.cmake cmake/plimsoll/plimsoll-config-version.cmake; do
        sed -e "s|@version@|$version|" -e "s|@interface@|${version%.*}|" -e "s|@shared@|$shared|" \
            -e "s|@private@|$private|" "capi/$(basename "$template").in" >"$prefix/lib/$template"
    done
    cp LICENSE-MIT LICENSE-APACHE capi/examples/plan.c capi/examples/mlir.cpp "$prefix/share/doc/libplimsoll/"
    echo "installed under $prefix" >&2
}

# Fails unless a program runs, and loads the shared library if and only if the second argument is `shared`.
run_linked() {
    local list="readelf -d" loaded=static
    [ "$(uname)" != Darwin ] || list="otool -L"
    $list "$1" | grep libplimsoll >/dev/null && loaded=shared
    if [ "$loaded" != "$2" ]; then
        echo "$1: the linkage is $loaded; expected $2" >&2
        exit 1
    fi
    "$1" >"$1.txt"
    echo "$(basename "$1"): runs, $loaded library" >&2
}

# Compiles the examples with pkg-config and with CMake, and runs them without further settings.
check_installation() {
    local prefix examples folder
    prefix=$(cd "$1" && pwd)
    examples=$prefix/share/doc/libplimsoll
    folder=$(mktemp -d)
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    if command -v pkg-config >/dev/null; then
        # shellcheck disable=SC2046
        cc "$examples/plan.c" $(pkg-config --cflags --libs plimsoll) \
            "-Wl,-rpath,$(pkg-config --variable=libdir plimsoll)" -o "$folder/pc-shared"
        run_linked "$folder/pc-shared" shared
        # shellcheck disable=SC2046
        cc "$examples/plan.c" $(pkg-config --cflags --libs plimsoll-static) -o "$folder/pc-static"
        run_linked "$folder/pc-static" static
        # Not every system has a static C library.
        if [ "$(uname)" = Linux ] && [ "$(cc -print-file-name=libc.a)" != libc.a ]; then
            # shellcheck disable=SC2046
            cc -static "$examples/plan.c" $(pkg-config --static --cflags --libs plimsoll) -o "$folder/pc-all-static"
            run_linked "$folder/pc-all-static" static
        fi
    else
        echo "pkg-config is not installed: the pkg-config files are not checked" >&2
    fi
    cat >"$folder/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.16)
project(check C CXX)
find_package(plimsoll ${version%.*} REQUIRED)
add_executable(cmake-shared $examples/plan.c)
target_link_libraries(cmake-shared plimsoll::plimsoll)
add_executable(cmake-static $examples/mlir.cpp)
target_link_libraries(cmake-static plimsoll::plimsoll_static)
EOF
    cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$folder/build" >/dev/null
    run_linked "$folder/build/cmake-shared" shared
    run_linked "$folder/build/cmake-static" static
    rm -rf "$folder"
}

case "${1:-}" in
install)
    install_library "${2:?usage: scripts/c.sh install PREFIX}"
    ;;
check)
    check_installation "${2:?usage: scripts/c.sh check PREFIX}"
    ;;
test)
    PROFILE=${PROFILE:-first}
    export PROFILE
    PLIMSOLL_SANITIZE=1 cargo test --profile "$PROFILE" --locked --package plimsoll-capi
    prefix=$(mktemp -d)
    trap 'rm -rf "$prefix"' EXIT
    install_library "$prefix/first"
    mv "$prefix/first" "$prefix/moved"
    check_installation "$prefix/moved"
    ;;
overhead)
    : "${PLIMSOLL_CORPORA:?must name the folder of the corpora; see 'plimsoll datasets fetch'}"
    cargo test --profile "${PROFILE:-release}" --locked --package plimsoll-capi --test c \
        overhead -- --ignored --exact --nocapture
    ;;
*)
    echo "usage: scripts/c.sh install PREFIX | check PREFIX | test | overhead" >&2
    exit 2
    ;;
esac
