"""Measures the scratch memory that the kernels of a model request in tflite-micro, and prints the sizes as CSV
for `plimsoll plan --scratch`. Each row describes one scratch buffer and contains the indices of the subgraph and
of the operator in the file.

    python scratch.py MODEL.tflite > scratch.csv

A model file does not contain the requests, and the interpreter does not report them. The interpreter reports
only the size of the part of its arena that holds tensors and scratch buffers (`head`). For each operator, this
script writes a model of that operator alone, with an offline plan, and varies the plan:

- The tensors of the operator overlap at offset 0, which the interpreter permits.
- Above them are blockers: outputs of the model that no operator produces, with gaps in between. The
  interpreter places scratch buffers in order of decreasing size, each in the lowest gap in which it fits. If
  the gaps below are full, a further gap stays empty until it is as large as the smallest scratch buffer that
  is not in a gap. Bisection finds this size.

The package `tflite-micro` contains the reference kernels. Other kernels, such as those of CMSIS-NN, request
other sizes.
"""

from __future__ import annotations

import copy
import csv
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

import flatbuffers
import numpy as np
from tflite_micro.python.tflite_micro import runtime
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

GRAIN = 16
LARGE, ARENA = 1 << 26, 1 << 28
MARK = 0x7EED5EED
MOST = 12  # scratch buffers per operator (kMaxScratchBuffersPerOp)
# Operators that run subgraphs. Their kernels request no scratch memory.
CONTROL = (schema.BuiltinOperator.IF, schema.BuiltinOperator.WHILE, schema.BuiltinOperator.CALL_ONCE)


def unpack(model: bytes) -> Any:
    return schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(model, 0))


def pack(model: Any) -> bytes:
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def has_values(model: Any, tensor: Any) -> bool:
    data = model.buffers[tensor.buffer].data
    return data is not None and len(data) > 0


def head(model: bytes) -> int:
    """Returns the number of bytes that the interpreter uses for the tensors and scratch buffers of a model."""
    return allocated(model, "head")


def allocated(model: bytes, part: str) -> int:
    """Returns the number of bytes that the interpreter uses for a part of the arena: `head`, `tail` or `total`."""
    one = runtime.Interpreter.from_bytes(model, arena_size=ARENA)
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            one.print_allocations()
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        file.seek(0)
        report = file.read().decode()
    return int(report.partition(f"Arena allocation {part} ")[2].split()[0])


class Alone:
    """A model of one operator. The last `MOST` tensors are outputs that no operator produces."""

    def __init__(self, model: Any, subgraph: int, operator: int) -> None:
        part = copy.copy(model.subgraphs[subgraph])
        one = part.operators[operator]
        used = {at for at in [*one.inputs, *one.outputs] if at >= 0}
        part.tensors = [copy.copy(tensor) for tensor in part.tensors]
        for at, tensor in enumerate(part.tensors):
            if at not in used:
                tensor.shape, tensor.shapeSignature, tensor.buffer, tensor.isVariable = [0], None, 0, False
        constant = [has_values(model, tensor) for tensor in part.tensors]
        self.variable = [tensor.isVariable for tensor in part.tensors]
        tensors = len(part.tensors)
        for at in range(MOST):
            blocker = schema.TensorT()
            blocker.name, blocker.shape, blocker.type = f"blocker{at}", [GRAIN], schema.TensorType.INT8
            part.tensors.append(blocker)
        given = {at for at in one.inputs if at >= 0 and not constant[at] and not self.variable[at]}
        part.operators, part.inputs = [one], sorted(given)
        part.outputs = [*one.outputs, *range(tensors, tensors + MOST)]
        whole = copy.copy(model)
        whole.subgraphs, whole.signatureDefs = [part], None
        kept = {part.tensors[at].buffer for at in used}
        whole.buffers = [held if at in kept else schema.BufferT() for at, held in enumerate(model.buffers)]
        plan, entry = schema.BufferT(), schema.MetadataT()
        entry.name, entry.buffer = "OfflineMemoryAllocation", len(whole.buffers)
        marked = np.array([1, 1, len(part.tensors), *[MARK] * len(part.tensors)], dtype=np.int32)
        plan.data = marked.view(np.uint8)
        whole.buffers.append(plan)
        whole.metadata = [entry]
        self.before, _, self.after = pack(whole).partition(marked.tobytes())
        # All scratch buffers fit below a large offset, so the head is the end of the largest tensor.
        self.tensor_bytes = self.head(LARGE, [LARGE] * MOST) - LARGE

    def head(self, tensors: int, blockers: list[int]) -> int:
        """Returns the head with all tensors at one offset, and with blockers at further offsets."""
        offsets = [-1 if variable else tensors for variable in self.variable] + blockers
        plan = np.array([1, 1, len(offsets), *offsets], dtype=np.int32)
        return head(self.before + plan.tobytes() + self.after)

    def rest(self, gaps: list[int]) -> int:
        """Returns the bytes of the scratch buffers above the last blocker, if each blocker has a gap of the given size
        below it."""
        top, blockers = self.tensor_bytes, []
        for gap in gaps:
            blockers.append(top + gap)
            top += gap + GRAIN
        return self.head(0, blockers + [0] * (MOST - len(gaps))) - top

    def scratch(self) -> list[int]:
        """Returns the sizes of the scratch buffers, in increasing order."""
        sizes: list[int] = []
        left = self.rest([])
        while left > 0:
            low, high = 0, left // GRAIN
            while high - low > 1:
                middle = (low + high) // 2
                empty = self.rest([*sizes, middle * GRAIN]) == left
                low, high = (middle, high) if empty else (low, middle)
            sizes.append(high * GRAIN)
            left -= sizes[-1]
        return sizes


def requests(original: bytes) -> list[tuple[int, int, int]]:
    """Returns the scratch buffers of a model: subgraph, operator, and size in bytes."""
    found, model = [], unpack(original)
    for subgraph, part in enumerate(model.subgraphs):
        for operator, one in enumerate(part.operators):
            code = model.operatorCodes[one.opcodeIndex]
            if max(code.builtinCode, code.deprecatedBuiltinCode) in CONTROL:
                continue
            sizes = Alone(model, subgraph, operator).scratch()
            found += [(subgraph, operator, size) for size in sizes]
    return found


def write(found: list[tuple[int, int, int]], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["subgraph", "operator", "bytes"])
    writer.writerows(found)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    write(requests(Path(sys.argv[1]).read_bytes()), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
