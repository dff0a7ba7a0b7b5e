#!/usr/bin/env bash
# Builds the Python package in a separate environment, checks its types and behaviour, and compares its plans
# with those of the command.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=${CARGO_TARGET_DIR:-$PWD/target}/python
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "no Python 3.10 or newer: the Python package is not tested" >&2
    exit 0
fi
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet maturin==1.9.4
cargo build --package plimsoll-command --bin plimsoll --no-default-features --locked
export PLIMSOLL_NATIVE=${CARGO_TARGET_DIR:-$PWD/target}/debug/plimsoll
cd python
"$python" -m maturin develop --quiet --locked --profile dev --extras test
"$python" -m pytest --quiet
"$python" -m mypy plimsoll
"$python" -m mypy.stubtest plimsoll._core

# Tests the wheel in an environment that contains only the wheel and its dependencies.
clean=$environment-clean
"$python" -m maturin build --quiet --locked --profile dev --out "$clean-wheel"
python3 -m venv --clear "$clean"
"$clean/bin/python" -m pip install --quiet "$clean-wheel"/plimsoll-*.whl
cd /
"$clean/bin/python" -c 'import plimsoll; assert plimsoll.solve([(0, 2, 4), (1, 4, 6), (3, 6, 2)]).status == "optimal"'
