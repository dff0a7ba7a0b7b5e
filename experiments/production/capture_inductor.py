"""Captures the memory pools of PyTorch Inductor.

    python capture_inductor.py FOLDER [NAME...]

Writes `NAME.capture.json` in the format `plimsoll-capture` per network of torchvision, mode and batch size, and per
language model of transformers, mode and number of tokens. The packages are those of `scripts/executorch.sh`. Existing
captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER` reads the folder.

Inductor plans pools if `memory_planning` is set, which it is not by default. Each output has a pool of its own, which
may hold smaller values before; all other values are in one pool that can grow. The script records this pool: sizes,
half-open lifetimes, offsets, and the bytes that the generated code allocates. Results of library kernels that allocate
their own memory are not planned. The script stops each compilation after the plan.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import language_models
from captures import document, missing, write

SMALL = "squeezenet1_1 mobilenet_v3_small mobilenet_v2 shufflenet_v2_x1_0 resnet18 mnasnet1_0 regnet_y_400mf".split()
LARGE = "googlenet efficientnet_b0 densenet121 resnet50 convnext_tiny inception_v3 swin_t vit_b_16".split()
MODES = {"forward": SMALL + LARGE, "gradient": [*SMALL, "googlenet", "convnext_tiny", "vit_b_16"]}
BATCHES = (1, 4)
LANGUAGE = ["gpt2", "opt_125m", "smollm2_135m", "qwen2_500m"]
TOKENS = 128
ALIGNMENT = 64


class Stop(Exception):
    """Ends a compilation after the plan."""


def memories(planner: Any) -> list[dict[str, Any]]:
    """Returns the pools that can grow."""
    rows: dict[str, list[dict[str, Any]]] = {}
    pools: dict[str, Any] = {}
    for at, group in enumerate(planner.buffer_groups):
        one = group.allocation
        lower, upper = one.live_range.begin, one.live_range.end
        # Values that are released before the next kernel are never used.
        if one.pool.can_expand and lower < upper:
            row = {"size": int(one.symbolic_size), "lower": lower, "upper": upper, "offset": int(one.offset)}
            rows.setdefault(one.pool.name, []).append({"id": f"b{at}", **row})
            pools[one.pool.name] = one.pool
    return [
        {"name": name, "alignment": ALIGNMENT, "peak": int(pools[name].root.get_symbolic_size()), "buffers": buffers}
        for name, buffers in rows.items()
    ]


def compile_gradient(network: Any, x: Any) -> None:
    """Compiles the gradient of the mean square of the outputs as one graph."""
    import torch
    from torch._inductor.compile_fx import compile_fx
    from torch.func import functional_call, grad
    from torch.fx.experimental.proxy_tensor import make_fx

    weights = {name: value.detach() for name, value in network.named_parameters()}
    buffers = dict(network.named_buffers())

    def loss(weights: Any, x: Any) -> Any:
        return functional_call(network, {**weights, **buffers}, (x,)).square().mean()

    def gradient(x: Any, *values: Any) -> list[Any]:
        return list(grad(loss)(dict(zip(weights, values, strict=True)), x).values())

    inputs = [x, *weights.values()]
    with torch.no_grad():
        compile_fx(make_fx(gradient)(*inputs), inputs)(*inputs)


def network_of(model: str, batch: int) -> tuple[Any, Any]:
    """Returns a network and its input."""
    import torch
    import torchvision

    if model in LANGUAGE:
        return language_models.scorer(model, TOKENS)
    options = {"init_weights": True} if model in ("googlenet", "inception_v3") else {}
    network = getattr(torchvision.models, model)(weights=None, **options).eval()
    size = 299 if model == "inception_v3" else 224
    return network, torch.randn(batch, 3, size, size)


def capture(model: str, mode: str, batch: int) -> list[dict[str, Any]]:
    import torch
    from torch._inductor import config
    from torch._inductor.codegen import memory_planning

    config.memory_planning, config.fx_graph_cache = True, False
    found: list[dict[str, Any]] = []
    plan = memory_planning.MemoryPlanner.plan

    def recorded(self: Any, lines: Any) -> Any:
        plan(self, lines)
        found.extend(memories(self))
        raise Stop

    torch._dynamo.reset()
    torch.manual_seed(0)
    network, x = network_of(model, batch)
    memory_planning.MemoryPlanner.plan = recorded
    try:
        with torch.no_grad():
            if mode == "gradient":
                compile_gradient(network, x)
            else:
                torch.compile(network)(x)
    except Exception as error:
        if "Stop" not in repr(error):
            raise
    finally:
        memory_planning.MemoryPlanner.plan = plan
    return found


def main() -> int:
    keys = [(model, mode, batch) for mode, models in MODES.items() for batch in BATCHES for model in models]
    cases = [(f"{model}-{mode}-b{batch}", (model, mode, batch, "")) for model, mode, batch in keys]
    keys = [(model, mode, 1) for mode in MODES for model in LANGUAGE]
    cases += [(f"{model}-{mode}{TOKENS}-b1", (model, mode, batch, str(TOKENS))) for model, mode, batch in keys]
    for file, (model, mode, batch, tokens) in missing(cases, ".capture.json"):
        found = capture(model, mode, batch)
        torch = f"torch {version('torch')}"
        write(file, document("Inductor", torch, "memory_planning", f"{model}-{mode}{tokens}", batch, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
