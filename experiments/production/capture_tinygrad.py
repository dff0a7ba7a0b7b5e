"""Captures the memory plans of tinygrad.

    python capture_tinygrad.py FOLDER [NAME...]

Writes one file `NAME.capture.json` in the format `plimsoll-capture` per network, mode and batch size.
tinygrad places the buffers of every device in two lanes, one for copies and one for all other kernels, with
its TLSF allocator. Networks are scheduled for the device NULL, and no kernel is compiled or run. Existing
captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER` reads the folder.

The script reads the arguments of `memory_plan_rewrite`, and records the offsets that its allocators return.
Sizes are rounded up to 256 bytes, as in the planner. Inclusive ends of lifetimes become half-open. Like the
planner, the script extends the lifetimes of buffers of copies.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from captures import document, missing, write

os.environ["DEV"] = "NULL"
os.environ.setdefault("CACHELEVEL", "0")
BLOCK = 256


def lanes(linear: Any, held: Any) -> list[dict[str, Any]]:
    """Runs tinygrad's planner on a schedule, and returns the lanes of the plan."""
    from tinygrad.runtime.support.memory import TLSFAllocator
    from tinygrad.schedule import memory
    from tinygrad.uop.ops import Ops

    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    copies: set[Any] = set()
    for step, item in enumerate(linear.src):
        buffers = [b for src in item.src[1:] for b in memory._collect_bufs(src) if memory._can_plan(b, held)]
        for buffer in buffers:
            first.setdefault(buffer, step)
            last[buffer] = step
        if item.src[0].op is Ops.COPY:
            copies.update(buffers)
    if not first:
        return []

    # Each allocator of the planner serves one lane. The recorded calls yield the offsets.
    calls: dict[int, list[int]] = {}
    alloc = TLSFAllocator.alloc

    def recorded(self: Any, size: int, *more: Any, **options: Any) -> int:
        offset = alloc(self, size, *more, **options)
        calls.setdefault(id(self), []).append(offset)
        kept.append(self)
        return offset

    kept: list[Any] = []
    TLSFAllocator.alloc = recorded
    try:
        ORIGINAL(linear, held)
    finally:
        TLSFAllocator.alloc = alloc

    hold = {b: last[b] - first[b] + 1 if b in copies else 0 for b in first}
    ends = {b: last[b] + 1 + hold[b] for b in first}
    size = {b: -(-b.max_numel() * b.dtype.itemsize // BLOCK) * BLOCK for b in first}
    # The planner allocates buffers in this order.
    opened = sorted(first, key=lambda b: first[b])
    found: dict[tuple[Any, int], list[Any]] = {}
    for buffer in opened:
        found.setdefault((buffer.device, int(buffer in copies)), []).append(buffer)
    by_lane = list(calls.values())
    if [len(one) for one in by_lane] != [len(one) for one in found.values()]:
        raise RuntimeError("the calls of the allocators do not match the lanes")
    result = []
    for (key, buffers), offsets in zip(found.items(), by_lane, strict=True):
        rows = [
            {"id": f"b{at}", "size": size[b], "lower": first[b], "upper": ends[b], "offset": offset}
            for at, (b, offset) in enumerate(zip(buffers, offsets, strict=True))
        ]
        tops = [o + b.max_numel() * b.dtype.itemsize for b, o in zip(buffers, offsets, strict=True)]
        name = f"{key[0]}-{'copies' if key[1] else 'kernels'}"
        peak = -(-max(tops) // BLOCK) * BLOCK
        result.append({"name": name, "alignment": BLOCK, "peak": peak, "buffers": rows})
    return result


def resnet(depth: int) -> tuple[Any, tuple[int, ...]]:
    from tinygrad import nn

    class Block:
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.norms = [nn.BatchNorm(outputs), nn.BatchNorm(outputs)]
            self.skip = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

        def __call__(self, x: Any) -> Any:
            y = self.norms[1](self.second(self.norms[0](self.first(x)).relu()))
            return (y + self.skip(x)).relu()

    class Net:
        def __init__(self) -> None:
            widths = [16, 32, 64, 128]
            self.stem = nn.Conv2d(3, 16, 7, 2, 3)
            pairs = [(a, b) for a, b in zip([16, *widths], widths, strict=False)]
            self.blocks = [Block(a if not at else b, b, 1 if at else 2) for a, b in pairs for at in range(depth)]
            self.head = nn.Linear(128, 10)

        def __call__(self, x: Any) -> Any:
            return self.head(self.stem(x).relu().sequential(self.blocks).mean((2, 3)))

    return Net(), (3, 96, 96)


def hourglass() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import Tensor, nn

    class Net:
        def __init__(self) -> None:
            widths = [3, 12, 24, 48, 96]
            self.down = [nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, widths[1:], strict=False)]
            self.up = [nn.Conv2d(a, b, 3, padding=1) for a, b in [(144, 48), (72, 24), (36, 12)]]

        def __call__(self, x: Any) -> Any:
            kept: list[Any] = []
            for at, layer in enumerate(self.down):
                x = layer(x).relu()
                if at < len(self.down) - 1:
                    kept.append(x)
                    x = x.max_pool2d()
            for layer in self.up:
                skip = kept.pop()
                x = x.interpolate(skip.shape[2:], mode="nearest")
                x = layer(Tensor.cat(x, skip, dim=1)).relu()
            return x

    return Net(), (3, 64, 64)


def transformer(layers: int, width: int, length: int) -> tuple[Any, tuple[int, ...]]:
    from tinygrad import Tensor, nn

    class Layer:
        def __init__(self) -> None:
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norms = [nn.LayerNorm(width), nn.LayerNorm(width)]

        def __call__(self, x: Any) -> Any:
            q, k, v = self.qkv(self.norms[0](x)).chunk(3, dim=-1)
            q, k, v = (one.reshape(*one.shape[:2], 4, -1).transpose(1, 2) for one in (q, k, v))
            y = Tensor.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(*x.shape))
            return x + self.second(self.first(self.norms[1](x)).gelu())

    class Net:
        def __init__(self) -> None:
            self.layers = [Layer() for _ in range(layers)]

        def __call__(self, x: Any) -> Any:
            return x.sequential(self.layers)

    return Net(), (length, width)


def dense() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import Tensor, nn

    class Net:
        def __init__(self) -> None:
            self.stem = nn.Conv2d(3, 16, 3, 2, 1)
            self.layers = [nn.Conv2d(16 + 12 * at, 12, 3, padding=1) for at in range(8)]

        def __call__(self, x: Any) -> Any:
            x = self.stem(x)
            for layer in self.layers:
                x = Tensor.cat(x, layer(x).relu(), dim=1)
            return x.mean((2, 3))

    return Net(), (3, 64, 64)


def branches() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import Tensor, nn

    class Net:
        def __init__(self) -> None:
            self.stem = nn.Conv2d(3, 32, 3, 2, 1)
            sizes = [(1, 16), (3, 8), (5, 4), (1, 4)]
            self.layers = [[nn.Conv2d(32, b, k, padding=k // 2) for k, b in sizes] for _ in range(5)]

        def __call__(self, x: Any) -> Any:
            x = self.stem(x).relu()
            for one, three, five, pool in self.layers:
                x = Tensor.cat(one(x), three(x), five(x), pool(x.max_pool2d(3, 1, padding=1)), dim=1).relu()
            return x.mean((2, 3))

    return Net(), (3, 80, 80)


def mobile() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import nn

    class Net:
        def __init__(self) -> None:
            plan = [(16, 24, 2), (24, 24, 1), (24, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]
            self.stem = nn.Conv2d(3, 16, 3, 2, 1)
            self.layers = [
                (nn.Conv2d(a, 4 * a, 1), nn.Conv2d(4 * a, 4 * a, 3, s, 1, groups=4 * a), nn.Conv2d(4 * a, b, 1))
                for a, b, s in plan
            ]

        def __call__(self, x: Any) -> Any:
            x = self.stem(x)
            for expand, depth, project in self.layers:
                y = project(depth(expand(x).relu6()).relu6())
                x = x + y if x.shape == y.shape else y
            return x.mean((2, 3))

    return Net(), (3, 96, 96)


def mixer() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import nn

    class Net:
        def __init__(self) -> None:
            self.layers = [
                [nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(96, 256), nn.Linear(256, 96), nn.LayerNorm(96)]
                for _ in range(4)
            ]

        def __call__(self, x: Any) -> Any:
            for wide, narrow, first, second, norm in self.layers:
                x = x + narrow(wide(norm(x).transpose(1, 2)).gelu()).transpose(1, 2)
                x = x + second(first(norm(x)).gelu())
            return x.mean(1)

    return Net(), (64, 96)


def pyramid() -> tuple[Any, tuple[int, ...]]:
    from tinygrad import Tensor, nn

    class Net:
        def __init__(self) -> None:
            widths = [16, 24, 40, 64]
            self.down = [nn.Conv2d(a, b, 3, 2, 1) for a, b in zip([3, *widths], widths, strict=False)]
            self.side = [nn.Conv2d(a, 24, 1) for a in widths]
            self.heads = [nn.Conv2d(24, 12, 3, padding=1) for _ in widths]

        def __call__(self, x: Any) -> Any:
            levels: list[Any] = []
            for layer, side in zip(self.down, self.side, strict=True):
                x = layer(x).relu()
                levels.append(side(x))
            for at in reversed(range(len(levels) - 1)):
                levels[at] = levels[at] + levels[at + 1].interpolate(levels[at].shape[2:], mode="nearest")
            found = [head(level.relu()).flatten(1) for head, level in zip(self.heads, levels, strict=True)]
            return Tensor.cat(*found, dim=1)

    return Net(), (3, 96, 96)


MODELS: dict[str, Callable[[], tuple[Any, tuple[int, ...]]]] = {
    "resnet_4": lambda: resnet(1),
    "resnet_8": lambda: resnet(2),
    "resnet_16": lambda: resnet(4),
    "hourglass": hourglass,
    "dense": dense,
    "branches": branches,
    "mobile": mobile,
    "mixer": mixer,
    "pyramid": pyramid,
    "transformer_2x64": lambda: transformer(2, 64, 48),
    "transformer_4x128": lambda: transformer(4, 128, 96),
    "transformer_8x192": lambda: transformer(8, 192, 128),
}


def capture(model: str, mode: str, batch: int) -> list[dict[str, Any]]:
    """Schedules a network, and returns the lanes of the schedule with the most buffers."""
    from tinygrad import Tensor, nn
    from tinygrad.helpers import Context

    net, shape = MODELS[model]()
    weights = nn.state.get_parameters(net)
    for weight in weights:
        weight.replace(Tensor.empty(*weight.shape, dtype=weight.dtype))
    x = Tensor.empty(batch, *shape)
    SEEN.clear()
    if mode == "training":
        with Context(TRAINING=1):
            optimiser = nn.optim.SGD(weights, 0.1)
            optimiser.zero_grad()
            net(x).square().mean().backward()
            updates = optimiser.schedule_step()
            updates[0].linear_with_vars(*updates[1:])
    else:
        net(x).linear_with_vars()
    return max(SEEN, key=lambda one: sum(len(lane["buffers"]) for lane in one), default=[])


SEEN: list[list[dict[str, Any]]] = []
ORIGINAL: Any = None


def main() -> int:
    global ORIGINAL
    import tinygrad.engine.jit as jit
    import tinygrad.schedule as schedule
    from tinygrad.schedule import memory

    ORIGINAL = memory.memory_plan_rewrite

    def planned(linear: Any, held: Any = None) -> Any:
        SEEN.append(lanes(linear, held or set()))
        return ORIGINAL(linear, held)

    schedule.memory_plan_rewrite = jit.memory_plan_rewrite = planned
    keys = [(model, mode, batch) for model in MODELS for mode in ("forward", "training") for batch in (1, 8)]
    cases = [(f"{model}-{mode}-b{batch}", (model, mode, batch)) for model, mode, batch in keys]
    for file, (model, mode, batch) in missing(cases, ".capture.json"):
        found = capture(model, mode, batch)
        write(file, document("tinygrad", version("tinygrad"), "TLSF", f"{model}-{mode}", batch, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
