"""Sizes of all tensors of TFLite models, as the TFLite interpreter reports them after running the models.

    python sizes_tflite.py FOLDER --out sizes.jsonl [--batch 2 --batch 4] [--scale-spatial]

Only tensors of subgraph 0 are recorded; those in the subgraphs of IF, WHILE and CALL are not visible. No
delegate is used and every tensor is preserved, so shapes that kernels determine at run time are included.
Temporary tensors of kernels are not recorded. For records and resumption see records.py.
"""

import argparse
import collections
import math

import numpy
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import records

TYPES = {code: name.lower() for name, code in vars(schema.TensorType).items() if not name.startswith("_")}
OPERATORS = {code: name for name, code in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
BITS = {"int2": 2, "uint4": 4, "int4": 4, "bool": 8, "complex64": 64, "complex128": 128, "bfloat16": 16}
LARGEST = 1 << 24  # elements of all inputs together


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    records.add_arguments(parser)
    records.record_folder(measure, ".tflite", parser.parse_args())


def measure(path, variant, _options):
    content = path.read_bytes()
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    operators, custom = kinds(model)
    graph = model.subgraphs[0]
    inputs = {at: extents(graph.tensors[at]) for at in graph.inputs}
    seen = {"operators": operators, "custom": custom, "notes": []}
    if any(operators.get(kind) for kind in ("IF", "WHILE", "CALL_ONCE")) or len(model.subgraphs) > 1:
        seen["notes"].append("subgraphs other than the first are not visible")
    answer = None
    for shapes, arguments in choices(graph, inputs, variant):
        if sum(math.prod(shape) for shape in shapes.values()) > LARGEST:
            continue
        try:
            return seen | execute(content, graph, inputs, shapes, arguments)
        except (RuntimeError, ValueError) as error:
            answer = answer or records.failure(type(error).__name__, str(error)) | {"arguments": arguments}
    return seen | (answer or records.failure("NoVariant", "no input has such a dimension"))


def kinds(model):
    """Returns the number of operators by kind in all subgraphs, and the kinds that are custom operators."""
    names, custom = [], set()
    for code in model.operatorCodes:
        builtin = max(code.builtinCode, code.deprecatedBuiltinCode)
        name = OPERATORS.get(builtin, str(builtin))
        if name == "CUSTOM":
            name = (code.customCode or b"").decode("utf8", "replace")
            custom.add(name)
        names.append(name)
    found = collections.Counter()
    for graph in model.subgraphs:
        found.update(names[operator.opcodeIndex] for operator in graph.operators or [])
    return dict(found), sorted(custom)


def extents(tensor):
    return [int(extent) for extent in tensor.shape] if tensor.shape is not None else []


def title(graph, at):
    """Returns the name of a tensor, or its number if it has none."""
    name = graph.tensors[at].name
    return name.decode("utf8", "replace") if name else f"t{at}"


def choices(graph, inputs, variant):
    """Yields shapes of the inputs, with the arguments of `plimsoll import` for them."""
    if variant == "base":
        yield inputs, []
        return
    if variant == "spatial":
        plans = [
            lambda shape: range(1, len(shape) - 1) if len(shape) >= 4 else [],
            lambda shape: range(2, len(shape)) if len(shape) >= 4 else [],
            lambda shape: [1] if len(shape) == 3 else [],
            lambda shape: [2] if len(shape) == 3 else [],
            lambda shape: [1] if len(shape) == 2 else [],
        ]
        for plan in plans:
            twice = lambda shape: [2 * n if k in plan(shape) else n for k, n in enumerate(shape)]  # noqa: E731
            shapes = {at: twice(shape) for at, shape in inputs.items()}
            if shapes != inputs:
                yield shapes, given(graph, inputs, shapes)
        return
    batch = int(variant.split("=")[1])
    shapes = {at: [batch, *shape[1:]] if shape else shape for at, shape in inputs.items()}
    if shapes != inputs:
        yield shapes, [f"--batch={batch}"]
    some = {at: [batch, *shape[1:]] if len(shape) > 1 and shape[0] == 1 else shape for at, shape in inputs.items()}
    if some not in (inputs, shapes):
        kept = {at: shape for at, shape in some.items() if shape == inputs[at] and shape}
        yield some, [f"--batch={batch}", *given(graph, {at: None for at in kept}, kept)]


def given(graph, inputs, shapes):
    return [
        f"--input-shape={title(graph, at)}={records.shape_text(shape)}"
        for at, shape in shapes.items()
        if shape != inputs[at]
    ]


def execute(content, graph, inputs, shapes, arguments):
    interpreter = Interpreter(
        model_content=content,
        num_threads=1,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    for at, shape in shapes.items():
        if shape != inputs[at]:
            interpreter.resize_tensor_input(at, shape)
    interpreter.allocate_tensors()
    generator, arrays = numpy.random.default_rng(0), {}
    for detail in interpreter.get_input_details():
        at = detail["index"]
        arrays[at] = contents(graph, at, detail["dtype"], shapes[at], generator)
        interpreter.set_tensor(at, arrays[at])
    interpreter.invoke()
    details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    tensors = [
        size(title(graph, at), TYPES.get(graph.tensors[at].type, "?"), details[at]["shape"].tolist())
        for at in sorted(visible(graph))
        if at in details
    ]
    values = records.small_values({title(graph, at): array for at, array in arrays.items()})
    return {"ran": True, "arguments": arguments, "values": values, "tensors": tensors}


def visible(graph):
    """Returns the inputs, the outputs, and the tensors that operators produce or consume.

    Other tensors have no memory.
    """
    found = set(graph.inputs) | set(graph.outputs)
    for operator in graph.operators or []:
        found.update(at for at in [*operator.inputs, *operator.outputs] if at >= 0)
    return {int(at) for at in found}


def contents(graph, at, kind, shape, generator):
    """Returns valid contents of an input: shapes that match declared results, small indices, or random values."""
    if kind in (numpy.bytes_, numpy.str_, numpy.object_):
        return numpy.full(shape, b"1", dtype=object)
    kind = numpy.dtype(kind)
    if kind == numpy.bool_:
        return numpy.ones(shape, kind)
    if kind.kind in "iu" and kind.itemsize >= 4:
        count = math.prod(shape)
        for operator in graph.operators or []:
            if at in operator.inputs and list(operator.inputs).index(at) >= 1 and len(shape) == 1:
                result = extents(graph.tensors[operator.outputs[0]])
                if len(result) == count:
                    return numpy.array(result).astype(kind).reshape(shape)
        return generator.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        return generator.integers(0, 100, shape).astype(kind)
    return generator.random(shape).astype(kind)


def size(name, kind, shape):
    digits = kind.lstrip("uintfloa")
    bits = BITS.get(kind) or (int(digits) if digits.isdigit() else None)
    total = None if bits is None else (math.prod(shape) * bits + 7) // 8
    return {"name": name, "dtype": kind, "shape": shape, "bytes": total}


if __name__ == "__main__":
    main()
