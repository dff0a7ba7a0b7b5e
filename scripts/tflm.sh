#!/usr/bin/env bash
# Installs tflite-micro, onnx and onnxruntime into a separate environment, measures the scratch memory of
# kernels, writes plans into models with `plimsoll plan --write`, and runs the models. PLIMSOLL_CORPORA is the
# folder of the corpora, and PLIMSOLL is the path of an existing build of the command. RECORD is the folder of
# the record, ENVIRONMENT is that of the packages, and MODELS is a list of further TFLite models.
# experiments/runtimes/models.csv lists the origins of the further models in the record.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
corpora=${PLIMSOLL_CORPORA:?must name the folder of the corpora, see 'plimsoll datasets fetch'}
environment=${ENVIRONMENT:-$target/tflm}
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet \
    tflite-micro==0.dev20261023182759 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 flatbuffers==25.12.19
plimsoll=${PLIMSOLL:-}
if [ -z "$plimsoll" ]; then
    cargo build --release --locked --package plimsoll-command --no-default-features
    plimsoll=$target/release/plimsoll
fi
# shellcheck disable=SC2086 # a list of files
"$python" experiments/runtimes/tflm.py "$plimsoll" "$corpora" "${RECORD:-$target/tflm-record}" ${MODELS:-}
