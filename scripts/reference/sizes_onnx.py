"""Sizes of all tensors of ONNX models, as onnxruntime allocates them when it runs the models.

    python sizes_onnx.py FOLDER --out sizes.jsonl [--batch 2 --batch 4] [--scale-spatial] [--dim NAME=V]

Every output of every operator of the main graph is fetched. Tensors in the bodies of If, Loop and Scan are
not visible. Optimisations of the runtime are disabled. For records and resumption see records.py.
"""

import argparse
import collections
import math

import numpy
import onnx
import onnxruntime

import onnx_inputs
import records

HOPELESS = ("InvalidGraph", "NotImplemented", "InvalidProtobuf", "NoSuchFile")  # errors that no shapes can avoid
LARGEST = 1 << 26  # elements of all inputs together
WIDTH = {"float": 4, "double": 8, "bool": 1, "float16": 2, "bfloat16": 2, "complex64": 8, "complex128": 16}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    records.add_arguments(parser)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=V", help="value of a free dimension")
    options = parser.parse_args()
    options.dims = {name: int(value) for name, value in (text.rsplit("=", 1) for text in options.dim)}
    onnxruntime.set_default_logger_severity(4)
    records.record_folder(measure, ".onnx", options)


def measure(path, variant, options):
    model = onnx.load(str(path), load_external_data=False)
    seen = {"operators": kinds(model.graph), "notes": []}
    inputs = onnx_inputs.free_inputs(model.graph)
    given = onnx_inputs.test_data(path, inputs)
    if any(one.container for one in inputs) and not given:
        return seen | records.failure("Unsupported", "an input is a sequence, a map or optional, without test data")
    if given:
        seen["notes"].append("inputs from test data")
    base, answer = first_that_runs(path, model, base_choices(inputs, given, options.dims), given)
    if variant != "base" and base is not None:
        if variant == "spatial":
            choices = onnx_inputs.spatial_choices(base)
        else:
            choices = onnx_inputs.batch_choices(base, int(variant.split("=")[1]))
        _, answer = first_that_runs(path, model, choices, given)
    seen["notes"] += answer.pop("notes", [])
    return seen | answer


def base_choices(inputs, given, dims):
    if given:
        choice = onnx_inputs.test_choice(inputs, given)
        if choice is not None:
            yield choice
    if any(one.container for one in inputs):
        return
    yield from onnx_inputs.base_choices(inputs, dims)


def first_that_runs(path, model, choices, given):
    """Returns the first choice of shapes that the runtime accepts and its record, or None and the first failure."""
    answer = None
    for choice in choices:
        if sum(math.prod(shape) for shape in choice.shapes.values()) > LARGEST:
            continue
        try:
            return choice, execute(path, model, choice, given)
        except Exception as error:  # the classes of the runtime share no base
            answer = answer or records.failure(type(error).__name__, str(error))
            answer.setdefault("arguments", choice.arguments())
            if type(error).__name__ in HOPELESS:
                break
    return None, answer or records.failure("NoVariant", "no input has such a dimension")


def execute(path, model, choice, given):
    """Runs a model once. If the runtime cannot return inner values, only the outputs of the model are recorded."""
    graph = model.graph
    contents = onnx_inputs.Contents(graph, numpy.random.default_rng(0))
    arrays = contents.fill(choice, given)
    names = [info.name for info in graph.output]
    inner = [name for node in graph.node for name in node.output if name and name not in names]
    notes = []
    try:
        session = open_session(path, reshaped(model, choice, inner))
        names += inner
    except Exception:
        session = open_session(path, reshaped(model, choice, []))
        notes.append("inner values are not visible")
    tensors = run(session, names, arrays)
    if any(attribute.HasField("g") for node in graph.node for attribute in node.attribute):
        notes.append("bodies are not visible")
    seen = {tensor["name"] for tensor in tensors}
    tensors += [size(one.name, f"tensor({type_name(one.element)})", choice.shapes[one.name]) for one in choice.inputs]
    for tensor in graph.initializer:
        if tensor.name not in seen:
            tensors.append(size(tensor.name, f"tensor({type_name(tensor.data_type)})", list(tensor.dims)))
    answer = {"ran": True, "arguments": choice.arguments(), "values": records.small_values(arrays), "notes": notes}
    return answer | {"tensors": tensors}


def reshaped(model, choice, inner):
    """Returns the model with `inner` as additional outputs, and without declared shapes if inputs have other shapes."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
    if not choice.changes():
        return changed
    for info in changed.graph.input:
        shape = choice.shapes.get(info.name)
        if shape is not None and info.type.tensor_type.HasField("shape"):
            for dim in info.type.tensor_type.shape.dim:
                dim.Clear()
    forget_shapes(changed.graph)
    return changed


def forget_shapes(graph):
    """Drops the declared shapes of values and outputs, also in bodies. Types are kept."""
    for info in [*graph.value_info, *graph.output]:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                forget_shapes(body)


def open_session(path, model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(path.parent))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(session, names, arrays):
    """Returns the sizes of the named values after a run."""
    wanted = {value.name for value in session.get_inputs()}
    feeds = {name: array for name, array in arrays.items() if name in wanted}
    if any(getattr(array, "dtype", object) == object for array in feeds.values()):
        return [plain_size(name, value) for name, value in zip(names, session.run(names, feeds))]
    values = session.run_with_ort_values(names, {name: ort_value(array) for name, array in feeds.items()})
    found = []
    for name, value in zip(names, values):
        if value.has_value() and value.is_tensor():
            found.append(size(name, value.data_type(), list(value.shape())))
        else:
            found.append({"name": name, "dtype": "other", "shape": None, "bytes": None})
    return found


def plain_size(name, value):
    """Returns the size of a numpy value; strings have no size."""
    if not isinstance(value, numpy.ndarray) or value.dtype.kind in "OSU":
        return {"name": name, "dtype": "other", "shape": None, "bytes": None}
    return {"name": name, "dtype": value.dtype.name, "shape": list(value.shape), "bytes": value.nbytes}


def ort_value(array):
    if array.dtype.type.__module__ != "numpy":  # types that numpy lacks
        code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.itemsize}"), code)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def type_name(element):
    """Returns the name that the runtime uses for an element type."""
    return onnx.TensorProto.DataType.Name(element).lower()


def size(name, kind, shape):
    kind = kind.removeprefix("tensor(").removesuffix(")")
    bits = width(kind)
    total = None if bits is None else (math.prod(shape) * bits + 7) // 8
    return {"name": name, "dtype": kind, "shape": shape, "bytes": total}


def width(kind):
    """Returns the bits of an element, or None for strings."""
    if kind in WIDTH:
        return 8 * WIDTH[kind]
    if kind.startswith("float8"):
        return 8
    if kind.startswith("float4"):
        return 4
    digits = kind.removeprefix("uint").removeprefix("int")
    return int(digits) if digits.isdigit() else None


def kinds(graph):
    """Returns the number of operators by kind, including bodies. Other domains are prefixed to the kind."""
    found = collections.Counter()
    for node in graph.node:
        found[node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"] += 1
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                found.update(kinds(body))
    return dict(found)


if __name__ == "__main__":
    main()
