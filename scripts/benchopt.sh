#!/usr/bin/env bash
# Installs benchopt and the Python package into a separate environment, and runs the benchmark with three
# solvers on random instances and on a CSV file.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
environment=$target/benchopt
python=$environment/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PATH=$environment/bin:$PATH VIRTUAL_ENV=$environment PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet benchopt==1.10.0 maturin==1.16.0
"$python" -m maturin build --quiet --locked --profile first --manifest-path python/Cargo.toml --out "$target/wheels"
"$python" -m pip install --quiet --force-reinstall --no-deps "$target"/wheels/plimsoll-*.whl

# Copies the benchmark, because benchopt writes its results next to it.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r experiments/benchopt "$folder/benchmark"
printf 'id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\n' >"$folder/small.8.csv"
benchopt run "$folder/benchmark" --no-plot --no-html -r 1 \
    -s "plimsoll[algorithm=[exact,greedy-by-size],time_limit=1]" -s own-heuristic \
    -d "random[buffers=100,seed=[0,1]]" -d "CSV[path=$folder/small.8.csv]"
"$python" - "$folder/benchmark" <<'EOF'
import pathlib, sys
import pandas

(file,) = pathlib.Path(sys.argv[1]).glob("outputs/*.parquet")
rows = pandas.read_parquet(file)
peaks = rows.pivot_table(index="dataset_name", columns="solver_name", values="objective_value")
print(peaks.to_string())
assert peaks.shape == (3, 3) and not peaks.isna().any().any()
exact = next(name for name in peaks.columns if "exact" in name)
assert (peaks[exact] == peaks.min(axis=1)).all()
EOF
