#!/usr/bin/env bash
# Installs ExecuTorch and the Python package into an environment of their own (6 GB), runs the tests, and plans
# and runs 18 networks. RECORD=DIR is the folder of the record, and NETWORKS a selection.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
environment=$target/executorch
[ -x "$environment/bin/pip" ] || python3 -m venv --clear "$environment"
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment
pip install --quiet --disable-pip-version-check \
    executorch==1.5.1 torch==2.15.0 torchvision==0.29.2 pytest==8.4.2 maturin==1.9.4
maturin build --quiet --locked --release --manifest-path python/Cargo.toml --out "$target/wheels"
pip install --quiet --force-reinstall --no-deps "$target"/wheels/plimsoll-*.whl
pytest --quiet python/tests/test_executorch.py python/tests/test_planner.py
# shellcheck disable=SC2086 # a list of names
python experiments/executorch/networks.py "${RECORD:-$target/executorch-record}" ${NETWORKS:-}
