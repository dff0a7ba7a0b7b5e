"""Compares the planners of the data set with fast heuristics, to find the rules that waste memory.

    python rules.py PLIMSOLL DATASET

The script runs `plimsoll bench` on the instances of every framework. For each heuristic, it prints the mean
gap to the bounds in the manifest. It also prints how many of the plans that are more than 0.5 % above the
bound have exactly the peak of the heuristic, rounded up to 64 bytes. If a heuristic reproduces the peaks of all these
plans, the planner very likely follows the same rule.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HEURISTICS = (
    "best-fit-start,first-fit-start,greedy-by-size,first-fit-size,best-fit-duration,best-fit-area,xla-best-fit,"
    "greedy-by-breadth"
)
GRAIN = 64
LOSS = 0.5


def main() -> int:
    plimsoll, dataset = sys.argv[1], Path(sys.argv[2])
    with (dataset / "manifest.csv").open() as file:
        rows_of = {row["file"]: row for row in csv.DictReader(file)}
    for folder in sorted(path for path in dataset.iterdir() if path.is_dir()):
        plans = {path.stem: rows_of[f"{folder.name}/{path.name}"] for path in folder.glob("*.csv")}
        with tempfile.TemporaryDirectory() as record:
            command = [plimsoll, "bench", str(folder / "*.csv"), "--algorithms", HEURISTICS, "--out", record, "--force"]
            subprocess.run(command, check=True, capture_output=True)
            with (Path(record) / "rows.csv").open() as file:
                rows = list(csv.DictReader(file))
        gaps: dict[str, list[float]] = defaultdict(list)
        equal: dict[str, int] = defaultdict(int)
        own, lossy = [], 0
        for name in {row["instance"] for row in rows}:
            gap = float(plans[name]["gap_percent"])
            own.append(gap)
            lossy += gap > LOSS
        for row in rows:
            plan, peak = plans[row["instance"]], int(row["value"])
            gaps[row["algorithm"]].append(100 * (peak / int(plan["lower_bound"]) - 1))
            same = -(-peak // GRAIN) * GRAIN == int(plan["planner_peak"])
            equal[row["algorithm"]] += same and float(plan["gap_percent"]) > LOSS
        print(f"{folder.name}: {len(own)} plans, mean gap {sum(own) / len(own):.2f} %, {lossy} above {LOSS} %")
        for name, mine in gaps.items():
            print(f"    {name:18} mean gap {sum(mine) / len(mine):6.2f} %, same peak {equal[name]} of {lossy}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
