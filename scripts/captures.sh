#!/usr/bin/env bash
# Installs XLA, IREE, tinygrad, TVM and tflite-micro into a virtual environment (1.5 GB), captures the memory
# plans of small networks, and builds the data set of captured instances with its chart. ExecuTorch and Inductor
# are captured as well if `scripts/executorch.sh` has installed them. EXECUTORCH sets the Python of that
# environment, CAPTURES the folder of the raw dumps, DATASET that of the instances, and PLIMSOLL the path of an
# existing build of the command. Existing captures are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
captures=${CAPTURES:-$target/production/captures}
environment=$target/production/light
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet -r experiments/production/requirements.txt
for framework in xla iree tinygrad tvm tflm; do
    "$python" "experiments/production/capture_$framework.py" "$captures/$framework"
done
executorch=${EXECUTORCH:-$target/executorch/bin/python}
if [ -x "$executorch" ]; then
    for framework in executorch inductor; do
        "$executorch" "experiments/production/capture_$framework.py" "$captures/$framework"
    done
fi
plimsoll=${PLIMSOLL:-}
if [ -z "$plimsoll" ]; then
    cargo build --release --locked --package plimsoll-command --no-default-features
    plimsoll=$target/release/plimsoll
fi
"$python" experiments/production/recompute.py "$plimsoll" "$captures"/*
dataset=${DATASET:-datasets/captured}
"$python" experiments/production/collect.py "$plimsoll" "$captures" "$dataset"
"$python" experiments/production/chart.py "$dataset" docs/src/charts/planners.svg
