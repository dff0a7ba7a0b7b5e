"""Captures the memory plans of ExecuTorch's planner `greedy`.

    python capture_executorch.py FOLDER [NAME...]

Writes one file `NAME.capture.json` in the format `plimsoll-capture` per torchvision network and batch size.
The networks have random weights and are exported in fp32 without delegation. `scripts/executorch.sh` installs
the packages. Existing captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER` reads
the folder.

The script records the arguments and the result of `greedy`. Sizes are rounded up to the alignment, as in the
planner. Inclusive ends of lifetimes become half-open. Tensors inside the storage of another tensor are not
listed.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

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


def capture(name: str, size: int, batch: int) -> list[dict[str, Any]]:
    import torch
    import torchvision
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
    from executorch.exir.passes import MemoryPlanningPass
    from torch.export import export

    found: list[dict[str, Any]] = []

    def recorded(alignment: int, specs: Any, *more: Any, **options: Any) -> Any:
        result = greedy(alignment, specs, *more, **options)
        found.extend(memories(specs, result, alignment))
        return result

    torch.manual_seed(0)
    options = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    network = getattr(torchvision.models, name)(weights=None, **options).eval()
    exported = export(network, (torch.randn(batch, 3, size, size),))
    suite = MemoryPlanningAlgorithmSuite(algo_list=[recorded])
    to_edge(exported).to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite)))
    return found


def main() -> int:
    cases = []
    for network, size, batch in CASES:
        model = network if size == SIZES.get(network, 224) else f"{network}_{size}"
        cases.append((f"{model}-b{batch}", (model, network, size, batch)))
    for file, (model, network, size, batch) in missing(cases, ".capture.json"):
        found = capture(network, size, batch)
        write(file, document("ExecuTorch", version("executorch"), "greedy", model, batch, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
