"""Memory planning for ExecuTorch, with a proof of optimality.

>>> from executorch.exir import ExecutorchBackendConfig
>>> from plimsoll.executorch import memory_planning_pass
>>> config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass())  # doctest: +SKIP

:func:`planner` returns an algorithm for ``MemoryPlanningAlgorithmSuite``, and :func:`memory_planning_pass`
returns a ``MemoryPlanningPass`` that uses only this algorithm. The plan of a graph without control flow is
never larger than the plan of ExecuTorch's ``greedy``. If the search finds only larger plans, or if the graph is not
supported, the plan of ``greedy`` is used. If a program with control flow cannot be planned, its tensors share no
bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ._control_flow import Unsupported, disjoint, place, read, solve_aligned, submodules, write
from ._core import Solution
from ._regions import Overwritten

__all__ = ["MemoryReport", "Planner", "Report", "memory_planning_pass", "planner"]


@dataclass(frozen=True)
class MemoryReport:
    """The plan of one memory (``mem_id``) of one graph. All sizes are in bytes."""

    mem_id: int
    #: Size of the memory in the plan, with the bytes reserved for submodules and with padding.
    size: int
    #: Size of the same memory in the plan of the fallback.
    fallback_size: int
    #: Bytes that are reserved for submodules at the start of the memory.
    reserved: int
    #: Padding at the end of the memory.
    padding: int
    #: The answer of the solver on the tensors of this memory, or None if the memory was not planned.
    solution: Solution | None

    @property
    def peak(self) -> int:
        """Size of the memory without the reserved bytes and the padding."""
        return self.size - self.reserved - self.padding

    @property
    def load(self) -> int | None:
        """Maximum number of simultaneously live bytes, which is a lower bound on the peak."""
        return None if self.solution is None else self.solution.instance.load

    @property
    def lower_bound(self) -> int | None:
        """The proved lower bound on the peak."""
        return None if self.solution is None else self.solution.lower_bound

    @property
    def is_optimal(self) -> bool:
        """True if it is proved that no plan of these tensors is smaller."""
        return self.lower_bound == self.peak

    def certificate(self) -> str | None:
        """The certificate as JSON, for ``plimsoll verify``."""
        return None if self.solution is None else self.solution.certificate()

    def _repr_html_(self) -> str:
        return repr(self) if self.solution is None else self.solution._repr_html_()


@dataclass(frozen=True)
class Report:
    """The plan of one graph."""

    #: The reason why the plan is not that of the solver: the plan is that of the fallback or, for a program
    #: with control flow, shares no bytes. The reason is None if the plan is that of the solver.
    fallback: str | None
    #: Seconds spent in the solver and in preparing its input, without the fallback.
    seconds: float
    memories: list[MemoryReport] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of all memories."""
        return sum(memory.size for memory in self.memories)

    @property
    def fallback_size(self) -> int:
        """Bytes of all memories in the plan of the fallback."""
        return sum(memory.fallback_size for memory in self.memories)

    @property
    def is_optimal(self) -> bool:
        """True if the plan of every memory is proved optimal."""
        return all(memory.is_optimal for memory in self.memories)


