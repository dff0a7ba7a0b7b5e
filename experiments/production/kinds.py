"""Prints the gaps of ExecuTorch's plans by kind of network.

python kinds.py DATASET
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path

import language_models

# The kinds of networks, each with a regular expression of their names.
KINDS = {
    "prompts of language models": "-prompt",
    "decode steps, cache in buffers": "-decode-cache",
    "decode steps, external cache": "-decode-external",
    "encoders": f"^({'|'.join(language_models.ENCODERS)})$",
    "networks for images": "",
}
# A gap below which a plan counts as close to the floor, in percent.
CLOSE = 0.5


def kind_of(model: str) -> str:
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, model))


def main() -> int:
    gaps: dict[str, list[float]] = defaultdict(list)
    with (Path(sys.argv[1]) / "manifest.csv").open() as file:
        for row in csv.DictReader(file):
            if row["framework"] == "ExecuTorch":
                gaps[kind_of(row["model"])].append(float(row["gap_percent"]))
    for kind, own in sorted(gaps.items(), key=lambda item: list(KINDS).index(item[0])):
        exact, close = sum(gap == 0 for gap in own), sum(gap < CLOSE for gap in own)
        text = f"{kind}: {len(own)} plans, {exact} at the floor, {close} less than {CLOSE} % above it"
        print(f"{text}, mean gap {sum(own) / len(own):.2f} %, worst {max(own):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
