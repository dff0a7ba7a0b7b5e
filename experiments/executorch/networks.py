"""Plans networks of torchvision through the API of ExecuTorch, once with ExecuTorch's `greedy` and once with
Plimsoll, and runs the two programs in the runtime. Writes one row per network to `rows.csv` in a folder.

    python networks.py FOLDER [NETWORK...]

Networks have random weights (seed 0) and are exported in fp32 without delegation. Sizes are in bytes, and times
in seconds. `load`, `lower_bound`, `peak` and `status` describe Plimsoll's layouts of the tensors. `greedy` and
`plimsoll` are the total sizes of all planned memories, and `file_greedy` and `file_plimsoll` are the sizes
stored in the program files. `process_greedy` and `process_plimsoll` give the growth of the data segment of a
process in which the runtime loads the program and its method. `solve_seconds` is the time of the solver, and
`plan_seconds` is the time of the whole planner, excluding greedy. `greedy_seconds` is the time of greedy.
`equal` is the number of random inputs, out of 5, on which the outputs of both programs are bit-identical.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

NETWORKS = [
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "googlenet", "inception_v3", "mnasnet1_0",
    "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_y_400mf", "resnet18", "resnet50",
    "shufflenet_v2_x1_0", "squeezenet1_1", "swin_t", "vgg11", "vit_b_16",
]  # fmt: skip
INPUTS = 5
COLUMNS = (
    "network,tensors,load,lower_bound,peak,status,greedy,plimsoll,saved_percent,file_greedy,"
    "file_plimsoll,process_greedy,process_plimsoll,solve_seconds,plan_seconds,greedy_seconds,equal"
).split(",")


def virtual() -> int:
    """Returns the size of the data segment of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def execute(path: str) -> None:
    """Loads a program and prints the number of bytes by which the data segment of the process grows."""
    from executorch.runtime import Runtime

    runtime = Runtime.get()
    before = virtual()
    program = runtime.load_program(path)
    method = program.load_method("forward")
    print(json.dumps(virtual() - before))
    del method


def measured(path: Path) -> int:
    command = [sys.executable, __file__, "--execute", str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(json.loads(output.splitlines()[-1]))


def planned(program: Any) -> int:
    """Returns the size in bytes of all memories that a program requests from the runtime."""
    return sum(sum(plan.non_const_buffer_sizes) for plan in program.executorch_program.execution_plan)


def timed_greedy(seconds: list[float]) -> Any:
    from executorch.exir.memory_planning import greedy

    def timed(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = greedy(*arguments, **options)
        seconds.append(time.perf_counter() - started)
        return result

    return timed


def row(name: str, folder: Path) -> dict[str, Any]:
    import torch
    import torchvision
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.runtime import Runtime
    from plimsoll.executorch import memory_planning_pass, planner
    from torch.export import export

    torch.manual_seed(0)
    options = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    network = getattr(torchvision.models, name)(weights=None, **options).eval()
    size = 299 if name == "inception_v3" else 224
    exported = export(network, (torch.randn(1, 3, size, size),))
    seconds: list[float] = []
    own = planner(time_limit=10.0, fallback=timed_greedy(seconds))
    config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass(algorithm=own))
    ours = to_edge(exported).to_executorch(config)
    greedy = to_edge(exported).to_executorch()
    report = own.report
    paths = {}
    for kind, program in (("greedy", greedy), ("plimsoll", ours)):
        paths[kind] = folder / f"{name}-{kind}.pte"
        paths[kind].write_bytes(program.buffer)
    memory = {kind: measured(path) for kind, path in paths.items()}
    runtime = Runtime.get()
    methods = {kind: runtime.load_program(path).load_method("forward") for kind, path in paths.items()}
    equal = 0
    for _ in range(INPUTS):
        value = torch.randn(1, 3, size, size)
        outputs = [[one.clone() for one in method.execute([value])] for method in methods.values()]
        equal += all(torch.equal(a, b) for a, b in zip(*outputs, strict=True))
    for path in paths.values():
        path.unlink()
    solutions = [one.solution for one in report.memories if one.solution is not None]
    return {
        "network": name,
        "tensors": sum(len(one.instance) for one in solutions),
        "load": sum(one.instance.load for one in solutions),
        "lower_bound": sum(one.lower_bound for one in solutions),
        "peak": sum(one.peak or 0 for one in solutions),
        "status": "optimal" if report.is_optimal else "feasible",
        "greedy": report.fallback_size,
        "plimsoll": report.size,
        "saved_percent": f"{100 * (1 - report.size / report.fallback_size):.2f}",
        "file_greedy": planned(greedy),
        "file_plimsoll": planned(ours),
        "process_greedy": memory["greedy"],
        "process_plimsoll": memory["plimsoll"],
        "solve_seconds": f"{sum(one.seconds for one in solutions):.6f}",
        "plan_seconds": f"{report.seconds:.6f}",
        "greedy_seconds": f"{sum(seconds):.6f}",
        "equal": equal,
    }


def describe(folder: Path, title: str, text: str, facts: list[str]) -> None:
    """Writes the README of a record, which describes the columns, the machine and the versions."""
    import plimsoll

    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent)
    versions = [("plimsoll", plimsoll.__version__)]
    versions += [(one, version(one)) for one in ("executorch", "torch", "torchvision", "numpy")]
    lines = [f"# {title}", "", text.split("\n\n", 2)[2].strip(), ""]
    lines += [f"- {fact}" for fact in facts]
    lines += [f"- commit: {commit.stdout.strip()}"]
    lines += [f"- processor: {cpu.partition(':')[2].strip()}"]
    lines += [f"- Python {platform.python_version()}, " + ", ".join(map(" ".join, versions))]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--execute", metavar="PROGRAM.pte", help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    arguments = parser.parse_args()
    if arguments.execute:
        execute(arguments.execute)
        return 0
    if arguments.folder is None:
        parser.error("the folder for the record is missing")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    facts = ["command: `make test-executorch` (`experiments/executorch/networks.py`)"]
    facts += [f"networks: {', '.join(arguments.networks)}"]
    describe(arguments.folder, "ExecuTorch: greedy and optimal plans", __doc__ or "", facts)
    failed = 0
    with (arguments.folder / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in arguments.networks:
            found = row(name, arguments.folder)
            writer.writerow(found)
            file.flush()
            print(", ".join(f"{key}={found[key]}" for key in ("network", "status", "greedy", "plimsoll", "equal")))
            failed += found["status"] != "optimal" or found["plimsoll"] > found["greedy"] or found["equal"] != INPUTS
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
