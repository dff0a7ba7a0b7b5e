"""Shapes and contents of the inputs of ONNX models.

Shapes: every free dimension gets a value, and variants change the batch or the spatial extents of the inputs.
Contents: random values that are valid for the operators that read them. If shapes depend on values (targets of Reshape,
repeats of Tile, indices of Gather), arbitrary random numbers would make the runtime fail.
"""

import itertools
import math

import numpy
import onnx
from onnx import numpy_helper

# Required contents of integer inputs, by operator and position. Every element gets the value.
FILLED = {
    ("BeamSearch", 1): 12,  # maximum length
    ("BeamSearch", 3): 2,  # beams
    ("GreedySearch", 1): 12,
    ("Sampling", 1): 12,
    ("Slice", 1): 0,
    ("Slice", 2): 2**31 - 1,
    ("Pad", 1): 0,
    ("CumSum", 1): 0,
    ("Range", 0): 0,
    ("Range", 1): 4,
    ("OneHot", 1): 4,
    ("Loop", 0): 2,
    ("EmbedLayerNormalization", 0): 0,
}
FILLED |= {(kind, 1): 0 for kind in ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND")}
FILLED |= {("EmbedLayerNormalization", 1): 0}
ONES = [("Div", 1), ("Mod", 1), ("Tile", 1), ("TopK", 1), ("Slice", 4), ("Range", 2), ("Upsample", 1), ("Resize", 2)]
ONES += [("Resize", 1), ("NonMaxSuppression", 2)]
ONES += [("BeamSearch", at) for at in (2, 4, 5, 6)]
ONES += [(kind, at) for kind in ("GreedySearch", "Sampling") for at in (2, 3)]
FILLED |= dict.fromkeys(ONES, 1)
TARGETS = [("Reshape", 1), ("Expand", 1), ("ConstantOfShape", 0), ("Resize", 3), ("CenterCropPad", 1)]  # shapes
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")

# Values of free dimensions, tried in this order until the runtime accepts them. The three numbers are for the
# first dimension of an input, for dimensions that look spatial (the third and later ones if an input has four
# or five dimensions), and for all others.
FREE = [(1, 1, 1), (1, 64, 8), (2, 2, 2), (1, 224, 1), (1, 224, 16), (1, 32, 3), (16, 16, 16), (1, 128, 512)]
FREE += [(1, 512, 576)]
UNRANKED = [[1], [], [1, 1], [1, 8], [1, 3, 8, 8], [1, 3, 224, 224]]  # tried for inputs without a shape


class Input:
    """An input of the graph: name, element type, extents; an extent is a number, a name or None.

    A sequence or an optional value is a `container`; it has neither element type nor extents.
    """

    def __init__(self, info):
        self.name = info.name
        self.container = info.type.WhichOneof("value") if info.type.WhichOneof("value") != "tensor_type" else None
        self.type = info.type
        kind = info.type.tensor_type
        self.element = kind.elem_type
        self.dims = None
        if kind.HasField("shape"):
            self.dims = [self._extent(dim) for dim in kind.shape.dim]

    @staticmethod
    def _extent(dim):
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return dim.dim_value
        return dim.dim_param or None


def free_inputs(graph):
    """Returns the inputs that are not initialisers."""
    constants = {tensor.name for tensor in graph.initializer}
    constants |= {sparse.values.name for sparse in graph.sparse_initializer}
    return [Input(info) for info in graph.input if info.name not in constants]


class Shapes:
    """One choice of shapes. `shapes` maps inputs to shapes, and `names` maps names of dimensions to values. `batch` is
    the value of the option `--batch`, or None. Containers have no shapes.
    """

    def __init__(self, inputs, shapes, names, batch=None):
        self.containers = [one for one in inputs if one.container]
        inputs = [one for one in inputs if not one.container]
        self.inputs, self.shapes, self.names, self.batch = inputs, shapes, names, batch

    def changes(self):
        """Returns true if the extents of an input differ from those that the file declares."""
        pairs = [pair for one in self.inputs for pair in zip(one.dims or [], self.shapes[one.name])]
        return any(isinstance(declared, int) and declared != extent for declared, extent in pairs)

    def arguments(self):
        """Returns the arguments of `plimsoll import` for these shapes."""
        found = [f"--dim={name}={value}" for name, value in sorted(self.names.items())]
        if self.batch is not None:
            found.append(f"--batch={self.batch}")
        for one in self.inputs:
            shape = self.shapes[one.name]
            follows = [self.names.get(dim, dim) if isinstance(dim, str) else dim for dim in one.dims or []]
            if self.batch is not None and follows:
                follows[0] = self.batch
            if one.dims is None or follows != shape:
                found.append(f"--input-shape={one.name}={'x'.join(map(str, shape))}")
        return found


def base_choices(inputs, given):
    """Yields shapes with every free dimension bound. `given` contains values by dimension name."""
    seen = []
    for triple in FREE:
        for unranked in UNRANKED if any(one.dims is None for one in inputs) else [[]]:
            names, shapes = {}, {}
            for one in inputs:
                shapes[one.name] = list(unranked) if one.dims is None else []
                for at, dim in enumerate(one.dims or []):
                    value = _free_value(one.dims, at, triple)
                    if isinstance(dim, str):
                        value = names.setdefault(dim, given.get(dim, value))
                    shapes[one.name].append(dim if isinstance(dim, int) else value)
            if shapes not in seen:
                seen.append(shapes)
                yield Shapes(inputs, shapes, names)


def _free_value(dims, at, triple):
    first, spatial, other = triple
    rank = len(dims)
    if rank > 1 and at == 0:
        return first
    if rank == 3 and at == 1 and isinstance(dims[0], int) and isinstance(dims[2], int):
        return first  # states of recurrent layers: layers, batch, hidden
    return spatial if rank in (4, 5) and at >= 2 else other


def test_choice(inputs, arrays):
    """Returns the shapes of test data, or None if an input has no data or a shape contradicts the declared one."""
    names, shapes = {}, {}
    for one in inputs:
        if one.name not in arrays:
            return None
        if one.container:
            continue
        shape = shapes[one.name] = list(arrays[one.name].shape)
        if one.dims is not None and len(one.dims) != len(shape):
            return None
        for dim, extent in zip(one.dims or [], shape):
            if isinstance(dim, str) and names.setdefault(dim, extent) != extent:
                return None
            if isinstance(dim, int) and dim != extent:
                return None
    return Shapes(inputs, shapes, names)


def batch_choices(base, batch):
    """Yields shapes with another batch: in all inputs, or in those that share the first extent of the first input.

    States of recurrent layers have their batch in the second dimension.
    """
    ranked = [one for one in base.inputs if base.shapes[one.name] and one.dims]
    if not ranked:
        return
    main = base.shapes[ranked[0].name][0]
    same = [one for one in ranked if base.shapes[one.name][0] == main]
    state = lambda one: 1 if len(one.dims) == 3 and base.shapes[one.name][0] != main else 0  # noqa: E731
    plans = [
        [(one, 0) for one in ranked],
        [(one, 0) for one in same],
        [(one, state(one)) for one in ranked if base.shapes[one.name][state(one)] == main],
        [(one, 1 if one is not ranked[0] and len(one.dims) == 3 else 0) for one in ranked if len(one.dims) > 1],
    ]
    for plan in plans:
        names, shapes = dict(base.names), {name: list(shape) for name, shape in base.shapes.items()}
        for one, at in plan:
            shapes[one.name][at] = batch
            if isinstance(one.dims[at], str):
                names[one.dims[at]] = batch
        _follow(base.inputs, shapes, names)
        if shapes != base.shapes:
            yield Shapes(base.inputs, shapes, names, batch)


def spatial_choices(base):
    """Yields shapes with twice the extents that look spatial: before or after the channels, or along a sequence."""
    is_token = lambda one: one.element in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)  # noqa: E731
    plans = [
        lambda one, rank: range(2, rank) if rank >= 4 else [],
        lambda one, rank: range(1, rank - 1) if rank >= 4 else [],
        lambda one, rank: [1] if rank == 3 else [],
        lambda one, rank: [2] if rank == 3 else [],
        lambda one, rank: [1] if rank == 2 and is_token(one) else [],
        lambda one, rank: [1] if rank == 2 else [],
    ]
    for plan in plans:
        names, shapes = dict(base.names), {name: list(shape) for name, shape in base.shapes.items()}
        for one in base.inputs:
            for at in plan(one, len(shapes[one.name])) if one.dims is not None else []:
                shapes[one.name][at] *= 2
                if isinstance(one.dims[at], str):
                    names[one.dims[at]] = shapes[one.name][at]
        _follow(base.inputs, shapes, names)
        if shapes != base.shapes:
            yield Shapes(base.inputs, shapes, names)


