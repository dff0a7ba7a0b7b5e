"""Networks in the format of TFLite, with constant weights: convolutional networks of the sizes that run on
microcontrollers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "runtimes"))
from control_models import FLOAT, INT, Model, Subgraph
from scratch import head, unpack
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

__all__ = ["MODELS", "head", "unpack"]
DILATION = {"dilationWFactor": 1, "dilationHFactor": 1}
RELU = schema.ActivationFunctionType.RELU


class Net:
    """A network that is being built. Tensors are numbers; `shape` maps each of them to its dimensions."""

    def __init__(self, size: int, channels: int) -> None:
        self.model = Model()
        self.graph = Subgraph(self.model, "main")
        self.shape: dict[int, list[int]] = {}
        self.source = self.tensor("x", [1, size, size, channels])

    def tensor(self, name: str, shape: list[int]) -> int:
        tensor = self.graph.tensor(name)
        self.graph.one.tensors[tensor].shape = shape
        self.shape[tensor] = shape
        return tensor

    def constant(self, shape: list[int], values: Any = None) -> int:
        data = np.zeros(shape, np.float32) if values is None else np.array(values, np.int32)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data.tobytes(), np.uint8)
        self.model.buffers.append(buffer)
        kind = FLOAT if values is None else INT
        tensor = self.graph.tensor("constant", kind, buffer=len(self.model.buffers) - 1)
        self.graph.one.tensors[tensor].shape = shape
        return tensor

    def add(self, code: str, inputs: list[int], shape: list[int], kind: str = "", **options: Any) -> int:
        """Adds an operator, and returns its output. `kind` is the name of its options in the schema."""
        output = self.tensor(f"{code.lower()}{len(self.graph.one.operators)}", shape)
        operator = schema.OperatorT()
        operator.opcodeIndex = self.model.code(getattr(schema.BuiltinOperator, code))
        operator.inputs, operator.outputs = inputs, [output]
        if kind:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, f"{kind}Options")
            operator.builtinOptions = getattr(schema, f"{kind}OptionsT")()
            for name, value in options.items():
                setattr(operator.builtinOptions, name, value)
        self.graph.one.operators.append(operator)
        return output

    def strided(self, x: int, stride: int, channels: int) -> list[int]:
        _, height, width, _ = self.shape[x]
        return [1, -(-height // stride), -(-width // stride), channels]

    def conv(self, x: int, outputs: int, size: int = 3, stride: int = 1) -> int:
        weights = [self.constant([outputs, size, size, self.shape[x][3]]), self.constant([outputs])]
        more = {"fusedActivationFunction": RELU, **DILATION, **strides(stride)}
        return self.add("CONV_2D", [x, *weights], self.strided(x, stride, outputs), "Conv2D", **more)

    def depthwise(self, x: int, stride: int = 1, size: int = 3) -> int:
        channels = self.shape[x][3]
        weights = [self.constant([1, size, size, channels]), self.constant([channels])]
        more = {"depthMultiplier": 1, "fusedActivationFunction": RELU, **DILATION, **strides(stride)}
        shape = self.strided(x, stride, channels)
        return self.add("DEPTHWISE_CONV_2D", [x, *weights], shape, "DepthwiseConv2D", **more)

    def pool(self, x: int, size: int = 2, stride: int = 2, code: str = "MAX_POOL_2D") -> int:
        more = {"filterWidth": size, "filterHeight": size, **strides(stride)}
        return self.add(code, [x], self.strided(x, stride, self.shape[x][3]), "Pool2D", **more)

    def mean(self, x: int) -> int:
        size = self.shape[x][1]
        return self.pool(x, size, size, "AVERAGE_POOL_2D")

    def dense(self, x: int, outputs: int) -> int:
        inputs = int(np.prod(self.shape[x]))
        return self.add("FULLY_CONNECTED", [x, self.constant([outputs, inputs]), -1], [1, outputs], "FullyConnected")

    def sum(self, a: int, b: int) -> int:
        return self.add("ADD", [a, b], self.shape[a], "Add")

    def concatenation(self, parts: list[int]) -> int:
        shape = [*self.shape[parts[0]][:3], sum(self.shape[one][3] for one in parts)]
        return self.add("CONCATENATION", parts, shape, "Concatenation", axis=3)

    def twice(self, x: int, like: int) -> int:
        """Enlarges an image to the height and width of another one."""
        _, height, width, _ = self.shape[like]
        size = self.constant([2], [height, width])
        shape = [1, height, width, self.shape[x][3]]
        return self.add("RESIZE_NEAREST_NEIGHBOR", [x, size], shape, "ResizeNearestNeighbor")

    def ends(self, outputs: list[int]) -> bytes:
        self.graph.ends([self.source], outputs)
        return self.model.bytes()


def strides(stride: int) -> dict[str, int]:
    return {"padding": schema.Padding.SAME, "strideW": stride, "strideH": stride}


def separable(net: Net, x: int, outputs: int, stride: int = 1) -> int:
    return net.conv(net.depthwise(x, stride), outputs, 1)


def keywords(size: int, width: int) -> bytes:
    net = Net(size, 1)
    x = net.conv(net.source, 8 * width, 5, 2)
    for _ in range(4):
        x = separable(net, x, 8 * width)
    return net.ends([net.dense(net.mean(x), 12)])


def mobile_v1(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, width, 3, 2)
    for factor, stride in [(2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *[(16, 1)] * 5, (32, 2), (32, 1)]:
        x = separable(net, x, factor * width, stride)
    return net.ends([net.dense(net.mean(x), 2)])


def mobile_v2(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, width, 3, 2)
    for outputs, stride in [(1, 1), (2, 2), (2, 1), (3, 2), (3, 1), (3, 1), (5, 2), (5, 1), (8, 1)]:
        expanded = net.depthwise(net.conv(x, 6 * net.shape[x][3], 1), stride)
        y = net.conv(expanded, outputs * width, 1)
        x = net.sum(x, y) if net.shape[x] == net.shape[y] else y
    return net.ends([net.dense(net.mean(x), 10)])


def residual(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, width)
    for factor, stride in [(1, 1), (2, 2), (4, 2), (4, 1)]:
        y = net.conv(net.conv(x, factor * width, 3, stride), factor * width)
        x = net.sum(y, net.conv(x, factor * width, 1, stride) if net.shape[x] != net.shape[y] else x)
    return net.ends([net.dense(net.mean(x), 10)])


def fire(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.pool(net.conv(net.source, 4 * width, 3, 2))
    for at, factor in enumerate([1, 1, 2, 2, 3, 3, 4]):
        if at in (2, 4):
            x = net.pool(x, 3)
        narrow = net.conv(x, factor * width, 1)
        x = net.concatenation([net.conv(narrow, 4 * factor * width, kernel) for kernel in (1, 3)])
    return net.ends([net.mean(net.conv(x, 10, 1))])


def branches(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, 4 * width, 3, 2)
    for at in range(5):
        x = net.pool(x) if at == 2 else x
        one = net.conv(x, 2 * width, 1)
        three = net.conv(net.conv(x, 3 * width, 1), 4 * width)
        five = net.conv(net.conv(net.conv(x, width, 1), width), width)
        spread = net.conv(net.pool(x, 3, 1), width, 1)
        x = net.concatenation([one, three, five, spread])
    return net.ends([net.dense(net.mean(x), 10)])


def growing(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, 2 * width, 3, 2)
    for at in range(9):
        x = net.pool(net.conv(x, net.shape[x][3] // 2, 1)) if at in (3, 6) else x
        x = net.concatenation([x, net.conv(net.conv(x, 2 * width, 1), width)])
    return net.ends([net.dense(net.mean(x), 10)])


def hourglass(size: int, width: int) -> bytes:
    net = Net(size, 3)
    kept, x = [], net.source
    for factor in (1, 2, 4):
        x = net.conv(net.conv(x, factor * width), factor * width)
        kept.append(x)
        x = net.pool(x)
    x = net.conv(x, 8 * width)
    for factor in (4, 2, 1):
        skip = kept.pop()
        x = net.conv(net.concatenation([net.twice(x, skip), skip]), factor * width)
    return net.ends([net.conv(x, 1, 1)])


def pyramid(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x, levels = net.conv(net.source, 2 * width, 3, 2), []
    for factor in (4, 8, 16):
        x = separable(net, separable(net, x, factor * width, 2), factor * width)
        levels.append(net.conv(x, 4 * width, 1))
    for at in (1, 0):
        levels[at] = net.sum(levels[at], net.twice(levels[at + 1], levels[at]))
    heads = [[net.conv(separable(net, level, 4 * width), kind, 1) for kind in (4, 12)] for level in levels]
    return net.ends([one for pair in heads for one in pair])


def gated(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.conv(net.source, 2 * width, 3, 2)
    for factor, stride in [(2, 1), (4, 2), (4, 1), (6, 2), (6, 1)]:
        y = net.depthwise(net.conv(x, 3 * factor * width, 1), stride, 5)
        gate = net.conv(net.conv(net.mean(y), width, 1), net.shape[y][3], 1)
        gate = net.add("LOGISTIC", [gate], net.shape[gate])
        y = net.conv(net.add("MUL", [y, gate], net.shape[y], "Mul"), factor * width, 1)
        x = net.sum(x, y) if net.shape[x] == net.shape[y] else y
    return net.ends([net.dense(net.mean(x), 10)])


def cells(size: int, width: int) -> bytes:
    net = Net(size, 3)
    before = last = net.conv(net.source, 2 * width, 3, 2)
    for _ in range(3):
        a, b = net.conv(before, 2 * width, 1), net.conv(last, 2 * width, 1)
        nodes = [net.sum(net.depthwise(a), net.depthwise(b, 1, 5)), net.sum(net.pool(b, 3, 1), a)]
        nodes.append(net.sum(net.depthwise(nodes[0]), b))
        nodes.append(net.sum(net.depthwise(nodes[1], 1, 5), net.depthwise(a, 1, 5)))
        before, last = last, net.concatenation(nodes)
    return net.ends([net.dense(net.mean(last), 10)])


def stacked(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x, found = net.conv(net.source, 2 * width, 3, 2), []
    for _ in range(2):
        side = net.conv(x, 2 * width, 1)
        low = net.conv(net.pool(x), 3 * width)
        lower = net.conv(net.conv(net.pool(low), 4 * width), 3 * width)
        middle = net.sum(net.conv(low, 3 * width, 1), net.twice(lower, low))
        x = net.sum(side, net.twice(net.conv(middle, 2 * width), side))
        found.append(net.conv(x, 4, 1))
    return net.ends(found)


def bottleneck(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x = net.pool(net.conv(net.source, 2 * width, 5, 2), 3)
    for factor, stride in [(1, 1), (1, 1), (2, 2), (2, 1), (4, 2), (4, 1)]:
        y = net.conv(net.conv(net.conv(x, factor * width, 1), factor * width, 3, stride), 4 * factor * width, 1)
        x = net.sum(y, x if net.shape[x] == net.shape[y] else net.conv(x, 4 * factor * width, 1, stride))
    return net.ends([net.dense(net.mean(x), 10)])


def resolutions(size: int, width: int) -> bytes:
    net = Net(size, 3)
    high = net.conv(net.source, 2 * width, 3, 2)
    low = net.conv(high, 4 * width, 3, 2)
    for _ in range(3):
        up = net.twice(net.conv(low, 2 * width, 1), high)
        down = net.conv(high, 4 * width, 3, 2)
        high, low = net.conv(net.sum(high, up), 2 * width), net.conv(net.sum(low, down), 4 * width)
    return net.ends([net.conv(net.concatenation([high, net.twice(low, high)]), 8, 1)])


def exits(size: int, width: int) -> bytes:
    net = Net(size, 3)
    x, found = net.conv(net.source, 2 * width, 3, 2), []
    for factor in (3, 4, 6, 8):
        x = separable(net, separable(net, x, factor * width, 2), factor * width)
        found.append(net.dense(net.mean(net.conv(x, width)), 10))
    return net.ends(found)


MODELS: dict[str, Callable[[int, int], bytes]] = {
    "keywords": keywords,
    "mobile_v1": mobile_v1,
    "mobile_v2": mobile_v2,
    "residual": residual,
    "fire": fire,
    "branches": branches,
    "growing": growing,
    "hourglass": hourglass,
    "pyramid": pyramid,
    "gated": gated,
    "cells": cells,
    "stacked": stacked,
    "bottleneck": bottleneck,
    "resolutions": resolutions,
    "exits": exits,
}
