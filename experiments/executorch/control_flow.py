"""Plans programs with branches and loops through the API of ExecuTorch, and runs them for every outcome.

    python control_flow.py FOLDER

Writes one row per program to `rows.csv` in a folder. Sizes are in bytes. `default` is the total size of all
memories if ExecuTorch plans them by its own rules with its algorithm `greedy`. `branches` is the total size
of separate plans for the graph and for every submodule if these plans share no bytes. `plimsoll` is the size
of Plimsoll's plan of the whole program, and `lower_bound` and `status` belong to that plan. `outcomes` is the
number of combinations of branches that can run. `runs` is the number of executions of each plan.
`default_equal` and `plimsoll_equal` are the numbers of executions whose outputs match eager execution
(`torch.allclose`).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from networks import describe, planned
from torch import Tensor, nn

RUNS = 3
COLUMNS = (
    "program,submodules,outcomes,default,branches,plimsoll,lower_bound,status,runs,default_equal,plimsoll_equal"
).split(",")


def module(function: Callable[..., Any]) -> nn.Module:
    class Program(nn.Module):
        __doc__ = function.__doc__

        def forward(self, *inputs: Tensor) -> Any:
            return function(*inputs)

    return Program().eval()


class TwoBranches(nn.Module):
    """Two branches, only one of which runs, with large intermediate results."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.deep = nn.Linear(64, 512), nn.Linear(64, 512)
        self.narrow, self.flat = nn.Linear(512, 4), nn.Linear(512, 4)

    def forward(self, x: Tensor, p: Tensor) -> Tensor:
        def one(x: Tensor) -> Tensor:
            return self.narrow(torch.relu(self.wide(x)))

        def other(x: Tensor) -> Tensor:
            return self.flat(torch.tanh(self.deep(x)))

        return torch.cond(p, one, other, (x,))