def _follow(inputs, shapes, names):
    """Sets every named dimension to the value of its name."""
    for one in inputs:
        for at, dim in enumerate(one.dims or []):
            if isinstance(dim, str):
                shapes[one.name][at] = names[dim]


def element_type(element):
    return onnx.helper.tensor_dtype_to_np_dtype(element)


class Contents:
    """The contents of inputs. The operators that read an integer input determine its valid contents."""

    def __init__(self, graph, generator):
        self.generator = generator
        self.readers = {}
        for node in graph.node:
            for at, name in enumerate(node.input):
                self.readers.setdefault(name, []).append((node, at))
        infos = itertools.chain(graph.output, graph.value_info, graph.input)
        self.declared = {info.name: self._declared(info) for info in infos}
        self.declared |= {tensor.name: list(tensor.dims) for tensor in graph.initializer}
        self.constants = dict(self._scalars(graph))

    @staticmethod
    def _scalars(graph):
        """Yields the constants of one element, by name."""
        for tensor in graph.initializer:
            if math.prod(tensor.dims) == 1 and tensor.data_location != onnx.TensorProto.EXTERNAL:
                yield tensor.name, numpy_helper.to_array(tensor)
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                if math.prod(node.attribute[0].t.dims) == 1:
                    yield node.output[0], numpy_helper.to_array(node.attribute[0].t)

    @staticmethod
    def _declared(info):
        dims = Input(info).dims if info.type.WhichOneof("value") == "tensor_type" else None
        return dims if dims is not None and all(isinstance(dim, int) for dim in dims) else None

    def fill(self, shapes, given):
        """Returns arrays by name. `given` is test data, which is repeated if a variant needs more of it."""
        shape_of = shapes.shapes
        arrays = {one.name: given[one.name] for one in shapes.containers}
        for one in shapes.inputs:
            shape = shape_of[one.name]
            if one.name in given:
                arrays[one.name] = numpy.resize(given[one.name], shape)
                continue
            arrays[one.name] = self._random(one, shape, shape_of)
        return arrays

    def _random(self, one, shape, shape_of):
        if one.element == onnx.TensorProto.STRING:
            return numpy.full(shape, "1", dtype=object)
        kind = element_type(one.element)
        for node, at in self.readers.get(one.name, []):
            values = self._wanted(node, at, shape, shape_of)
            if values is not None and numpy.size(values) == math.prod(shape):
                return numpy.array(values).reshape(shape).astype(kind)
        if kind == numpy.bool_:
            return numpy.ones(shape, kind)
        if kind.kind in "iu":
            return self.generator.integers(0, 2, shape).astype(kind)
        return self.generator.random(shape).astype(kind)

    def _wanted(self, node, at, shape, shape_of):
        """Returns the required values for input `at` of an operator, or None if any values are valid."""
        kind, count = (node.op_type, at), math.prod(shape)
        if kind in FILLED:
            return [FILLED[kind]] * count
        if node.op_type == "Equal" and self.constants.get(node.input[1 - at], numpy.zeros(0)).size == 1:
            return [self.constants[node.input[1 - at]].item()] * count  # select the branch for this constant
        if kind == ("Unsqueeze", 1) or kind == ("Slice", 3):
            return list(range(count))
        extents = lambda name: shape_of.get(name, self.declared.get(name))  # noqa: E731
        source = extents(node.input[0]) if node.input else None
        result = extents(node.output[0]) if node.output else None
        if kind in TARGETS:
            return self._target(node.op_type, count, source, result)
        if node.op_type in REDUCTIONS and at == 1:
            return list(range(len(source) if source is not None else count))[:count]
        if kind == ("Squeeze", 1):
            return [axis for axis, extent in enumerate(source or []) if extent == 1][:count]
        if kind == ("Split", 1) and source and len(node.output) == count:
            extent = source[next((item.i for item in node.attribute if item.name == "axis"), 0)]
            return [extent // count] * (count - 1) + [extent - extent // count * (count - 1)]
        if node.op_type in ("LSTM", "GRU", "RNN") and at == 4 and source:
            return [source[0]] * count
        return None

    @staticmethod
    def _target(operator, count, source, result):
        """Returns a shape to reshape, expand or resize to: that of the declared result if there is one."""
        if result is not None and len(result) == count:
            return result
        if operator == "Reshape" and count:
            return [-1] + [1] * (count - 1)
        return source if operator == "Resize" and source is not None and len(source) == count else [1] * count


def test_data(path, inputs):
    """Returns the test data next to a model (`test_data_set_0/input_0.pb`) by input name; empty if there is none."""
    folder, arrays = path.parent / "test_data_set_0", {}
    if path.name != "model.onnx" and len(list(path.parent.glob("*.onnx"))) > 1:
        return arrays  # the data may belong to another model of the folder
    for at, one in enumerate(inputs):
        file = folder / f"input_{at}.pb"
        if not file.exists():
            return {}
        try:
            arrays[one.name] = _value(one.type, file.read_bytes())
        except Exception:  # damaged, or of a type that numpy lacks
            return {}
    return arrays


def _value(kind, content):
    """Returns the contents of a file of test data: an array, a list of arrays, or None for an empty optional."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if which == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    array = numpy_helper.to_array(onnx.TensorProto.FromString(content))
    return array.astype(object) if array.dtype.kind in "SU" else array
