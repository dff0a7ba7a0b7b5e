"""Captures the memory plans of ExecuTorch's planner `greedy`.

    python capture_executorch.py FOLDER [NAME...]

Writes one file `NAME.capture.json` in the format `plimsoll-capture` per network: networks of torchvision and
timm, and language models and encoders of transformers. The networks have random weights and are exported in fp32
without delegation. `scripts/executorch.sh` installs the packages. Existing captures are kept, so an interrupted
run can be resumed. `plimsoll audit FOLDER` reads the folder.

The script records the arguments and the result of `greedy`. Sizes are rounded up to the alignment, as in the
planner. Inclusive ends of lifetimes become half-open. Tensors inside the storage of another tensor are not
listed.

By default, ExecuTorch replaces each linear layer by a product with its transposed weights, and plans the
transposed copy. In language models and encoders, these copies would be the largest tensors. For them, the script
keeps `aten.linear`, which the optimized kernels of ExecuTorch support.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from typing import Any

import language_models
from captures import document, missing, write

SMALL = "squeezenet1_1 mobilenet_v3_small mobilenet_v2 shufflenet_v2_x1_0 resnet18 mnasnet1_0 regnet_y_400mf alexnet"
LARGE = "mobilenet_v3_large googlenet efficientnet_b0 densenet121 resnet50 convnext_tiny inception_v3 swin_t vit_b_16"
MORE = "shufflenet_v2_x0_5 squeezenet1_0 vgg11 mnasnet0_5 regnet_x_400mf resnext50_32x4d efficientnet_b1 swin_v2_t"
NETWORKS = f"{SMALL} {LARGE}".split()
BATCHES = (1, 4)
# The names of networks with another image size contain it.
SIZES = {"inception_v3": 299}
CASES = [(model, SIZES.get(model, 224), batch) for batch in BATCHES for model in NETWORKS]
CASES += [(model, 224, 1) for model in MORE.split()]
CASES += [(model, size, 1) for size in (160, 288) for model in [*SMALL.split(), "googlenet", "densenet121"]]
TIMM = "mobilenetv4_conv_small ghostnet_100 repvit_m1 edgenext_x_small mobilevit_xs efficientformerv2_s0 mixer_s32_224"
TIMM += " deit_tiny_patch16_224 lcnet_100 convnextv2_atto"

# A network and its inputs.
Program = tuple[Any, tuple[Any, ...]]


def memories(specs: Any, result: Any, alignment: int) -> list[dict[str, Any]]:
    """Returns the memories of a plan."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for at, spec in enumerate(sorted(specs, key=lambda spec: (spec.lifetime, spec.allocated_memory))):
        if spec.storage_base is None:
            place = result.spec_dict[spec]
            first, last = spec.lifetime
            row = {"size": spec.allocated_memory, "lower": first, "upper": last + 1, "offset": place.mem_offset}
            rows.setdefault(place.mem_id, []).append({"id": f"t{at}", **row})
    return [
        {"name": f"memory{key}", "alignment": alignment, "peak": result.bufsizes[key], "buffers": buffers}
        for key, buffers in sorted(rows.items())
    ]


def of_torchvision(name: str, size: int, batch: int) -> Program:
    import torch
    import torchvision

    options = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    network = getattr(torchvision.models, name)(weights=None, **options).eval()
    return network, (torch.randn(batch, 3, size, size),)


def of_timm(name: str) -> Program:
    import timm
    import torch

    return timm.create_model(name, pretrained=False).eval(), (torch.randn(1, 3, 224, 224),)


def capture(build: Callable[[], Program], keep_linear: bool) -> list[dict[str, Any]]:
    import torch
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
    from executorch.exir.passes import MemoryPlanningPass
    from torch.export import export

    found: list[dict[str, Any]] = []

    def recorded(alignment: int, specs: Any, *more: Any, **options: Any) -> Any:
        result = greedy(alignment, specs, *more, **options)
        found.extend(memories(specs, result, alignment))
        return result

    torch.manual_seed(0)
    network, inputs = build()
    # Without `strict`, buffers of caches become constants.
    exported = export(network, inputs, strict=keep_linear)
    kept = [torch.ops.aten.linear.default] if keep_linear else []
    edge = to_edge(exported, compile_config=EdgeCompileConfig(preserve_ops=kept))
    suite = MemoryPlanningAlgorithmSuite(algo_list=[recorded])
    edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite)))
    return found


def cases() -> list[tuple[str, tuple[str, int, Callable[[], Program], bool]]]:
    """Returns the name of each file with model, batch size, program, and whether linear layers are kept."""
    found: list[tuple[str, int, Callable[[], Program], bool]] = []
    for network, size, batch in CASES:
        model = network if size == SIZES.get(network, 224) else f"{network}_{size}"
        found.append((model, batch, partial(of_torchvision, network, size, batch), False))
    found += [(name, 1, partial(of_timm, name), False) for name in TIMM.split()]
    found += [(case.name, 1, partial(language_models.decoder, case), True) for case in language_models.CASES]
    found += [(name, 1, partial(language_models.encoder, name), True) for name in language_models.ENCODERS]
    return [(f"{case[0]}-b{case[1]}", case) for case in found]


def main() -> int:
    # Each network has a process of its own, because exported programs stay in memory.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as processes:
        for file, (model, batch, build, keep_linear) in missing(cases(), ".capture.json"):
            found = processes.submit(capture, build, keep_linear).result()
            write(file, document("ExecuTorch", version("executorch"), "greedy", model, batch, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
