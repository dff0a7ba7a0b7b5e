"""Small networks in plain jax, for the captures of XLA and IREE. All weights are ones, and no files are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Model = tuple[Callable[..., Any], list[Any], tuple[int, ...]]
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(x: Any, w: Any, stride: int = 1, groups: int = 1) -> Any:
    return lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=NHWC, feature_group_count=groups
    )


def kernel(size: int, inputs: int, outputs: int) -> Any:
    return jnp.ones((size, size, inputs, outputs), jnp.float32)


def pooled(x: Any, size: int = 2) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, size, size, 1), "SAME")


def norm(x: Any) -> Any:
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + 1e-5)


def perceptron() -> Model:
    widths = [256, 512, 384, 512, 128, 64]
    weights = [jnp.ones(pair, jnp.float32) for pair in zip(widths, widths[1:], strict=False)]

    def run(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return x

    return run, weights, (256,)


def residual() -> Model:
    plan = [(3, 16, 2), (16, 16, 1), (16, 24, 2), (24, 24, 1), (24, 40, 2), (40, 40, 1), (40, 80, 2), (80, 80, 1)]
    weights = [(kernel(3, a, b), kernel(3, b, b), kernel(1, a, b)) for a, b, _ in plan]

    def run(weights: Any, x: Any) -> Any:
        for (first, second, skip), (_, _, stride) in zip(weights, plan, strict=True):
            y = conv(jax.nn.relu(conv(x, first, stride)), second)
            x = jax.nn.relu(y + conv(x, skip, stride))
        return jnp.mean(x, (1, 2))

    return run, weights, (96, 96, 3)


def dense() -> Model:
    weights = [kernel(3, 16 + 12 * at, 12) for at in range(8)]

    def run(weights: Any, x: Any) -> Any:
        x = conv(x, kernel(3, 3, 16), 2)
        for w in weights:
            x = jnp.concatenate([x, jax.nn.relu(conv(x, w))], -1)
        return jnp.mean(x, (1, 2))

    return run, weights, (64, 64, 3)


def branches() -> Model:
    weights = [(kernel(1, 32, 16), kernel(3, 32, 8), kernel(5, 32, 4), kernel(1, 32, 4)) for _ in range(5)]

    def run(weights: Any, x: Any) -> Any:
        x = jax.nn.relu(conv(x, kernel(3, 3, 32), 2))
        for one, three, five, pool in weights:
            spread = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
            parts = [conv(x, one), conv(x, three), conv(x, five), conv(spread, pool)]
            x = jax.nn.relu(jnp.concatenate(parts, -1))
        return jnp.mean(x, (1, 2))

    return run, weights, (80, 80, 3)


def hourglass() -> Model:
    down = [kernel(3, a, b) for a, b in [(3, 12), (12, 24), (24, 48), (48, 96)]]
    up = [kernel(3, a, b) for a, b in [(144, 48), (72, 24), (36, 12)]]

    def run(weights: Any, x: Any) -> Any:
        down, up = weights
        kept = []
        for w in down:
            x = jax.nn.relu(conv(x, w))
            kept.append(x)
            x = pooled(x) if len(kept) < len(down) else x
        kept.pop()
        for w in up:
            skip = kept.pop()
            x = jax.image.resize(x, skip.shape[:3] + x.shape[3:], "nearest")
            x = jax.nn.relu(conv(jnp.concatenate([x, skip], -1), w))
        return x

    return run, [down, up], (64, 64, 3)


def mobile() -> Model:
    plan = [(16, 24, 2), (24, 24, 1), (24, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]
    weights = [(kernel(1, a, 4 * a), kernel(3, 1, 4 * a), kernel(1, 4 * a, b)) for a, b, _ in plan]

    def run(weights: Any, x: Any) -> Any:
        x = conv(x, kernel(3, 3, 16), 2)
        for (expand, depth, project), (a, b, stride) in zip(weights, plan, strict=True):
            y = jnp.clip(conv(x, expand), 0, 6)
            y = jnp.clip(conv(y, depth, stride, 4 * a), 0, 6)
            y = conv(y, project)
            x = x + y if a == b and stride == 1 else y
        return jnp.mean(x, (1, 2))

    return run, weights, (96, 96, 3)


def attention(layers: int, width: int, length: int) -> Model:
    heads = 4
    ones = lambda *shape: jnp.ones(shape, jnp.float32)  # noqa: E731
    weights = [
        (ones(width, 3 * width), ones(width, width), ones(width, 4 * width), ones(4 * width, width))
        for _ in range(layers)
    ]

    def run(weights: Any, x: Any) -> Any:
        mask = jnp.tril(jnp.ones((length, length), bool))
        for qkv, out, first, second in weights:
            q, k, v = jnp.split(norm(x) @ qkv, 3, -1)
            q, k, v = (one.reshape(*one.shape[:2], heads, -1) for one in (q, k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
            scores = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ out
            x = x + jax.nn.gelu(norm(x) @ first) @ second
        return x

    return run, weights, (length, width)


def recurrent() -> Model:
    weights = [jnp.ones((96, 192), jnp.float32), jnp.ones((96, 96), jnp.float32)]

    def run(weights: Any, x: Any) -> Any:
        gates, mix = weights

        def step(state: Any, value: Any) -> Any:
            update, new = jnp.split((state + value) @ gates, 2, -1)
            state = state + jax.nn.sigmoid(update) * (jnp.tanh(new) @ mix - state)
            return state, state

        return lax.scan(step, jnp.zeros_like(x[:, 0]), jnp.swapaxes(x, 0, 1))[1]

    return run, weights, (24, 96)


def mixer() -> Model:
    length, width = 64, 96
    weights = [
        (jnp.ones((length, 128)), jnp.ones((128, length)), jnp.ones((width, 256)), jnp.ones((256, width)))
        for _ in range(4)
    ]

    def run(weights: Any, x: Any) -> Any:
        for wide, narrow, first, second in weights:
            y = jnp.swapaxes(norm(x), 1, 2)
            x = x + jnp.swapaxes(jax.nn.gelu(y @ wide) @ narrow, 1, 2)
            x = x + jax.nn.gelu(norm(x) @ first) @ second
        return jnp.mean(x, 1)

    return run, weights, (length, width)


def gated() -> Model:
    plan = [(16, 32, 2), (32, 32, 1), (32, 48, 2), (48, 48, 1)]
    weights = [
        (kernel(1, a, 3 * a), kernel(5, 1, 3 * a), jnp.ones((3 * a, 8)), jnp.ones((8, 3 * a)), kernel(1, 3 * a, b))
        for a, b, _ in plan
    ]

    def run(weights: Any, x: Any) -> Any:
        x = conv(x, kernel(3, 3, 16), 2)
        for (expand, depth, narrow, wide, project), (a, b, stride) in zip(weights, plan, strict=True):
            y = jax.nn.silu(conv(jax.nn.silu(conv(x, expand)), depth, stride, 3 * a))
            gate = jax.nn.sigmoid(jax.nn.relu(jnp.mean(y, (1, 2)) @ narrow) @ wide)
            y = conv(y * gate[:, None, None], project)
            x = x + y if a == b else y
        return jnp.mean(x, (1, 2))

    return run, weights, (72, 72, 3)


def pyramid() -> Model:
    widths = [16, 24, 40, 64]
    down = [kernel(3, a, b) for a, b in zip([3, *widths], widths, strict=False)]
    side = [kernel(1, a, 24) for a in widths]
    heads = [(kernel(3, 24, 24), kernel(1, 24, 12)) for _ in widths]

    def run(weights: Any, x: Any) -> Any:
        down, side, heads = weights
        levels = []
        for w, lateral in zip(down, side, strict=True):
            x = jax.nn.relu(conv(x, w, 2))
            levels.append(conv(x, lateral))
        for at in reversed(range(len(levels) - 1)):
            levels[at] = levels[at] + jax.image.resize(levels[at + 1], levels[at].shape, "nearest")
        found = [conv(jax.nn.relu(conv(x, a)), b) for x, (a, b) in zip(levels, heads, strict=True)]
        return jnp.concatenate([one.reshape(one.shape[0], -1) for one in found], -1)

    return run, [down, side, heads], (96, 96, 3)


def experts() -> Model:
    width, count = 64, 6
    weights = [
        (jnp.ones((width, count)), jnp.ones((count, width, 160)), jnp.ones((count, 160, width))) for _ in range(3)
    ]

    def run(weights: Any, x: Any) -> Any:
        for gate, first, second in weights:
            shares = jax.nn.softmax(norm(x) @ gate, -1)
            every = [jax.nn.gelu(x @ first[at]) @ second[at] for at in range(count)]
            x = x + sum(shares[..., at : at + 1] * one for at, one in enumerate(every))
        return x

    return run, weights, (48, width)


def translator() -> Model:
    width, heads = 96, 4
    weights = [tuple(jnp.ones((width, width)) for _ in range(6)) for _ in range(4)]

    def attend(query: Any, keys: Any, w: Any) -> Any:
        q, k, v = (one.reshape(*one.shape[:2], heads, -1) for one in (query @ w[0], keys @ w[1], keys @ w[2]))
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5, -1)
        return query + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(query.shape) @ w[3]

    def run(weights: Any, x: Any) -> Any:
        source, target = x[:, :56], x[:, 56:]
        for w in weights[:2]:
            source = attend(norm(source), norm(source), w)
            source = source + jax.nn.gelu(source @ w[4]) @ w[5]
        for w in weights[2:]:
            target = attend(attend(norm(target), norm(target), w), source, w)
            target = target + jax.nn.gelu(target @ w[4]) @ w[5]
        return target

    return run, weights, (96, width)


def cells() -> Model:
    weights = [(kernel(1, 24, 24), kernel(1, 24, 24), *(kernel(3, 1, 24) for _ in range(4))) for _ in range(4)]

    def run(weights: Any, x: Any) -> Any:
        before = last = conv(x, kernel(3, 3, 24), 2)
        for one, two, *depth in weights:
            a, b = jax.nn.relu(conv(before, one)), jax.nn.relu(conv(last, two))
            c = conv(a, depth[0], 1, 24) + conv(b, depth[1], 1, 24)
            d = jnp.tanh(a) * jax.nn.sigmoid(b) + conv(c, depth[2], 1, 24)
            before, last = last, c * a + conv(d, depth[3], 1, 24) + b
        return jnp.mean(last, (1, 2))

    return run, weights, (64, 64, 3)


MODELS: dict[str, Callable[[], Model]] = {
    "perceptron": perceptron,
    "residual": residual,
    "dense": dense,
    "branches": branches,
    "hourglass": hourglass,
    "mobile": mobile,
    "attention_2x64": lambda: attention(2, 64, 48),
    "attention_4x128": lambda: attention(4, 128, 96),
    "recurrent": recurrent,
    "mixer": mixer,
    "gated": gated,
    "pyramid": pyramid,
    "experts": experts,
    "translator": translator,
    "cells": cells,
}


def cases() -> list[tuple[str, str, str, int]]:
    """Returns the name of every capture, with its model, mode and batch size."""
    found = []
    for model in MODELS:
        for mode in ("forward", "gradient"):
            found += [(f"{model}-{mode}-b{batch}", model, mode, batch) for batch in (1, 4)]
    return found


def lowered(model: str, mode: str, batch: int) -> Any:
    """Returns a lowered computation of jax: the network, or the gradient of the sum of squares of its outputs."""
    run, weights, shape = MODELS[model]()

    def gradient(weights: Any, x: Any) -> Any:
        return jax.grad(lambda weights: jnp.sum(run(weights, x) ** 2))(weights)

    x = jax.ShapeDtypeStruct((batch, *shape), jnp.float32)
    return jax.jit(run if mode == "forward" else gradient).lower(weights, x)
