"""Facts about ONNX models from an independent reader, as test data for datasets/tests/onnx.rs.

Shapes come from the checker of the `onnx` package (shape inference, strict, with data propagation), never from this
project. Tensors that it cannot size are listed by name and count as no bytes.

    pip install onnx==1.23.1
    python scripts/reference/onnx_facts.py CORPORA/onnx > datasets/tests/data/onnx_facts.json
"""

import collections
import json
import math
import pathlib
import sys

import onnx
from onnx import shape_inference

# Shapes of inputs whose dimensions are free.
SHAPES = {
    "silero_vad": {"input": [1, 576], "state": [2, 1, 128]},
    "silero_vad_16k_op15": {"input": [1, 576], "state": [2, 1, 128]},
}


def bits(element):
    if element in (onnx.TensorProto.UINT4, onnx.TensorProto.INT4):
        return 4
    return 8 * onnx.helper.tensor_dtype_to_np_dtype(element).itemsize


def size(element, shape):
    return (math.prod(shape) * bits(element) + 7) // 8


def graphs(graph):
    """The graph and those inside its operators."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from graphs(inner)


def known(info):
    """Bytes of a value; none where an extent or the type is not known."""
    kind = info.type.tensor_type
    if kind.elem_type == 0 or not kind.HasField("shape"):
        return None
    if not all(dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return size(kind.elem_type, [dim.dim_value for dim in kind.shape.dim])


def interface(values):
    return [
        [value.name, [dim.dim_value if dim.HasField("dim_value") else None for dim in value.type.tensor_type.shape.dim]]
        for value in values
    ]


def facts(path):
    model = onnx.load(path)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    for value in inputs:
        shape = SHAPES.get(path.stem, {}).get(value.name)
        for dim, extent in zip(value.type.tensor_type.shape.dim, shape or []):
            dim.dim_value = extent
    model = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    inputs = [value for value in model.graph.input if value.name not in constants]

    weights, kinds, unsized = 0, collections.Counter(), []
    activations, sized = 0, 0
    for value in inputs:
        activations += known(value)
        sized += 1
    for graph in graphs(model.graph):
        infos = {value.name: value for value in [*graph.value_info, *graph.output]}
        for tensor in graph.initializer:
            weights += size(tensor.data_type, tensor.dims)
        for node in graph.node:
            if node.op_type == "Constant":
                tensor = node.attribute[0].t
                weights += size(tensor.data_type, tensor.dims)
                continue
            kinds[node.op_type] += 1
            for name in filter(None, node.output):
                held = known(infos[name]) if name in infos else None
                if held is None:
                    unsized.append(name)
                else:
                    activations += held
                    sized += 1
    return {
        "file": path.name,
        "input_shapes": SHAPES.get(path.stem, {}),
        "inputs": interface(inputs),
        "outputs": interface(model.graph.output),
        "operators": dict(sorted(kinds.items())),
        "weight_bytes": weights,
        "sized_tensors": sized,
        "sized_bytes": activations,
        "unsized_tensors": sorted(unsized),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    header = f"python scripts/reference/onnx_facts.py CORPORA/onnx, with onnx {onnx.__version__}"
    models = [facts(path) for path in sorted(folder.glob("*.onnx"))]
    print(json.dumps({"made_by": header, "models": models}, indent=1))


if __name__ == "__main__":
    main()
