#!/usr/bin/env bash
# Builds the Python package in a separate environment, checks its types and behaviour, and compares its plans
# with those of the command.
#   scripts/python.sh         the package of the build that `cargo test` uses
#   scripts/python.sh wheel   the wheel with the command, and the source archive; installs the wheel into new
#                             environments of two Python versions, with and without NumPy and pandas, and uses it
#                             where there is no Rust. PLIMSOLL_PYTHONS="PYTHON.." names the interpreters; the
#                             default is the oldest and the newest of python3.10 to python3.14 and python3.
#                             PLIMSOLL_GLIBC=2.28 links against this version of glibc, with zig.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

environment=$target/python
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "no Python 3.10 or newer: the Python package is not tested" >&2
    exit 0
fi
# On Windows, programs of an environment lie in Scripts, and have a suffix.
exe=
bin=bin
case "$(uname)" in MINGW* | MSYS*) exe=.exe bin=Scripts ;; esac
python=$environment/$bin/python$exe
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
plain=$PATH
export PATH=$environment/$bin:$PATH VIRTUAL_ENV=$environment PIP_DISABLE_PIP_VERSION_CHECK=1

# Prints the interpreters with which the wheel is tested, one per line, in ascending order of their versions.
interpreters() {
    local name version
    for name in ${PLIMSOLL_PYTHONS:-python3.10 python3.11 python3.12 python3.13 python3.14 python3}; do
        if version=$(PATH=$plain "$name" -c 'import sys, venv, ensurepip
print(*sys.version_info[:2], sys.version_info >= (3, 10))' 2>/dev/null) && [ "${version##* }" = True ]; then
            echo "$version $(PATH=$plain command -v "$name")"
        elif [ -n "${PLIMSOLL_PYTHONS:-}" ]; then
            echo "$name is not a Python 3.10 or newer with venv" >&2
            return 1
        fi
    done | sort --numeric-sort --key 1,1 --key 2,2 | awk '!seen[$1, $2]++ { print $4 }' |
        if [ -n "${PLIMSOLL_PYTHONS:-}" ]; then cat; else sed -n '1p; $p' | uniq; fi
}

# Installs the wheel into a new environment of an interpreter, with the extras that follow, and tests it
# there. No other program is in the path, so neither pip nor the package can use Rust.
try() {
    local interpreter=$1 extras=$2 clean=$environment-clean
    echo "==> $("$interpreter" --version) at $interpreter, plimsoll$extras" >&2
    rm -rf "$clean"
    "$interpreter" -m venv "$clean"
    (
        export PATH=$clean/$bin
        unset VIRTUAL_ENV PYTHONPATH
        pip install --quiet --only-binary :all: "$wheel$extras"
        cd "$clean"
        python "$checks" "$extras" "$model"
    )
}

case "${1:-}" in
"")
    "$python" -m pip install --quiet 'pip>=25.1'
    "$python" -m pip install --quiet 'numpy>=1.24' --group python/pyproject.toml:test
    # With all targets of the tests, because Cargo selects features for all selected targets together.
    cargo build --workspace --lib --bins --tests --locked
    cd python
    library=$target/debug/lib_core.so
    [ "$(uname)" != Darwin ] || library=$target/debug/lib_core.dylib
    cp "$library" plimsoll/_core.abi3.so
    export PLIMSOLL_NATIVE=$target/debug/plimsoll PYTHONPATH=$PWD
    "$python" -m pytest --quiet
    "$python" -m mypy plimsoll
    "$python" -m mypy.stubtest plimsoll._core
    ;;
wheel)
    "$python" -m pip install --quiet maturin==1.16.0
    checks=$PWD/python/tests/installed.py model=$PWD/python/notebooks/model.json
    found=$(interpreters)
    if [ -z "$found" ]; then
        echo "no Python 3.10 or newer with the modules venv and ensurepip" >&2
        exit 1
    fi
    if [ "$(wc -l <<<"$found")" -eq 1 ]; then echo "only one version of Python: $found" >&2; fi
    options=(--locked --profile wheel) built=$target/wheel
    if [ -n "${PLIMSOLL_GLIBC:-}" ]; then
        "$python" -m pip install --quiet ziglang==0.13.0 cargo-zigbuild==0.20.1
        host=$(rustc -vV | sed -n 's/^host: //p')
        cargo zigbuild "${options[@]}" --target "$host.$PLIMSOLL_GLIBC" \
            --package plimsoll-command --no-default-features --bin plimsoll
        built=$target/$host/wheel
        options+=(--zig --compatibility "manylinux_${PLIMSOLL_GLIBC/./_}")
    else
        cargo build "${options[@]}" --package plimsoll-command --no-default-features --bin plimsoll
    fi
    # The files of this folder become part of the wheel. Without the folder, a wheel has no command.
    data=$PWD/python/plimsoll._core.data
    rm -rf "$target/wheels" "$data" python/plimsoll/*.so python/plimsoll/__pycache__
    trap 'rm -rf "$data"' EXIT
    mkdir -p "$data/scripts"
    cp "$built/plimsoll$exe" "$data/scripts"
    "$python" -m maturin build --quiet "${options[@]}" --manifest-path python/Cargo.toml --out "$target/wheels"
    "$python" -m maturin sdist --manifest-path python/Cargo.toml --out "$target/wheels"
    wheel=$(echo "$target"/wheels/plimsoll-*.whl)
    "$python" python/tests/packed.py "$wheel" "$target"/wheels/plimsoll-*.tar.gz
    while read -r interpreter; do
        try "$interpreter" "" </dev/null
        try "$interpreter" "[pandas]" </dev/null
    done <<<"$found"
    ;;
*)
    echo "usage: scripts/python.sh [wheel]" >&2
    exit 2
    ;;
esac
