"""Captures the memory plans of the greedy planner of tflite-micro.

    python capture_tflm.py FOLDER [NAME...]

Writes `NAME.capture.json` in the format `plimsoll-capture` per network, image size and width (see `tflm_models.py`).
Existing captures are kept, so an interrupted run can be resumed.
`plimsoll audit FOLDER` reads the folder.

The peak is the size of the arena's head that the interpreter reports after it has loaded the network. The interpreter
reports no offsets. The script therefore computes the lifetimes and offsets with the rules of
`micro_allocation_info.cc` and `greedy_memory_planner.cc`, and fails unless their peak is the reported one.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from captures import document, missing, write
from tflm_models import MODELS, head, unpack

ALIGNMENT = 16
SIZES = (96, 150)
WIDTHS = (4, 6)


def lifetimes(graph: Any) -> list[dict[str, Any]]:
    """Returns the tensors without values, with half-open lifetimes. Inputs are live from the start, and each operator
    is one step."""
    first, last = dict.fromkeys(graph.inputs, 0), dict.fromkeys(graph.inputs, 0)
    for step, operator in enumerate(graph.operators, 1):
        for tensor in operator.outputs:
            first.setdefault(tensor, step)
        for tensor in [*operator.inputs, *operator.outputs]:
            last[tensor] = step
    for tensor in graph.outputs:
        last[tensor] = len(graph.operators)
    rows = []
    for tensor in sorted(first):
        size = 4
        for length in graph.tensors[tensor].shape:
            size *= int(length)
        size = -(-size // ALIGNMENT) * ALIGNMENT
        rows.append({"id": f"t{tensor}", "size": size, "lower": first[tensor], "upper": last[tensor] + 1})
    return rows


def place(rows: list[dict[str, Any]]) -> None:
    """Sets the offsets: in order of decreasing size, the last of equally large tensors first, each in the lowest gap
    that is large enough."""
    placed: list[dict[str, Any]] = []
    for row in sorted(reversed(rows), key=lambda row: -row["size"]):
        end = 0
        for other in sorted(placed, key=lambda other: other["offset"]):
            if other["lower"] < row["upper"] and row["lower"] < other["upper"]:
                if other["offset"] >= end + row["size"]:
                    break
                end = max(end, other["offset"] + other["size"])
        row["offset"] = end
        placed.append(row)


def capture(model: bytes) -> list[dict[str, Any]]:
    rows = lifetimes(unpack(model).subgraphs[0])
    place(rows)
    peak, reported = max(row["offset"] + row["size"] for row in rows), head(model)
    if peak != reported:
        raise RuntimeError(f"the interpreter reports {reported} bytes, but the offsets need {peak}")
    return [{"name": "arena", "alignment": ALIGNMENT, "peak": reported, "buffers": rows}]


def main() -> int:
    keys = [(model, size, width) for model in MODELS for size in SIZES for width in WIDTHS]
    cases = [(f"{model}_{size}x{width}-b1", (model, size, width)) for model, size, width in keys]
    for file, (model, size, width) in missing(cases, ".capture.json"):
        found = capture(MODELS[model](size, width))
        name = f"{model}_{size}x{width}"
        write(file, document("tflite-micro", version("tflite-micro"), "greedy", name, 1, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
