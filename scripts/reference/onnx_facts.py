"""Facts about ONNX models from an independent reader, as test data for datasets/tests/all/onnx.rs.

Sizes come from the `onnx` package, never from this project. For networks without branches, its shape
inference determines them (strict, with data propagation). Tensors that it cannot size are listed by name and
count as 0 bytes. Networks with branches are executed by its reference evaluator, and every tensor that a run
produces is listed with its bytes.

    pip install onnx==1.23.1
    python scripts/reference/onnx_facts.py CORPORA/onnx > datasets/tests/data/onnx_facts.json
"""

import collections
import json
import math
import pathlib
import sys

import numpy
import onnx
from onnx import shape_inference
from onnx.reference import ReferenceEvaluator

# Executed networks: shapes of inputs with free dimensions, and the sampling rates that select branches.
RUNS = {
    "silero_vad": [
        ({"input": [1, 576], "state": [2, 1, 128]}, [16000]),
        ({"input": [1, 288], "state": [2, 1, 128]}, [8000, 16000]),
        ({"input": [4, 288], "state": [2, 4, 128]}, [8000, 16000]),
    ],
    "silero_vad_16k_op15": [
        ({"input": [1, 576], "state": [2, 1, 128]}, [16000]),
        ({"input": [3, 512], "state": [2, 3, 128]}, [16000]),
    ],
}


def bits(element):
    if element in (onnx.TensorProto.UINT4, onnx.TensorProto.INT4):
        return 4
    return 8 * onnx.helper.tensor_dtype_to_np_dtype(element).itemsize


def size(element, shape):
    return (math.prod(shape) * bits(element) + 7) // 8


def graphs(graph):
    """Yields the graph and all graphs inside its operators."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from graphs(inner)


def known(info):
    """Returns the bytes of a value, or None if an extent or the type is unknown."""
    kind = info.type.tensor_type
    if kind.elem_type == 0 or not kind.HasField("shape"):
        return None
    if not all(dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return size(kind.elem_type, [dim.dim_value for dim in kind.shape.dim])


def interface(values):
    return [[value.name, [dim.dim_value for dim in value.type.tensor_type.shape.dim]] for value in values]


def contents(graph):
    """Returns the bytes of constants and the operators by kind, including bodies."""
    weights, kinds = 0, collections.Counter()
    for graph in graphs(graph):
        for tensor in graph.initializer:
            weights += size(tensor.data_type, tensor.dims)
        for node in graph.node:
            if node.op_type == "Constant":
                tensor = node.attribute[0].t
                weights += size(tensor.data_type, tensor.dims)
            else:
                kinds[node.op_type] += 1
    return {"operators": dict(sorted(kinds.items())), "weight_bytes": weights}


class Recorder(ReferenceEvaluator):
    """Executes a model and records the bytes of everything that operators produce, including bodies."""

    made = {}

    def _log(self, level, pattern, *values):
        if pattern == " + %s: %s" and values[0]:
            value = numpy.asarray(values[1])
            self.made.setdefault(values[0], set()).add((value.nbytes, value.shape))


def executed(path):
    """Yields, for each choice of shapes, the name, bytes and shape of every tensor that any run produces."""
    model = onnx.load(path)
    nodes = [node for graph in graphs(model.graph) for node in graph.node]
    constants = {name for node in nodes if node.op_type == "Constant" for name in node.output}
    for shapes, rates in RUNS[path.stem]:
        Recorder.made = {}
        for rate in rates:
            feeds = {name: numpy.zeros(shape, numpy.float32) for name, shape in shapes.items()}
            results = Recorder(model).run(None, {**feeds, "sr": numpy.array(rate, numpy.int64)})
        made = []
        for name, seen in Recorder.made.items():
            if name not in constants:
                # All runs must agree; otherwise, the size would depend on the input.
                ((held, shape),) = seen
                made.append([name, held, list(shape)])
        yield {
            "file": path.name,
            "input_shapes": shapes,
            "inputs": [[value.name, shapes.get(value.name, [])] for value in model.graph.input],
            "outputs": [[value.name, list(result.shape)] for value, result in zip(model.graph.output, results)],
            **contents(model.graph),
            "executed": made,
        }


def inferred(path):
    """Returns sums over the tensors that shape inference can size."""
    model = onnx.load(path)
    model = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    initial = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in initial]
    infos = {value.name: value for value in [*model.graph.value_info, *model.graph.output]}
    sizes = [known(value) for value in inputs]
    unsized = []
    for node in model.graph.node:
        if node.op_type == "Constant":
            continue
        for name in filter(None, node.output):
            held = known(infos[name]) if name in infos else None
            if held is None:
                unsized.append(name)
            else:
                sizes.append(held)
    return {
        "file": path.name,
        "input_shapes": {},
        "inputs": interface(inputs),
        "outputs": interface(model.graph.output),
        **contents(model.graph),
        "sized_tensors": len(sizes),
        "sized_bytes": sum(sizes),
        "unsized_tensors": sorted(unsized),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    header = f"python scripts/reference/onnx_facts.py CORPORA/onnx, with onnx {onnx.__version__}"
    models = []
    for path in sorted(folder.glob("*.onnx")):
        models.extend(executed(path) if path.stem in RUNS else [inferred(path)])
    lines = ",\n".join(json.dumps(model) for model in models)
    print(f'{{"made_by": {json.dumps(header)}, "models": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
