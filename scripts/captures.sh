#!/usr/bin/env bash
# Installs XLA, IREE, tinygrad, TVM and tflite-micro into a virtual environment (1.5 GB), captures the memory
# plans of small networks, and builds the data set of captured instances with its chart. ExecuTorch and Inductor
# are captured as well if `scripts/executorch.sh` has installed them. EXECUTORCH sets the Python of that
# environment, CAPTURES the folder of the raw dumps, DATASET that of the instances, and PLIMSOLL the path of an
# existing build of the command. Existing captures are kept. FRAMEWORKS selects frameworks, as in
# `FRAMEWORKS=executorch make captures`. All plans of the data set are then kept, and only new ones are added.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
captures=${CAPTURES:-$target/production/captures}
environment=$target/production/light
python=$environment/bin/python
executorch=${EXECUTORCH:-$target/executorch/bin/python}
add=${FRAMEWORKS:+--add}
frameworks=" ${FRAMEWORKS:-xla iree tinygrad tvm tflm executorch inductor} "
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
for framework in xla iree tinygrad tvm tflm; do
    if [[ $frameworks == *" $framework "* ]]; then
        "$python" -m pip install --quiet -r experiments/production/requirements.txt
        "$python" "experiments/production/capture_$framework.py" "$captures/$framework"
    fi
done
for framework in executorch inductor; do
    if [[ $frameworks == *" $framework "* ]] && [ -x "$executorch" ]; then
        "$executorch" "experiments/production/capture_$framework.py" "$captures/$framework"
    fi
done
plimsoll=${PLIMSOLL:-}
if [ -z "$plimsoll" ]; then
    cargo build --release --locked --package plimsoll-command --no-default-features
    plimsoll=$target/release/plimsoll
fi
"$python" experiments/production/recompute.py "$plimsoll" "$captures"/*
dataset=${DATASET:-datasets/captured}
# shellcheck disable=SC2086 # empty without FRAMEWORKS
"$python" experiments/production/collect.py $add "$plimsoll" "$captures" "$dataset"
"$python" experiments/production/chart.py "$dataset" docs/src/charts/planners.svg
