"""Prints the gaps of ExecuTorch's plans by kind of network.

python kinds.py DATASET
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import language_models

KINDS = {
    "-prompt": "prompts of language models",
    "-decode": "decode steps of language models",
    "-external": "of these, with an external cache",
    "": "networks for images",
}
# A gap below which a plan counts as close to the floor, in percent.
CLOSE = 0.5


def kinds_of(model: str) -> list[str]:
    """Returns the kinds of a network."""
    if model in language_models.ENCODERS:
        return ["encoders"]
    return [kind for part, kind in KINDS.items() if part and part in model] or [KINDS[""]]


def main() -> int:
    gaps: dict[str, list[float]] = defaultdict(list)
    with (Path(sys.argv[1]) / "manifest.csv").open() as file:
        for row in csv.DictReader(file):
            for kind in kinds_of(row["model"]) if row["framework"] == "ExecuTorch" else []:
                gaps[kind].append(float(row["gap_percent"]))
    for kind, own in gaps.items():
        exact, close = sum(gap == 0 for gap in own), sum(gap < CLOSE for gap in own)
        text = f"{kind}: {len(own)} plans, {exact} at the floor, {close} less than {CLOSE} % above it"
        print(f"{text}, mean gap {sum(own) / len(own):.2f} %, worst {max(own):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
