"""Plans ExecuTorch programs with ``cond``, ``map`` and ``scan`` as a whole.

The instructions that the emitter (``exir/emit/_emitter.py``) generates determine what is live:

- The operands of a submodule are the tensors of the caller, not copies, except for the slices of ``map`` and
  ``scan``.
- At the end of a branch of ``cond``, the result of the call becomes the tensor that the branch returns: a pointer
  is moved, and nothing is copied. The tensor of the branch is therefore live until the last use of the result.
- ``map`` and ``scan`` copy the results of every iteration into the tensors of the caller.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

from ._core import Instance, Solution, solve
from ._regions import ALWAYS, Branches, Guard, Loop, Sequence, Step, Storage, check, intervals, is_exclusive, lifespans

#: The storages that a tensor may lie in, depending on the branches taken before.
Value = frozenset[tuple[int, Guard]]

NOTHING: Value = frozenset()


class Unsupported(Exception):
    """The tensors of a program cannot be planned."""


def submodules(graph_module: Any) -> list[Any]:
    """Returns the graphs of a program: the graph itself and those that its control flow calls, each once."""
    found = [graph_module]
    for own in found:
        for node in own.graph.nodes:
            if _kind(node) is not None:
                found += [one for one in _called(own, node) if all(one is not known for known in found)]
    return found


def _kind(node: Any) -> str | None:
    """Returns the name of a control flow operator, or None for any other node."""
    if node.op != "call_function":
        return None
    import torch

    name = getattr(node.target, "__name__", "") if isinstance(node.target, torch._ops.HigherOrderOperator) else ""
    return name if name in ("cond", "map_impl", "scan", "while_loop") else None


def _called(graph_module: Any, node: Any) -> list[Any]:
    """Returns the submodules that a node calls."""
    inner = [one for one in node.args if getattr(one, "op", None) == "get_attr"]
    return [getattr(graph_module, one.target) for one in inner]


def _root(spec: Any) -> Any:
    """Returns the spec that owns the storage of a view."""
    seen = {id(spec)}
    while True:
        base = spec._base if type(spec).__name__ == "_ViewSpec" else spec.storage_base
        if base is None:
            return spec
        if id(base) in seen:
            raise Unsupported("the storage of a tensor contains itself")
        seen.add(id(base))
        spec = base


def _specs(node: Any) -> list[Any]:
    specs = node.meta.get("spec")
    specs = specs if isinstance(specs, (list, tuple)) else [specs]
    return [spec for spec in specs if hasattr(spec, "mem_offset")]


@dataclass
class Program:
    """The storages of a program and the order in which they are accessed."""

    storages: list[Storage] = field(default_factory=list)
    #: The spec of each storage.
    roots: list[Any] = field(default_factory=list)
    #: Specs that lie inside the storage of another spec, at an offset in bytes.
    parts: list[Any] = field(default_factory=list)
    #: Specs of inputs of submodules, which are the tensors of the caller. They need no bytes.
    inputs: list[Any] = field(default_factory=list)
    #: Specs of results of ``cond``, which become the tensors that the branches return. They need no bytes.
    results: list[Any] = field(default_factory=list)
    body: Sequence = field(default_factory=lambda: Sequence([]))
    _known: dict[int, int] = field(default_factory=dict)
    _keys: int = 0

    def _storage(self, spec: Any, guard: Guard, loops: frozenset[int]) -> Value:
        """Returns the storage of a spec. The region that creates it runs under the choices of ``guard``, inside
        ``loops``."""
        root = _root(spec)
        if root is not spec and spec.storage_base is not None and all(spec is not one for one in self.parts):
            self.parts.append(spec)
        if root.mem_id is None or root.mem_offset is None:
            return NOTHING
        at = self._known.setdefault(id(root), len(self.roots))
        if at == len(self.roots):
            self.roots.append(root)
            self.storages.append(Storage(root.allocated_memory, root.mem_id, guard, loops))
        known = self.storages[at]
        # If a submodule is called twice, its tensors belong to the choices and loops that both calls share.
        known.guard, known.loops = known.guard & guard, known.loops & loops
        return frozenset({(at, ALWAYS)})

    def _key(self) -> int:
        self._keys += 1
        return self._keys

    def region(
        self, graph_module: Any, bindings: list[Value | None], guard: Guard, loops: frozenset[int]
    ) -> tuple[Sequence, list[Value], list[Value]]:
        """Reads a submodule. ``bindings`` contains the caller's tensors for its inputs; an input whose entry is
        None has a tensor of its own. Returns the region, the inputs and the results."""
        values: dict[Any, Any] = {}
        inputs: list[Value] = []
        items: list[Step | Branches | Loop] = []
        results: list[Value] = []
        for node in graph_module.graph.nodes:
            if node.op == "placeholder":
                bound = bindings[len(inputs)] if len(inputs) < len(bindings) else None
                if bound is None:
                    bound = self._own(node, guard, loops)
                else:
                    self.inputs += _specs(node)
                inputs.append(bound)
                values[node] = bound
            elif node.op == "output":
                import torch

                flat = torch.utils._pytree.tree_leaves(node.args[0])
                results = [_value(values.get(one, NOTHING)) if isinstance(one, torch.fx.Node) else NOTHING for one in flat]
            elif node.op == "call_function":
                values[node] = self._call(graph_module, node, values, items, guard, loops)
        return Sequence(items), inputs, results

    def _own(self, node: Any, guard: Guard, loops: frozenset[int]) -> Value:
        return frozenset().union(*(self._storage(spec, guard, loops) for spec in _specs(node)))

    def _call(
        self, graph_module: Any, node: Any, values: dict[Any, Any], items: list[Any], guard: Guard, loops: frozenset[int]
    ) -> Any:
        """Reads one node and appends its steps, branches and loops to ``items``. Returns its value, or a list of
        values."""
        from executorch.exir import memory

        if node.target is operator.getitem:
            inner = values.get(node.args[0], NOTHING)
            return inner[node.args[1]] if isinstance(inner, list) else inner
        if node.target is memory.view:
            return _value(values.get(node.args[0], NOTHING))
        if node.target is memory.alloc:
            return self._own(node, guard, loops)
        if node.target is memory.free:
            return NOTHING
        kind = _kind(node)
        if kind == "cond":
            return self._cond(graph_module, node, values, items, guard, loops)
        if kind in ("map_impl", "scan"):
            return self._loop(kind, graph_module, node, values, items, guard, loops)
        if kind is not None:
            raise ValueError(f"ExecuTorch cannot emit '{kind}'")
        operands = [_value(values.get(one, NOTHING)) for one in node.all_input_nodes]
        own = [self._storage(spec, guard, loops) for spec in _specs(node)]
        accessed: Value = NOTHING.union(*operands, *own)
        items.append(Step(accessed))
        # The result of an in-place operator is one of its operands.
        own = [one or NOTHING.union(*operands) for one in own]
        return own if isinstance(node.meta.get("spec"), (list, tuple)) else NOTHING.union(*own)

    def _cond(
        self, graph_module: Any, node: Any, values: dict[Any, Any], items: list[Any], guard: Guard, loops: frozenset[int]
    ) -> list[Value]:
        predicate, true, false, operands = node.args
        key = self._key()
        items.append(Step(_value(values.get(predicate, NOTHING))))
        bindings: list[Value | None] = [_value(values.get(one, NOTHING)) for one in operands]
        results: list[list[Value]] = []
        options = []
        for branch, inner in enumerate((true, false)):
            choice: Guard = frozenset({(key, branch)})
            module = getattr(graph_module, inner.target)
            sequence, _, returned = self.region(module, bindings, guard | choice, loops)
            options.append(sequence)
            results.append([frozenset((at, own | choice) for at, own in one) for one in returned])
        items.append(Branches(key, options))
        for spec in _specs(node):
            self._storage(spec, guard, loops)
            self.results.append(spec)
        return [a | b for a, b in zip(*results, strict=True)]

    def _loop(
        self,
        kind: str,
        graph_module: Any,
        node: Any,
        values: dict[Any, Any],
        items: list[Any],
        guard: Guard,
        loops: frozenset[int],
    ) -> list[Value]:
        if kind == "map_impl":
            body, mapped, operands = node.args
            carried: list[Any] = []
        else:
            body, carried, mapped, operands = node.args
        own = [self._storage(spec, guard, loops) for spec in _specs(node)]
        carries = own[: len(carried)]
        if carried:
            initial = [_value(values.get(one, NOTHING)) for one in carried]
            items += [Step(a | b) for a, b in zip(carries, initial, strict=True)]
        key = self._key()
        bindings: list[Value | None] = [*carries, *(None for _ in mapped)]
        bindings += [_value(values.get(one, NOTHING)) for one in operands]
        module = getattr(graph_module, body.target)
        sequence, inputs, results = self.region(module, bindings, guard, loops | {key})
        slices = inputs[len(carries) : len(carries) + len(mapped)]
        sources = [_value(values.get(one, NOTHING)) for one in mapped]
        before = [Step(a | b) for a, b in zip(slices, sources, strict=True)]
        after = [Step(a | b) for a, b in zip(own, results, strict=True)]
        _refuse_overwritten(carries, results)
        items.append(Loop(key, Sequence([*before, *sequence.items, *after])))
        return own


def _refuse_overwritten(carries: list[Value], results: list[Value]) -> None:
    """Refuses a scan that returns a carry at a later position than the carry's own. After an iteration, the emitter
    copies the results into the carries sequentially, so it would overwrite this carry before copying it."""
    for at, result in enumerate(results):
        for earlier in carries[: min(at, len(carries))]:
            if {storage for storage, _ in earlier} & {storage for storage, _ in result}:
                raise ValueError(
                    f"result {at} of a scan is a carry itself, which ExecuTorch overwrites before it copies the "
                    "result; return a clone"
                )


def _value(value: Any) -> Value:
    return NOTHING.union(*value) if isinstance(value, list) else value


def read(graph_module: Any, graph_signature: Any) -> Program:
    """Reads a program. Every tensor to plan must already have a memory (``mem_id``) and an offset. The value of the
    offset does not matter.

    Raises ``ValueError`` for control flow that ExecuTorch cannot emit or translates incorrectly, and
    :class:`Unsupported` if a storage contains itself.
    """
    from executorch.exir.memory_planning import _is_mutable_buffer

    program = Program()
    body, inputs, results = program.region(graph_module, [], ALWAYS, frozenset())
    # All inputs are written before the program runs; all outputs are read afterwards.
    first, last = Step(NOTHING.union(*inputs)), Step(NOTHING.union(*results))
    program.body = Sequence([first, *body.items, last])
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    for node, value in zip(placeholders, inputs, strict=True):
        if _is_mutable_buffer(node, graph_signature):
            for at, _ in value:
                program.storages[at].is_permanent = True
    return program


@dataclass
class Plan:
    """Offsets of all storages in bytes, and the solution per memory."""

    offsets: list[int]
    solutions: dict[int, Solution]


def solve_aligned(
    columns: dict[str, Any], alignment: int, name: str, exclusions: list[tuple[int, int]], **limits: Any
) -> Solution:
    """Places buffers that all have the same alignment. If all sizes are multiples of the alignment, the first search
    ignores the alignment. This search is faster, and the offsets that it finds are usually also multiples."""
    aligned = {**columns, "alignment": [alignment] * len(columns["size"])}
    is_multiple = all(size % alignment == 0 for size in columns["size"])
    for rows in (columns, aligned) if is_multiple else (aligned,):
        solution = solve(Instance(rows, name=name, exclusions=exclusions), **limits)
        if all(row["offset"] is not None and row["offset"] % alignment == 0 for row in solution.rows):
            break
    return solution


def place(program: Program, alignment: int, **limits: Any) -> Plan:
    """Places the storages of every memory with :func:`plimsoll.solve`, which receives ``limits``.

    Raises :class:`Unsupported` if no layout is found within the limits, and ``Overwritten`` if the simulated
    execution of the plan finds an error.
    """
    lives = lifespans(program.body, program.storages)
    # A storage that is never accessed may lie anywhere.
    offsets = [0] * len(lives)
    solutions = {}
    for memory in sorted({storage.memory for storage in program.storages}):
        own = [at for at, live in enumerate(lives) if live and program.storages[at].memory == memory]
        steps = [intervals(lives[at]) for at in own]
        rows = {
            "lower": [one[0][0] for one in steps],
            "upper": [one[-1][1] for one in steps],
            "size": [program.storages[at].size for at in own],
            "gaps": [[(a[1], b[0]) for a, b in zip(one, one[1:], strict=False)] for one in steps],
        }
        guarded = [number for number, at in enumerate(own) if any(live.guard for live in lives[at])]
        pairs = [
            (a, b)
            for index, a in enumerate(guarded)
            for b in guarded[index + 1 :]
            if is_exclusive(lives[own[a]], lives[own[b]])
        ]
        solution = solve_aligned(rows, alignment, f"memory {memory}", pairs, **limits)
        solutions[memory] = solution
        for at, row in zip(own, solution.rows, strict=True):
            if row["offset"] is None:
                raise Unsupported(f"no plan for memory {memory} within the limits")
            offsets[at] = row["offset"]
    check(program.body, program.storages, [offset if live else None for offset, live in zip(offsets, lives, strict=True)])
    return Plan(offsets, solutions)


def disjoint(program: Program, alignment: int) -> Plan:
    """Places all storages end to end, which is valid for any control flow."""
    offsets = []
    ends: dict[int, int] = {}
    for storage in program.storages:
        end = ends.get(storage.memory, 0)
        offsets.append(end)
        ends[storage.memory] = -(-(end + storage.size) // alignment) * alignment
    return Plan(offsets, {})


def write(program: Program, plan: Plan, graph_module: Any, padding: int) -> list[int]:
    """Writes the offsets to the specs and the sizes of all memories to the graphs. Returns the sizes."""
    from executorch.exir import memory

    sizes = [0] * max(2, 1 + max((storage.memory for storage in program.storages), default=0))
    for root, storage, offset in zip(program.roots, program.storages, plan.offsets, strict=True):
        root.mem_offset = offset
        sizes[storage.memory] = max(sizes[storage.memory], offset + storage.size)
    for part in program.parts:
        root = _root(part)
        part.mem_id, part.mem_offset = root.mem_id, root.mem_offset + _inside(part)
    # When the program runs, a tensor may be replaced with another one, to which its views must then refer. If the base
    # of a view has an offset, the emitter computes the view in advance, so such bases get no offset.
    viewed = {
        id(_root(spec))
        for inner in submodules(graph_module)
        for node in inner.graph.nodes
        if node.target is memory.view
        for spec in _specs(node)
    }
    for spec in program.inputs + [one for one in program.results if id(one) in viewed]:
        if not spec.const:
            spec.mem_offset = None
    sizes = [size + padding if size else 0 for size in sizes]
    for inner in submodules(graph_module):
        inner.meta["non_const_buffer_sizes"] = sizes
    return sizes


def _inside(spec: Any) -> int:
    """Returns the offset of a tensor in the storage of its base."""
    offset = 0
    while spec.storage_base is not None:
        offset += spec.storage_base_offset
        spec = spec.storage_base
    return offset
