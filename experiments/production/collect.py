"""Builds the data set of captured instances from folders of captures.

    python collect.py PLIMSOLL CAPTURES DATASET [SECONDS]

CAPTURES contains one folder per framework, as written by the scripts `capture_*.py`. Runs `plimsoll audit` on
each folder, and writes one CSV instance per plan to `DATASET/FRAMEWORK/NAME.csv` and one row per plan to
`DATASET/manifest.csv`. SECONDS is the time limit of each search (default: 20). Instances of one framework
with equal content are listed once.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

COLUMNS = (
    "file,framework,version,planner,model,batch,buffers,load,planner_peak,lower_bound,best_peak,gap_percent,verdict,sha256"
).split(",")
VERSIONS = {"xla": ("XLA", "jaxlib"), "iree": ("IREE", "iree-base-compiler")}


def pinned(package: str) -> str:
    """Returns a package with its version in `requirements.txt`."""
    text = (Path(__file__).parent / "requirements.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==(\S+)$", text, re.M)
    return f"{package} {found[1]}" if found else ""


def origin(folder: Path, name: str) -> dict[str, Any]:
    """Returns the columns of the manifest that describe the origin of a plan."""
    stem = name.split(":")[0]
    model, _, batch = stem.rpartition("-b")
    if folder.name in VERSIONS:
        framework, package = VERSIONS[folder.name]
        planner = {"XLA": "heap simulator", "IREE": "layout-slices"}[framework]
        return {
            "framework": framework,
            "version": pinned(package),
            "planner": planner,
            "model": model,
            "batch": batch,
        }
    document = json.loads((folder / f"{stem}.capture.json").read_text())
    keys = {"framework": "framework", "version": "framework_version", "planner": "planner", "model": "model"}
    return {key: document[member] for key, member in keys.items()} | {"batch": document["batch"]}


def rows_of(plimsoll: str, folder: Path, dataset: Path, seconds: str) -> list[dict[str, Any]]:
    rows, seen = [], set()
    with tempfile.TemporaryDirectory() as temporary:
        command = [plimsoll, "audit", str(folder), "--json", "--export", temporary, "--time-limit", seconds]
        found = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)
        target = dataset / folder.name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for case in found["cases"]:
            name = case["instance"].replace(":", "-")
            data = (Path(temporary) / f"{name}.csv").read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if digest in seen:
                continue
            seen.add(digest)
            (target / f"{name}.csv").write_bytes(data)
            best = case["best"]
            rows.append(
                {
                    "file": f"{folder.name}/{name}.csv",
                    **origin(folder, case["instance"]),
                    "buffers": case["buffers"],
                    "load": case["load"],
                    "planner_peak": case["planner_peak"],
                    "lower_bound": case["lower_bound"],
                    "best_peak": min((best or {}).get("peak") or case["planner_peak"], case["planner_peak"]),
                    "gap_percent": f"{case['gap_percent']:.4f}",
                    "verdict": case["verdict"],
                    "sha256": digest,
                }
            )
    return rows


def main() -> int:
    plimsoll, captures, dataset = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    seconds = sys.argv[4] if len(sys.argv) > 4 else "20"
    rows = []
    for folder in sorted(path for path in captures.iterdir() if path.is_dir()):
        rows += rows_of(plimsoll, folder, dataset, seconds)
    with (dataset / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for framework in sorted({row["framework"] for row in rows}):
        gaps = [float(row["gap_percent"]) for row in rows if row["framework"] == framework]
        proved = sum(row["best_peak"] == row["lower_bound"] for row in rows if row["framework"] == framework)
        text = f"{framework}: {len(gaps)} plans, {proved} with a proven optimum, {sum(gap == 0 for gap in gaps)} at it"
        print(f"{text}, mean gap {sum(gaps) / len(gaps):.2f} %, worst {max(gaps):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
