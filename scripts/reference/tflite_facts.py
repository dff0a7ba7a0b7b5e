#!/usr/bin/env python3
"""Facts about TFLite models from an independent reader: the PyPI package `tflite`, generated from the schema.

    python3 -m venv env && env/bin/pip install tflite==2.18.0 numpy==2.4.6
    env/bin/python scripts/reference/tflite_facts.py "$PLIMSOLL_CORPORA/tflite" > datasets/tests/data/tflite_facts.json

Sizes are the product of shape and type width, summed over tensors that are operands, results, inputs or
outputs. `constants` sums the bytes of the buffers, each buffer once. Multiply-accumulates follow from shapes
and options. `alive` is the peak of live bytes in file order. A tensor that is not constant is live from its
producer (inputs: from the first operator) to its last consumer (outputs: to the last operator). Variables are
live throughout. The result of a reshape shares the memory of its operand. Every size is rounded up to a multiple
of 16.
"""

import collections
import importlib.metadata
import json
import pathlib
import platform
import sys

import tflite

KINDS = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
TYPES = {v: k.lower() for k, v in vars(tflite.TensorType).items() if isinstance(v, int)}
BITS = {
    "float32": 32, "float16": 16, "int32": 32, "uint8": 8, "int64": 64, "bool": 8, "int16": 16,
    "complex64": 64, "int8": 8, "float64": 64, "complex128": 128, "uint64": 64, "uint32": 32,
    "uint16": 16, "int4": 4, "bfloat16": 16,
}


def size(tensor):
    elements = 1
    for i in range(tensor.ShapeLength()):
        elements *= tensor.Shape(i)
    return (elements * BITS[TYPES[tensor.Type()]] + 7) // 8


def shape(tensor):
    return [tensor.Shape(i) for i in range(tensor.ShapeLength())]


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def macs(graph, operator, kind):
    """Returns the multiply-accumulates of layers with weights; 0 for other operators."""
    def read(i):
        return shape(graph.Tensors(operator.Inputs(i)))

    produced = product(shape(graph.Tensors(operator.Outputs(0)))) if operator.OutputsLength() else 0
    if kind == "CONV_2D":
        filters = read(1)
        return produced * filters[1] * filters[2] * filters[3]
    if kind == "DEPTHWISE_CONV_2D":
        filters = read(1)
        return produced * filters[1] * filters[2]
    if kind == "FULLY_CONNECTED":
        return product(read(0)) // read(1)[1] * product(read(1))
    if kind == "SVDF":
        return read(0)[0] * (product(read(1)) + product(read(2)))
    if kind == "UNIDIRECTIONAL_SEQUENCE_LSTM":
        first, second, _ = read(0)
        used = [i for i in [1, 2, 3, 4, 5, 6, 7, 8, 16] if operator.Inputs(i) >= 0]
        return first * second * sum(product(read(i)) for i in used)
    return 0


def alive(model, graph):
    """Returns the maximum number of live bytes over all steps."""
    def constant(i):
        return model.Buffers(graph.Tensors(i).Buffer()).DataLength() > 0

    inputs = [graph.Inputs(i) for i in range(graph.InputsLength())]
    outputs = [graph.Outputs(i) for i in range(graph.OutputsLength())]
    last = graph.OperatorsLength() - 1
    home, start, end, width = {}, {}, {}, {}

    def touch(i, step):
        at = home.setdefault(i, i)
        start[at], end[at] = min(start.get(at, step), step), max(end.get(at, step), step)
        width[at] = max(width.get(at, 0), size(graph.Tensors(i)))

    for i in inputs:
        touch(i, 0)
    for step in range(last + 1):
        operator = graph.Operators(step)
        reads = [operator.Inputs(j) for j in range(operator.InputsLength())]
        makes = [operator.Outputs(j) for j in range(operator.OutputsLength())]
        code = model.OperatorCodes(operator.OpcodeIndex())
        if KINDS[max(code.DeprecatedBuiltinCode(), code.BuiltinCode())] == "RESHAPE" and not constant(reads[0]):
            home[makes[0]] = home.get(reads[0], reads[0])
        for i in reads + makes:
            if i >= 0 and not constant(i):
                touch(i, step)
                if graph.Tensors(i).IsVariable():
                    touch(i, 0)
                    touch(i, last)
    for i in outputs:
        touch(i, last)
    held = [(start[i], end[i], (width[i] + 15) // 16 * 16) for i in width]
    return max(sum(w for a, b, w in held if a <= step <= b) for step in range(last + 1))


def facts(path):
    model = tflite.Model.GetRootAs(path.read_bytes(), 0)
    assert model.SubgraphsLength() == 1, f"{path}: more than one subgraph"
    graph = model.Subgraphs(0)
    kinds, used, layers = collections.Counter(), set(), 0
    for i in range(graph.OperatorsLength()):
        operator = graph.Operators(i)
        code = model.OperatorCodes(operator.OpcodeIndex())
        kind = KINDS[max(code.DeprecatedBuiltinCode(), code.BuiltinCode())]
        kinds[kind] += 1
        layers += macs(graph, operator, kind)
        used |= {operator.Inputs(j) for j in range(operator.InputsLength())}
        used |= {operator.Outputs(j) for j in range(operator.OutputsLength())}
    inputs = [graph.Inputs(i) for i in range(graph.InputsLength())]
    outputs = [graph.Outputs(i) for i in range(graph.OutputsLength())]
    used = (used | set(inputs) | set(outputs)) - {-1}
    constants, sums = {}, collections.Counter()
    for i in sorted(used):
        tensor = graph.Tensors(i)
        bytes_ = model.Buffers(tensor.Buffer()).DataLength()
        if bytes_:
            constants[tensor.Buffer()] = bytes_
        elif i in inputs:
            sums["inputs"] += size(tensor)
        elif tensor.IsVariable():
            sums["states"] += size(tensor)
        elif i in outputs:
            sums["outputs"] += size(tensor)
        else:
            sums["activations"] += size(tensor)
    ends = {
        name: [[TYPES[graph.Tensors(i).Type()], shape(graph.Tensors(i))] for i in tensors]
        for name, tensors in (("input_shapes", inputs), ("output_shapes", outputs))
    }
    return {
        "kinds": dict(sorted(kinds.items())),
        "constants": sum(constants.values()),
        **{name: sums[name] for name in ("inputs", "outputs", "activations", "states")},
        **ends,
        "multiply_accumulates": layers,
        "alive": alive(model, graph),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    result = {
        "command": "python scripts/reference/tflite_facts.py $PLIMSOLL_CORPORA/tflite",
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in ("tflite", "flatbuffers", "numpy")},
        "models": {path.name: facts(path) for path in sorted(folder.glob("*.tflite"))},
    }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
