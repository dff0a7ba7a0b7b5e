#!/usr/bin/env bash
# Builds the Python package in a separate environment, checks its types and behaviour, and compares its plans
# with those of the command.
#   scripts/python.sh         the package of the build that `cargo test` uses
#   scripts/python.sh wheel   the wheel, in an environment that contains only the wheel and its dependencies
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

environment=$target/python
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "no Python 3.10 or newer: the Python package is not tested" >&2
    exit 0
fi
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment PIP_DISABLE_PIP_VERSION_CHECK=1

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
    "$python" -m pip install --quiet maturin==1.9.4
    clean=$environment-clean
    cd python
    "$python" -m maturin build --quiet --locked --release --out "$clean-wheel"
    python3 -m venv --clear "$clean"
    "$clean/bin/python" -m pip install --quiet "$clean-wheel"/plimsoll-*.whl
    cd /
    "$clean/bin/python" -c 'import plimsoll; assert plimsoll.solve([(0, 2, 4), (1, 4, 6), (3, 6, 2)]).status == "optimal"'
    ;;
*)
    echo "usage: scripts/python.sh [wheel]" >&2
    exit 2
    ;;
esac