class Planner:
    """An algorithm for ``MemoryPlanningAlgorithmSuite``. ``reports`` has one entry per planned graph, in
    order: submodules come before the graph that contains them."""

    __name__ = "plimsoll"

    def __init__(
        self,
        time_limit: float | None = 1.0,
        fallback: str | Callable[..., Any] = "greedy",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        self.time_limit = time_limit
        self.fallback = _fallback(fallback)
        self.seed = seed
        self.threads = threads
        self.reports: list[Report] = []

    @property
    def report(self) -> Report:
        """The report of the last planned graph; after a pass, that of the whole method."""
        return self.reports[-1]

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any,
        graph_signature: Any,
        extra_padding: int = 0,
    ) -> Any:
        import time

        specs = list(specs)
        result = self.fallback(alignment, specs, graph_module, graph_signature, extra_padding)
        started = time.perf_counter()
        floors = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
        plan: dict[Any, int] = {}
        memories: list[MemoryReport] = []
        why = None
        try:
            for mem_id, own in _by_memory(specs, result).items():
                floor = floors[mem_id] if mem_id < len(floors) else 0
                memory = self._memory(mem_id, own, alignment, floor, extra_padding, result, plan)
                memories.append(memory)
        except Unsupported as error:
            why = str(error)
            warnings.warn(f"the plan of the fallback is used: {why}", stacklevel=2)
        seconds = time.perf_counter() - started
        if why is None and sum(memory.size for memory in memories) > sum(result.bufsizes):
            why = "the search found only larger plans within its time limit"
        if why is None:
            _write(result, plan, memories)
        else:
            solutions = {memory.mem_id: memory.solution for memory in memories}
            memories = [
                MemoryReport(at, size, size, floors[at] if at < len(floors) else 0, extra_padding, solutions.get(at))
                for at, size in enumerate(result.bufsizes)
                if size > 0
            ]
        self.reports.append(Report(why, seconds, memories))
        return result

    def _memory(
        self,
        mem_id: int,
        specs: list[Any],
        alignment: int,
        floor: int,
        padding: int,
        result: Any,
        plan: dict[Any, int],
    ) -> MemoryReport:
        """Plans the tensors of one memory, and adds their offsets to ``plan``."""
        groups = _groups(specs)
        bases = list(groups)
        start = -(-floor // alignment) * alignment
        rows = {
            "lower": [_ends(groups[base])[0] for base in bases],
            "upper": [_ends(groups[base])[1] + 1 for base in bases],
            "size": [base.allocated_memory for base in bases],
        }
        solution = solve_aligned(
            rows, alignment, f"memory {mem_id}", [], time_limit=self.time_limit, seed=self.seed, threads=self.threads
        )
        for base, row in zip(bases, solution.rows, strict=True):
            if row["offset"] is None:
                raise Unsupported(f"no plan for memory {mem_id} within {self.time_limit} s")
            for spec in groups[base]:
                plan[spec] = start + row["offset"] + _inside(spec)
        size = start + (solution.peak or 0) + padding
        return MemoryReport(mem_id, size, result.bufsizes[mem_id], start, padding, solution)

    def plan_control_flow(
        self, graph_module: Any, graph_signature: Any, alignment: int
    ) -> None:
        """Replaces the plans of a graph and of the submodules of its ``cond``, ``map`` and ``scan`` with one plan of
        the whole program. Does nothing if the graph has no submodules. :func:`memory_planning_pass` calls this
        method.

        Raises ``ValueError`` for control flow that ExecuTorch cannot emit (``while_loop``), and for a ``scan``
        whose results ExecuTorch overwrites, whatever the plan.
        """
        import time

        from executorch.exir.memory_planning import _contains_xnnpack_delegate

        graphs = submodules(graph_module)
        if len(graphs) == 1:
            return
        started = time.perf_counter()
        before = list(graph_module.meta["non_const_buffer_sizes"])
        padding = 64 if any(_contains_xnnpack_delegate(graph) for graph in graphs) else 0
        why = None
        program = read(graph_module, graph_signature)
        try:
            if "non_const_buffer_device" in graph_module.meta:
                raise Unsupported("a tensor is in the memory of another device")
            plan = place(program, alignment, time_limit=self.time_limit, seed=self.seed, threads=self.threads)
        except (Unsupported, Overwritten) as error:
            why = str(error)
            warnings.warn(f"the tensors of the program share no bytes: {why}", stacklevel=2)
            plan = disjoint(program, alignment)
        sizes = write(program, plan, graph_module, padding)
        seconds = time.perf_counter() - started
        memories = [
            MemoryReport(at, size, before[at] if at < len(before) else 0, 0, padding, plan.solutions.get(at))
            for at, size in enumerate(sizes)
            if size > 0
        ]
        self.reports.append(Report(why, seconds, memories))


def _fallback(fallback: str | Callable[..., Any]) -> Callable[..., Any]:
    if callable(fallback):
        return fallback
    from executorch.exir import memory_planning

    known: dict[str, Callable[..., Any]] = {"greedy": memory_planning.greedy, "naive": memory_planning.naive}
    if fallback not in known:
        raise ValueError(f"fallback is {fallback!r}; expected 'greedy', 'naive' or a function")
    return known[fallback]


def _by_memory(specs: list[Any], result: Any) -> dict[int, list[Any]]:
    """Groups tensors by memory. Views are in the memory of their base."""
    memories: dict[int, list[Any]] = {}
    for spec in specs:
        memories.setdefault(result.spec_dict[spec].mem_id, []).append(spec)
    return dict(sorted(memories.items()))


def _base(spec: Any) -> Any:
    """Returns the tensor whose storage contains ``spec``."""
    seen = {spec}
    while spec.storage_base is not None:
        spec = spec.storage_base
        if spec in seen:
            raise Unsupported("the storage of a tensor contains itself")
        seen.add(spec)
    return spec


def _inside(spec: Any) -> int:
    """Returns the offset of a tensor in the storage of its base."""
    offset = 0
    while spec.storage_base is not None:
        offset += spec.storage_base_offset
        spec = spec.storage_base
    return offset


def _groups(specs: list[Any]) -> dict[Any, list[Any]]:
    """Groups tensors by base, in the order of ``specs``. A storage is live as long as at least one of its tensors is
    live."""
    groups: dict[Any, list[Any]] = {spec: [spec] for spec in specs if spec.storage_base is None}
    for spec in specs:
        if spec.storage_base is None:
            continue
        base = _base(spec)
        if base not in groups:
            raise Unsupported("a tensor lies in the storage of a tensor that is not planned here")
        if _inside(spec) + spec.allocated_memory > base.allocated_memory:
            raise Unsupported("a tensor does not fit into the storage of its base")
        groups[base].append(spec)
    return groups


def _ends(specs: list[Any]) -> tuple[int, int]:
    """Returns the first and the last step at which one of the tensors is live."""
    steps = [step for spec in specs for step in spec.lifetime]
    if any(step is None for step in steps):
        raise Unsupported("a tensor has no lifetime")
    return min(steps), max(steps)


def _write(result: Any, plan: dict[Any, int], memories: list[MemoryReport]) -> None:
    """Replaces the fallback's plan. Tensors whose addresses overlap get the same ``mem_obj_id``."""
    for memory in memories:
        result.bufsizes[memory.mem_id] = memory.size
        own = [spec for spec in plan if result.spec_dict[spec].mem_id == memory.mem_id]
        own.sort(key=lambda spec: (plan[spec], spec.allocated_memory))
        number, end = -1, 0
        for spec in own:
            if number < 0 or plan[spec] >= end:
                number += 1
            end = max(end, plan[spec] + spec.allocated_memory)
            result.spec_dict[spec].mem_offset = plan[spec]
            result.spec_dict[spec].mem_obj_id = number


def planner(
    *,
    time_limit: float | None = 1.0,
    fallback: str | Callable[..., Any] = "greedy",
    seed: int = 0,
    threads: int = 1,
) -> Planner:
    """Returns an algorithm for ``MemoryPlanningAlgorithmSuite([...])``.

    ``time_limit`` is in seconds and applies to each memory of each graph. ``fallback`` is ``"greedy"``,
    ``"naive"`` or another algorithm for the suite. Its plan is used if the search finds only larger plans, or if
    the graph is not supported.
    """
    return Planner(time_limit, fallback, seed, threads)


def memory_planning_pass(*, algorithm: Planner | None = None, **options: Any) -> Any:
    """Returns a ``MemoryPlanningPass`` that plans with ``algorithm``, by default ``planner()``. A graph with
    ``cond``, ``map`` or ``scan`` is planned together with its submodules.

    ``options`` are those of ``MemoryPlanningPass``, such as ``alloc_graph_input`` and ``alignment``. The
    attribute ``planner`` of the pass contains the reports.
    """
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.passes import MemoryPlanningPass

    class ProgramPlanningPass(MemoryPlanningPass):  # type: ignore[misc]
        planner: Planner

        def run(self, graph_module: Any, graph_signature: Any = None) -> Any:
            result = super().run(graph_module, graph_signature)
            self.planner.plan_control_flow(graph_module, graph_signature, self.alignment)
            return result

    own = algorithm or planner()
    result = ProgramPlanningPass(memory_planning_algo=MemoryPlanningAlgorithmSuite([own]), **options)
    result.planner = own
    return result
