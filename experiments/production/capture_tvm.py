"""Captures the storages of TVM's pass `StaticPlanBlockMemory`.

    python capture_tvm.py FOLDER [NAME...]

Writes `NAME.capture.json` in the format `plimsoll-capture` per network, image size and width (see `tflm_models.py`).
The networks pass through the default passes of TVM's Relax compiler up to the plan, for CPUs. Existing captures are
kept, so an interrupted run can be resumed. `plimsoll audit FOLDER` reads the folder.

The pass assigns tensors to storages. Each storage is one allocation, and tensors that are never live together share
it. The script lays the storages end to end, so the peak is the sum of their sizes with padding. Each call of a kernel
is one step, and a tensor is live from the first call that uses it to the last one. Outputs have allocations of their
own.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from math import prod
from typing import Any

import tflite
import tvm
from captures import document, missing, write
from tflm_models import MODELS
from tvm import relax
from tvm.relax.frontend.tflite import from_tflite

ALIGNMENT = 64
SIZES = (96, 150)
WIDTHS = (4, 6)
# Operations whose result is their first argument.
VIEWS = ("relax.reshape", "relax.memory.view", "relax.memory.ensure_zero_offset")
PASSES = [
    relax.transform.LegalizeOps(),
    relax.transform.AnnotateTIROpPattern(),
    relax.transform.FoldConstant(),
    relax.transform.FuseOps(),
    relax.transform.FuseTIR(),
    relax.transform.RewriteDataflowReshape(),
    relax.transform.ToNonDataflow(),
    relax.transform.RemovePurityChecking(),
    relax.transform.CallTIRRewrite(),
    relax.transform.StaticPlanBlockMemory(),
]


def bytes_of(call: Any) -> int:
    """Returns the size of the tensor that a call of `alloc_tensor` creates."""
    size = prod(int(length) for length in call.args[2])
    return size * -(-tvm.DataType(call.args[3].value).bits // 8)


def memories(function: Any) -> list[dict[str, Any]]:
    """Returns the plan of a function after the pass."""
    storages: dict[Any, int] = {}
    rows: list[dict[str, Any]] = []
    tensors: dict[Any, dict[str, Any]] = {}
    homes: list[tuple[Any, int]] = []
    step = end = 0
    for binding in (binding for block in function.body.blocks for binding in block.bindings):
        value = binding.value
        name = getattr(getattr(value, "op", None), "name", "")
        if name == "relax.memory.alloc_storage":
            storages[binding.var] = int(value.args[0][0])
        elif name == "relax.memory.alloc_tensor":
            tensors[binding.var] = {"id": f"t{len(rows)}", "size": bytes_of(value)}
            rows.append(tensors[binding.var])
            homes.append((value.args[0], int(value.args[1].value)))
        elif isinstance(value, relax.Var):
            if value in tensors:
                tensors[binding.var] = tensors[value]
        elif name in VIEWS:
            if value.args[0] in tensors:
                tensors[binding.var] = tensors[value.args[0]]
        elif isinstance(getattr(value, "op", None), (tvm.ir.GlobalVar, relax.ExternFunc)):
            for row in (tensors[one] for one in value.args if one in tensors):
                row.setdefault("lower", step)
                row["upper"] = step + 1
            step += 1
    # The storage with the most padding is the last one, and its padding does not count.
    base: dict[Any, int] = {}
    for storage in sorted(storages, key=lambda storage: -storages[storage] % ALIGNMENT):
        base[storage] = -(-end // ALIGNMENT) * ALIGNMENT
        end = base[storage] + storages[storage]
    for row, (storage, offset) in zip(rows, homes, strict=True):
        row["offset"] = base[storage] + offset
    return [{"name": "storages", "alignment": ALIGNMENT, "peak": end, "buffers": rows}]


def capture(model: bytes) -> list[dict[str, Any]]:
    module = from_tflite(tflite.Model.GetRootAsModel(model, 0))
    with tvm.target.Target("llvm"):
        module = tvm.transform.Sequential(PASSES)(module)
    return memories(module["main"])


def main() -> int:
    keys = [(model, size, width) for model in MODELS for size in SIZES for width in WIDTHS]
    cases = [(f"{model}_{size}x{width}-b1", (model, size, width)) for model, size, width in keys]
    for file, (model, size, width) in missing(cases, ".capture.json"):
        found = capture(MODELS[model](size, width))
        name = f"{model}_{size}x{width}"
        write(file, document("TVM", version("apache-tvm"), "StaticPlanBlockMemory", name, 1, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
