"""TFLite models with parallel chains. Two of the three models have control flow. They are built here because the
corpora contain no models of this kind."""

from __future__ import annotations

from typing import Any

import flatbuffers
import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

LENGTH, WIDE = 16, 256
FLOAT, INT, BOOL = schema.TensorType.FLOAT32, schema.TensorType.INT32, schema.TensorType.BOOL


class Model:
    """A model that is being built."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.buffers = [schema.BufferT()]
        self.subgraphs: list[Any] = []
        self.random = np.random.default_rng(0)

    def weights(self, rows: int, columns: int) -> int:
        return self.constant(self.random.normal(0, 0.1, (rows, columns)).astype(np.float32).tobytes())

    def constant(self, data: bytes) -> int:
        buffer = schema.BufferT()
        buffer.data = list(data)
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def code(self, kind: int) -> int:
        if kind not in self.codes:
            self.codes.append(kind)
        return self.codes.index(kind)

    def bytes(self) -> bytes:
        model = schema.ModelT()
        model.version = 3
        model.operatorCodes = []
        for kind in self.codes:
            code = schema.OperatorCodeT()
            code.builtinCode = kind
            code.deprecatedBuiltinCode = min(kind, 127)
            code.version = 1
            model.operatorCodes.append(code)
        model.buffers, model.subgraphs = self.buffers, self.subgraphs
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Subgraph:
    """A subgraph that is being built."""

    def __init__(self, model: Model, name: str) -> None:
        self.model, self.one = model, schema.SubGraphT()
        self.one.name, self.one.tensors, self.one.operators = name, [], []
        model.subgraphs.append(self.one)

    def tensor(self, name: str, kind: int = FLOAT, length: int = LENGTH, buffer: int = 0) -> int:
        tensor = schema.TensorT()
        tensor.name, tensor.type, tensor.shape, tensor.buffer = name, kind, [1, length], buffer
        self.one.tensors.append(tensor)
        return len(self.one.tensors) - 1

    def operator(self, kind: str, inputs: list[int], outputs: list[int], options: Any = None) -> None:
        operator = schema.OperatorT()
        operator.opcodeIndex = self.model.code(getattr(schema.BuiltinOperator, kind))
        operator.inputs, operator.outputs = inputs, outputs
        name = kind.title().replace("_", "") + "Options"
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, name)
        operator.builtinOptions = options if options is not None else getattr(schema, name + "T")()
        self.one.operators.append(operator)

    def step(self, kind: str, inputs: list[int], name: str) -> int:
        """Adds an operator on vectors of floats, and returns its output tensor."""
        output = self.tensor(name)
        self.operator(kind, inputs, [output])
        return output

    def ends(self, inputs: list[int], outputs: list[int]) -> None:
        self.one.inputs, self.one.outputs = inputs, outputs


def dense(subgraph: Subgraph, source: int, name: str, sizes: tuple[int, int]) -> int:
    """Adds a fully connected layer. `sizes` contains the lengths of its input and its output."""
    rows, columns = sizes[1], sizes[0]
    weights = subgraph.tensor(f"{name} weights", length=columns, buffer=subgraph.model.weights(rows, columns))
    subgraph.one.tensors[weights].shape = [rows, columns]
    output = subgraph.tensor(name, length=rows)
    options = schema.FullyConnectedOptionsT()
    subgraph.operator("FULLY_CONNECTED", [source, weights, -1], [output], options)
    return output


def fan(subgraph: Subgraph, source: int, name: str) -> int:
    """Adds three chains, each through a wide tensor, and the sum of their ends. The file interleaves the chains, so
    all wide tensors are live at once."""
    wide = [dense(subgraph, source, f"{name} wide {at}", (LENGTH, WIDE)) for at in range(3)]
    ends = [dense(subgraph, one, f"{name} end {at}", (WIDE, LENGTH)) for at, one in enumerate(wide)]
    return subgraph.step("ADD", [subgraph.step("ADD", ends[:2], f"{name} sum"), ends[2]], f"{name} all")


def parallel() -> bytes:
    """Returns a fan without control flow as a TFLite model."""
    model = Model()
    main = Subgraph(model, "main")
    source = main.tensor("x")
    main.ends([source], [main.step("ADD", [fan(main, source, "fan"), source], "y")])
    return model.bytes()


def branching() -> bytes:
    """Returns a TFLite model with a fan, followed by an `If` with a fan in each branch."""
    model = Model()
    main = Subgraph(model, "main")
    condition, source = main.tensor("condition", BOOL, 1), main.tensor("x")
    first = fan(main, source, "first")
    options = schema.IfOptionsT()
    options.thenSubgraphIndex, options.elseSubgraphIndex = 1, 2
    chosen = main.tensor("chosen")
    main.operator("IF", [condition, first], [chosen], options)
    main.ends([condition, source], [main.step("ADD", [chosen, source], "y")])
    for name in ("then", "else"):
        branch = Subgraph(model, name)
        given = branch.tensor("given")
        result = fan(branch, given, "one")
        branch.ends([given], [result if name == "then" else branch.step("MUL", [result, given], "two")])
    return model.bytes()


def looping() -> bytes:
    """Returns a TFLite model with a `While` whose body is a fan. The loop runs until the counter, which is an input,
    reaches 4."""
    model = Model()
    one, limit = (model.constant(value.to_bytes(4, "little")) for value in (1, 4))
    half = model.constant(b"\0\0\0\x3e" * LENGTH)
    main = Subgraph(model, "main")
    count, source = main.tensor("count", INT, 1), main.tensor("x")
    ends = [main.tensor("trips", INT, 1), main.tensor("last")]
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    main.operator("WHILE", [count, source], ends, options)
    main.ends([count, source], [main.step("ADD", [ends[1], source], "y")])
    condition = Subgraph(model, "condition")
    given = [condition.tensor("count", INT, 1), condition.tensor("value")]
    less = condition.tensor("less", BOOL, 1)
    condition.operator("LESS", [given[0], condition.tensor("limit", INT, 1, limit)], [less])
    condition.ends(given, [less])
    body = Subgraph(model, "body")
    given = [body.tensor("count", INT, 1), body.tensor("value")]
    more = body.tensor("more", INT, 1)
    body.operator("ADD", [given[0], body.tensor("one", INT, 1, one)], [more])
    scaled = body.step("MUL", [given[1], body.tensor("half", buffer=half)], "scaled")
    body.ends(given, [more, fan(body, scaled, "trip")])
    return model.bytes()
