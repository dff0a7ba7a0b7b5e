"""Builds the data set of captured instances from folders of captures.

    python collect.py [--add] [--seconds SECONDS] PLIMSOLL CAPTURES DATASET

CAPTURES contains one folder per framework, as written by the scripts `capture_*.py`. Runs `plimsoll audit` on
each folder, and writes one CSV instance per plan to `DATASET/FRAMEWORK/NAME.csv` and one row per plan to
`DATASET/manifest.csv`. SECONDS is the time limit of each search (default: 20). If `audit` leaves a plan open,
`iterated-search` also searches for a layout at the lower bound. Instances of one framework with equal content
are listed once.

With `--add`, all plans of the data set stay as they are, and only plans with new names are added.
"""

from __future__ import annotations

import argparse
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
Row = dict[str, Any]
# The number of seeds with which an open plan is searched again.
SEEDS = 24
VERSIONS = {"xla": ("XLA", "jaxlib"), "iree": ("IREE", "iree-base-compiler")}


def pinned(package: str) -> str:
    """Returns a package with its version in `requirements.txt`."""
    text = (Path(__file__).parent / "requirements.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==(\S+)$", text, re.M)
    return f"{package} {found[1]}" if found else ""


def origin(folder: Path, name: str) -> Row:
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


def audited(plimsoll: str, folder: Path, exported: str, seconds: str) -> list[dict[str, Any]]:
    """Returns the cases of a folder. Their instances are written into the folder `exported`."""
    command = [plimsoll, "audit", str(folder), "--json", "--export", exported, "--time-limit", seconds]
    output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    cases: list[dict[str, Any]] = json.loads(output)["cases"]
    return cases


def lowest(plimsoll: str, case: dict[str, Any], instance: Path, seconds: str) -> int:
    """Returns the lowest peak of a plan that is known. Searches again if it exceeds the lower bound."""
    found = [case["planner_peak"], (case["best"] or {}).get("peak") or case["planner_peak"]]
    for seed in range(SEEDS):
        if min(found) > case["lower_bound"]:
            command = [plimsoll, "solve", str(instance), "--algorithm", "iterated-search", "--seed", str(seed), "--json"]
            done = subprocess.run([*command, "--time-limit", seconds], check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout)["peak"])
    return int(min(found))


def verdict(case: dict[str, Any], best: int) -> str:
    """Returns the verdict of `audit`, or what it would be with the given best peak."""
    if case["verdict"] == "open" and best == case["lower_bound"]:
        return "above the optimum"
    return str(case["verdict"])


def row_of(folder: Path, file: str, case: dict[str, Any], best: int, digest: str) -> Row:
    return {
        "file": file,
        **origin(folder, case["instance"]),
        "buffers": case["buffers"],
        "load": case["load"],
        "planner_peak": case["planner_peak"],
        "lower_bound": case["lower_bound"],
        "best_peak": best,
        "gap_percent": f"{case['gap_percent']:.4f}",
        "verdict": verdict(case, best),
        "sha256": digest,
    }


def rows_of(plimsoll: str, folder: Path, dataset: Path, kept: list[Row], seconds: str) -> list[Row]:
    """Writes the new instances of a framework. Returns the kept rows of the framework and the new ones."""
    rows = [row for row in kept if row["file"].startswith(f"{folder.name}/")]
    files, seen = {row["file"] for row in rows}, {row["sha256"] for row in rows}
    target = dataset / folder.name
    if not rows:
        shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for case in audited(plimsoll, folder, temporary, seconds):
            name = case["instance"].replace(":", "-")
            file = f"{folder.name}/{name}.csv"
            data = (Path(temporary) / f"{name}.csv").read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if file in files or digest in seen:
                continue
            seen.add(digest)
            (dataset / file).write_bytes(data)
            best = lowest(plimsoll, case, dataset / file, seconds)
            rows.append(row_of(folder, file, case, best, digest))
    return rows


def manifest_of(dataset: Path) -> list[Row]:
    with (dataset / "manifest.csv").open() as file:
        return list(csv.DictReader(file))


def report(rows: list[Row]) -> None:
    """Prints one line per framework."""
    for framework in sorted({row["framework"] for row in rows}):
        own = [row for row in rows if row["framework"] == framework]
        gaps = [float(row["gap_percent"]) for row in own]
        proved = sum(int(row["best_peak"]) == int(row["lower_bound"]) for row in own)
        text = f"{framework}: {len(gaps)} plans, {proved} with a proven optimum, {sum(gap == 0 for gap in gaps)} at it"
        print(f"{text}, mean gap {sum(gaps) / len(gaps):.2f} %, worst {max(gaps):.2f} %")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the data set of captured instances.")
    parser.add_argument("plimsoll", help="path of the command")
    parser.add_argument("captures", type=Path, help="folder with one folder of captures per framework")
    parser.add_argument("dataset", type=Path, help="folder of the data set")
    parser.add_argument("--add", action="store_true", help="keep all plans of the data set")
    parser.add_argument("--seconds", default="20", help="time limit of each search")
    args = parser.parse_args()
    kept = manifest_of(args.dataset) if args.add else []
    folders = sorted(path for path in args.captures.iterdir() if path.is_dir())
    rows = [row for row in kept if row["file"].split("/")[0] not in {folder.name for folder in folders}]
    for folder in folders:
        rows += rows_of(args.plimsoll, folder, args.dataset, kept, args.seconds)
    rows.sort(key=lambda row: row["file"])
    with (args.dataset / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
