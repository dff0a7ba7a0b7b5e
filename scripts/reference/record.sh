#!/usr/bin/env bash
# The record of sizes: `plimsoll import` beside the runtimes, over the models of a folder.
#
#     scripts/reference/record.sh PLIMSOLL MODELS OUT
#
# MODELS holds the folders `onnx` and `tflite`, what sizes_onnx.py and sizes_tflite.py recorded of them (`onnx.jsonl`,
# `tflite.jsonl`), and `files.csv` (repo, commit, path, sha256, bytes): where the files come from. PYTHON names a Python
# with the packages of requirements.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
plimsoll=$1 models=$2 out=$3
unfinished=()
trap 'rm -rf "${unfinished[@]}"' EXIT
# None of the records of graphs.
wanted() { false; }
# shellcheck source=../graph-records.sh
. "$here/../graph-records.sh"
begin_record "$out"
python=${PYTHON:-python3}
for format in onnx tflite; do
    "$python" "$here/compare.py" --plimsoll "$plimsoll" --models "$models/$format" --sizes "$models/$format.jsonl" \
        --values --examples 1 --out "$scratch/$format.csv" >"$out/$format.md"
done
# One row per repository: its commit, and how many files it gave.
"$python" - "$models/files.csv" >"$out/repositories.csv" <<'PYTHON'
import collections, csv, sys

counts = collections.Counter()
for row in csv.DictReader(open(sys.argv[1])):
    counts[row["repo"], row["commit"], row["path"].rsplit(".", 1)[-1].lower()] += 1
print("repository,commit,format,files")
for key, count in sorted(counts.items()):
    print(",".join([*key, str(count)]))
PYTHON
cat >"$out/README.md" <<TEXT
# Sizes of tensors beside the runtimes

Made by

    scripts/reference/record.sh PLIMSOLL MODELS $out

$(made_with)
- $(grep -E '^(onnxruntime|ai-edge-litert)==' "$here/requirements.txt" | paste -sd ' ')

| file | holds |
|---|---|
| \`onnx.md\`, \`tflite.md\` | files by category and variant, refusals, differences: see scripts/reference/README.md |
| \`repositories.csv\` | where the models come from: public repositories, distinct files |

The models themselves are not kept here.
TEXT
end_record