class Buffered(nn.Module):
    """A buffer that keeps its contents between runs, beside two branches."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(16, 16))

    def forward(self, x: Tensor, p: Tensor) -> Tensor:
        self.total.add_(1.0)
        y = torch.cond(p, lambda x: torch.relu(x) + 1, lambda x: torch.tanh(x) * 2, (x,))
        return y + self.total


def sibling(x: Tensor, p: Tensor, q: Tensor) -> Any:
    """Two conditionals; the result of the first is used after the second."""
    a = torch.cond(p, lambda x: torch.relu(x) * 3, lambda x: (x - 1) * x, (x,))
    b = torch.cond(q, lambda x: torch.exp(x) + x, lambda x: x * 2 - 1, (x,))
    return a + b


def chained(x: Tensor, p: Tensor, q: Tensor) -> Any:
    """Two conditionals; the second reads the result of the first."""
    a = torch.cond(p, lambda x: torch.relu(x) * 3, lambda x: (x - 1) * x, (x,))
    b = torch.cond(q, lambda a, x: a + x, lambda a, x: a * x - 1, (a, x))
    return a + b, b


def nested(x: Tensor, p: Tensor, q: Tensor) -> Any:
    """A branch that contains a conditional, and adds its result to an earlier result."""

    def outer(x: Tensor, q: Tensor) -> Tensor:
        before = torch.relu(x)
        inner = torch.cond(q, lambda x: x * x + 1, lambda x: torch.tanh(x) - 2, (x,))
        return before + inner

    return torch.cond(p, outer, lambda x, q: x - 1, (x, q))


def nested_result(x: Tensor, p: Tensor, q: Tensor) -> Any:
    """A branch that returns the result of an inner conditional; that result is used after another conditional."""

    def outer(x: Tensor, q: Tensor) -> Tensor:
        return torch.cond(q, lambda x: x * x + 1, lambda x: torch.tanh(x) - 2, (x,))

    a = torch.cond(p, outer, lambda x, q: x - 1, (x, q))
    b = torch.cond(q, lambda x: torch.exp(x), lambda x: x * 5, (x,))
    return a * b


def several_results(x: Tensor, p: Tensor) -> Any:
    """Branches with two results each, of different sizes."""

    def one(x: Tensor) -> Any:
        return torch.relu(x) + 1, x.sum(1) * 2

    def other(x: Tensor) -> Any:
        return torch.tanh(x) * 2, x.sum(1) - 1

    a, b = torch.cond(p, one, other, (x,))
    return a + 1, b * 2, x * 3


def returned_input(x: Tensor, p: Tensor) -> Any:
    """A branch that returns an unchanged copy of its input."""
    y = x + 1
    a = torch.cond(p, lambda y: y.clone(), lambda y: torch.relu(y) * 2, (y,))
    return a + x


def viewed_result(x: Tensor, p: Tensor) -> Any:
    """A view of the result of a conditional. It must refer to the result of the branch that was taken."""
    a = torch.cond(p, lambda x: torch.relu(x) + 1, lambda x: torch.tanh(x) * 2, (x,))
    return a.view(-1) * 2 + x.reshape(-1)


def viewed_operand(x: Tensor, p: Tensor) -> Any:
    """Branches that begin with a view of their operand."""
    y = x * 2
    return torch.cond(p, lambda y: y.view(-1) + 1, lambda y: y.view(-1) * 3, (y,)) - 1


def three_in_a_row(x: Tensor, p: Tensor, q: Tensor) -> Any:
    """Three conditionals whose results are all used at the end."""
    a = torch.cond(p, lambda x: x + 1, lambda x: x * 2, (x,))
    b = torch.cond(q, lambda x: x - 1, lambda x: x * 3, (x,))
    c = torch.cond(p, lambda x: x * x, lambda x: x + x, (x,))
    return a + b * c


def odd_sizes(x: Tensor, p: Tensor) -> Any:
    """Tensors whose sizes are not multiples of the alignment."""
    y = x[:, :3] + 1
    a = torch.cond(p, lambda y: torch.relu(y) * 2, lambda y: y * y, (y,))
    return a.sum(1) + y[:, 0]


def mapped(x: Tensor, y: Tensor) -> Any:
    """A loop over slices whose body also reads an outer tensor, which is used again after the loop."""
    from torch._higher_order_ops.map import map as map_op

    z = y * 2
    return map_op(lambda one, z: torch.relu(one + z) * one, x, z) + z


def mapped_branches(x: Tensor, p: Tensor) -> Any:
    """Branches in every iteration of a loop."""
    from torch._higher_order_ops.map import map as map_op

    def body(one: Tensor, p: Tensor) -> Tensor:
        return torch.cond(p, lambda one: torch.relu(one) + 1, lambda one: torch.tanh(one) * 2, (one,)) * one

    return map_op(body, x, p)


def mapped_twice(x: Tensor, y: Tensor) -> Any:
    """Two loops; the result of the first is used after the second."""
    from torch._higher_order_ops.map import map as map_op

    a = map_op(lambda one, y: one + y, x, y)
    b = map_op(lambda one, y: one * y, x, y)
    return a * b


def scanned(x: Tensor, y: Tensor) -> Any:
    """A loop that carries a sum from one iteration to the next and also returns every partial sum."""
    from torch._higher_order_ops.scan import scan

    def combine(total: Tensor, one: Tensor) -> Any:
        total = total + torch.relu(one)
        return total, total * 2

    last, partial = scan(combine, y * 1, x)
    return last + y, partial


def scanned_branches(x: Tensor, p: Tensor) -> Any:
    """Branches in every iteration of a loop that carries a value."""
    from torch._higher_order_ops.scan import scan

    def combine(total: Tensor, one: Tensor) -> Any:
        own = torch.cond(p, lambda one: torch.relu(one) + 1, lambda one: torch.tanh(one) * 2, (one,))
        return total + own, total * own

    return scan(combine, torch.zeros_like(x[0]), x)


def loop_in_branch(x: Tensor, y: Tensor, p: Tensor) -> Any:
    """A branch that contains a loop and returns its result, which is used after the conditional."""
    from torch._higher_order_ops.map import map as map_op

    def looped(x: Tensor, y: Tensor) -> Tensor:
        return map_op(lambda one, y: torch.relu(one + y) * one, x, y)

    return torch.cond(p, looped, lambda x, y: x - y, (x, y)) + y


def empty_tensors(x: Tensor, p: Tensor) -> Any:
    """Branches that also return results without elements."""

    def one(x: Tensor) -> Any:
        return torch.relu(x) + 1, x[:0] * 2

    def other(x: Tensor) -> Any:
        return torch.tanh(x) * 2, x[:0] - 1

    a, b = torch.cond(p, one, other, (x,))
    return a + 1, b * 3


X, Y, P = (16, 16), (16,), "choice"

#: The programs with the shapes of their inputs.
PROGRAMS: dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...]]] = {
    "two-branches": (TwoBranches, ((256, 64), P)),
    "sibling": (lambda: module(sibling), (X, P, P)),
    "chained": (lambda: module(chained), (X, P, P)),
    "nested": (lambda: module(nested), (X, P, P)),
    "nested-result": (lambda: module(nested_result), (X, P, P)),
    "several-results": (lambda: module(several_results), (X, P)),
    "returned-input": (lambda: module(returned_input), (X, P)),
    "viewed-result": (lambda: module(viewed_result), (X, P)),
    "viewed-operand": (lambda: module(viewed_operand), (X, P)),
    "three-in-a-row": (lambda: module(three_in_a_row), (X, P, P)),
    "odd-sizes": (lambda: module(odd_sizes), ((5, 7), P)),
    "buffered": (Buffered, (X, P)),
    "mapped": (lambda: module(mapped), (X, Y)),
    "mapped-branches": (lambda: module(mapped_branches), (X, P)),
    "mapped-twice": (lambda: module(mapped_twice), (X, Y)),
    "scanned": (lambda: module(scanned), (X, Y)),
    "scanned-branches": (lambda: module(scanned_branches), (X, P)),
    "loop-in-branch": (lambda: module(loop_in_branch), (X, Y, P)),
    "empty-tensors": (lambda: module(empty_tensors), (X, P)),
}


def inputs(shapes: tuple[Any, ...], choices: tuple[bool, ...]) -> tuple[Tensor, ...]:
    chosen = iter(choices)
    return tuple(torch.tensor(next(chosen)) if shape == P else torch.randn(shape) for shape in shapes)


def equal_runs(program: Any, path: Path, make: Callable[[], nn.Module], shapes: tuple[Any, ...]) -> tuple[int, int]:
    """Returns the number of runs whose outputs equal those of eager execution, and the number of all runs. One loaded
    method runs all outcomes in sequence, so the use of stale data from an earlier run would be detected."""
    from executorch.runtime import Runtime

    path.write_bytes(program.buffer)
    method = Runtime.get().load_program(path).load_method("forward")
    torch.manual_seed(0)
    eager = make()
    equal = runs = 0
    torch.manual_seed(1)
    for _ in range(RUNS):
        for choices in itertools.product((True, False), repeat=shapes.count(P)):
            values = inputs(shapes, choices)
            expected = eager(*values)
            expected = expected if isinstance(expected, tuple) else (expected,)
            found = method.execute(list(values))
            runs += 1
            equal += all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))
    path.unlink()
    return equal, runs


def row(name: str, folder: Path) -> dict[str, Any]:
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from plimsoll.executorch import memory_planning_pass, planner
    from torch.export import export

    make, shapes = PROGRAMS[name]
    torch.manual_seed(0)
    exported = export(make(), inputs(shapes, (True,) * shapes.count(P)))
    own = planner(time_limit=10.0)
    config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass(algorithm=own))
    ours = to_edge(exported).to_executorch(config)
    default = to_edge(exported).to_executorch()
    default_equal, runs = equal_runs(default, folder / f"{name}-default.pte", make, shapes)
    own_equal, _ = equal_runs(ours, folder / f"{name}-plimsoll.pte", make, shapes)
    report = own.report
    # All reports except the last belong to the submodules and the graph, each planned separately.
    alone = sum(sum(one.peak for one in part.memories) for part in own.reports[:-1])
    return {
        "program": name,
        "submodules": len(own.reports) - 2,
        "outcomes": 2 ** shapes.count(P),
        "default": planned(default),
        "branches": alone,
        "plimsoll": planned(ours),
        "lower_bound": sum(one.lower_bound or 0 for one in report.memories),
        "status": "optimal" if report.fallback is None and report.is_optimal else "feasible",
        "runs": runs,
        "default_equal": default_equal,
        "plimsoll_equal": own_equal,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="the folder for the record")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    facts = ["command: `make test-executorch` (`experiments/executorch/control_flow.py`)"]
    facts += ["seeds: 0 for weights, 1 for inputs"]
    facts += [f"{name}: {PROGRAMS[name][0]().__doc__}" for name in arguments.programs]
    describe(arguments.folder, "ExecuTorch: branches and loops", __doc__ or "", facts)
    failed = 0
    with (arguments.folder / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in arguments.programs:
            found = row(name, arguments.folder)
            writer.writerow(found)
            file.flush()
            print(", ".join(f"{key}={value}" for key, value in found.items()))
            failed += found["status"] != "optimal" or found["plimsoll_equal"] != found["runs"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
