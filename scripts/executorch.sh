#!/usr/bin/env bash
# Installs ExecuTorch and the Python package into a separate environment (6 GB), and runs the tests. Then
# plans and runs 19 programs with branches and loops, and 18 networks. RECORD sets the folder of the records,
# and NETWORKS selects networks by name.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
environment=$target/executorch
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet \
    executorch==1.5.1 torch==2.15.0 torchvision==0.29.2 transformers==5.24.0 timm==1.0.31 \
    pytest==8.4.2 maturin==1.16.0
"$python" -m maturin build --quiet --locked --release --manifest-path python/Cargo.toml --out "$target/wheels"
"$python" -m pip install --quiet --force-reinstall --no-deps "$target"/wheels/plimsoll-*.whl
"$python" -m pytest --quiet python/tests/test_executorch.py python/tests/test_planner.py
"$python" experiments/executorch/control_flow.py "${RECORD:-$target/executorch-record}-control-flow"
# shellcheck disable=SC2086 # a list of names
"$python" experiments/executorch/networks.py "${RECORD:-$target/executorch-record}" ${NETWORKS:-}
