"""Computes lifespans in programs with branches and loops. This module does not need torch.

A program is a :class:`Sequence` of steps, branches and loops. Steps are numbered in program order. The branches of
a conditional are numbered consecutively. A storage is live at a step if, on some path through the step, it is
accessed at or before the step and also at or after the step. Two storages may share bytes if there is no path on
which both are live at the same step. :func:`check` does not use lifespans: it executes the program for the
outcomes of its branches.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

#: A condition on the branches that a run takes: pairs of a conditional and the number of the branch taken.
Guard = frozenset[tuple[int, int]]

ALWAYS: Guard = frozenset()


@dataclass
class Storage:
    """Bytes that a value occupies."""

    #: Size in bytes.
    size: int
    #: The memory that contains the storage.
    memory: int
    #: Choices under which the region that creates the storage runs.
    guard: Guard = ALWAYS
    #: Loops around the region that creates the storage.
    loops: frozenset[int] = frozenset()
    #: True if the contents outlive a run of the program.
    is_permanent: bool = False


@dataclass
class Step:
    """One operator. It accesses storages, some of them only if certain branches were taken before."""

    accesses: frozenset[tuple[int, Guard]]
    start: int = 0
    end: int = 0


@dataclass
class Branches:
    """A conditional with its branches, exactly one of which runs."""

    key: int
    options: list[Sequence]
    start: int = 0
    end: int = 0


@dataclass
class Loop:
    """A loop with its body, which runs at least once."""

    key: int
    body: Sequence
    start: int = 0
    end: int = 0


@dataclass
class Sequence:
    """Items in the order in which they run."""

    items: list[Step | Branches | Loop]
    #: For each storage, the positions of the items that access it, in order, each with the guard of the access.
    where: dict[int, list[tuple[int, Guard]]] = field(default_factory=dict)

    def number(self, start: int = 0) -> int:
        """Numbers the steps from ``start``, fills ``where``, and returns the number after the last step."""
        for position, item in enumerate(self.items):
            item.start = start
            if isinstance(item, Step):
                start += 1
                accesses: set[tuple[int, Guard]] = set(item.accesses)
            else:
                inner = item.options if isinstance(item, Branches) else [item.body]
                accesses = set()
                for sequence in inner:
                    start = sequence.number(start)
                    accesses |= {(at, guard) for at, found in sequence.where.items() for _, guard in found}
            item.end = start
            for at, guard in accesses:
                self.where.setdefault(at, []).append((position, guard))
        return start


@dataclass(frozen=True)
class Live:
    """Steps ``[lower, upper)`` at which a storage is live if the choices of ``guard`` were made."""

    lower: int
    upper: int
    guard: Guard


def _is_compatible(a: Guard, b: Guard) -> bool:
    chosen = dict(a)
    return all(chosen.get(key, branch) == branch for key, branch in b)


def _live(
    sequence: Sequence, at: int, storage: Storage, guard: Guard, before: bool, after: bool
) -> Iterator[tuple[int, int]]:
    """Yields the steps at which a storage is live, counting only its accesses without a guard and those with
    ``guard``. ``before`` and ``after`` state whether the storage is accessed before and after the sequence."""
    found = [position for position, own in sequence.where.get(at, ()) if not own or own == guard]
    if not found and not (before and after):
        return
    first = 0 if before else found[0]
    last = len(sequence.items) - 1 if after else found[-1]
    for position in range(first, last + 1):
        item = sequence.items[position]
        earlier = before or (bool(found) and found[0] < position)
        later = after or (bool(found) and found[-1] > position)
        if isinstance(item, Step):
            yield item.start, item.end
        elif isinstance(item, Loop):
            # A storage that is created outside the loop is also needed in the next iteration.
            if item.key in storage.loops:
                yield from _live(item.body, at, storage, guard, False, False)
            else:
                yield item.start, item.end
        else:
            for branch, option in enumerate(item.options):
                if _is_compatible(guard, frozenset({(item.key, branch)})):
                    yield from _live(option, at, storage, guard, earlier, later)


def lifespans(program: Sequence, storages: list[Storage]) -> list[list[Live]]:
    """Returns the lifespan of every storage: disjoint intervals per guard, in ascending order. A storage that is
    never accessed has none, unless it is permanent."""
    end = program.number()
    result = []
    for at, storage in enumerate(storages):
        guards = {guard for _, guard in program.where.get(at, ())} | {ALWAYS}
        lives = []
        for guard in sorted(guards, key=sorted):
            steps = [(0, end)] if storage.is_permanent else _live(program, at, storage, guard, False, False)
            lives += [Live(lower, upper, guard | storage.guard) for lower, upper in _merged(steps)]
        result.append(lives)
    return result


def _merged(steps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for lower, upper in sorted(steps):
        if merged and lower <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], upper))
        elif lower < upper:
            merged.append((lower, upper))
    return merged


def intervals(lives: list[Live]) -> list[tuple[int, int]]:
    """Returns the steps at which a storage is live under any choices: disjoint intervals in ascending order."""
    return _merged((one.lower, one.upper) for one in lives)


def is_exclusive(a: list[Live], b: list[Live]) -> bool:
    """Returns True if two storages are live at a common step, but never on the same path."""
    common = [
        _is_compatible(one.guard, other.guard)
        for one in a
        for other in b
        if one.lower < other.upper and other.lower < one.upper
    ]
    return bool(common) and not any(common)


class Overwritten(Exception):
    """A plan lets a storage overwrite another one that is still needed."""


@dataclass
class _Machine:
    storages: list[Storage]
    #: For each storage, the other storages whose bytes overlap it.
    overlapping: list[set[int]]
    choices: dict[int, int]
    random: random.Random | None
    #: The storages that hold a value.
    valid: set[int] = field(default_factory=set)
    #: Storages whose bytes were overwritten, with the storage that overwrote them.
    lost: dict[int, int] = field(default_factory=dict)

    def run(self, sequence: Sequence) -> None:
        for item in sequence.items:
            if isinstance(item, Step):
                self.access(item)
            elif isinstance(item, Branches):
                if self.random is not None:
                    self.choices[item.key] = self.random.randrange(len(item.options))
                self.run(item.options[self.choices[item.key]])
            else:
                for _ in range(3):
                    inside = {at for at, one in enumerate(self.storages) if item.key in one.loops}
                    self.valid -= inside
                    for at in inside:
                        self.lost.pop(at, None)
                    self.run(item.body)

    def access(self, step: Step) -> None:
        taken = set(self.choices.items())
        accessed = {at for at, guard in step.accesses if guard <= taken}
        for at in accessed:
            if at in self.valid and at in self.lost:
                raise Overwritten(f"storage {self.lost[at]} overwrites storage {at} before step {step.start}")
            if both := self.overlapping[at] & accessed:
                raise Overwritten(f"storages {at} and {min(both)} overlap at step {step.start}")
        for at in accessed:
            self.valid.add(at)
            self.lost.update((other, at) for other in self.overlapping[at])
        for at in accessed:
            self.lost.pop(at, None)


def _conditionals(sequence: Sequence, is_repeated: bool = False) -> Iterator[tuple[Branches, bool]]:
    """Yields all conditionals, each with a flag that states whether it lies in a loop."""
    for item in sequence.items:
        if isinstance(item, Branches):
            yield item, is_repeated
            for option in item.options:
                yield from _conditionals(option, is_repeated)
        elif isinstance(item, Loop):
            yield from _conditionals(item.body, True)


def check(program: Sequence, storages: list[Storage], offsets: list[int | None], most: int = 4096) -> int:
    """Executes a plan for all outcomes of the branches. If there are more than ``most`` outcomes, ``most`` random
    ones are executed. A loop runs for three iterations. If a loop contains branches, additional runs choose a random
    branch in every iteration. Returns the number of runs.

    Raises :class:`Overwritten` if a storage is accessed again, or must outlive the run, after another storage
    overwrote its bytes, and if a step accesses two storages that overlap. Storages without an offset are not
    checked. The time is O(r a d) for r runs with a accesses each, if every storage overlaps at most d others.
    """
    by_memory: dict[int, list[tuple[int, int, int]]] = {}
    for at, offset in enumerate(offsets):
        if offset is not None and storages[at].size > 0:
            own = (offset, offset + storages[at].size, at)
            by_memory.setdefault(storages[at].memory, []).append(own)
    overlapping: list[set[int]] = [set() for _ in storages]
    for placed in by_memory.values():
        active: list[tuple[int, int, int]] = []
        for lower, upper, at in sorted(placed):
            active = [one for one in active if one[1] > lower]
            for _, _, other in active:
                overlapping[at].add(other)
                overlapping[other].add(at)
            active.append((lower, upper, at))
    permanent = {at for at, storage in enumerate(storages) if storage.is_permanent}
    conditionals = list(_conditionals(program))
    count = 1
    for one, _ in conditionals:
        count *= len(one.options)
    outcomes: Iterable[tuple[int, ...] | None] = itertools.repeat(None, most)
    if count <= most:
        outcomes = itertools.product(*(range(len(one.options)) for one, _ in conditionals))
        if any(is_repeated for _, is_repeated in conditionals):
            # In further runs, the choices differ between iterations.
            outcomes = itertools.chain(outcomes, itertools.repeat(None, count + 64))
    runs = 0
    for seed, outcome in enumerate(outcomes):
        choices = {} if outcome is None else dict(zip((one.key for one, _ in conditionals), outcome, strict=True))
        source = random.Random(seed) if outcome is None else None
        machine = _Machine(storages, overlapping, choices, source, set(permanent))
        machine.run(program)
        if destroyed := permanent & set(machine.lost):
            at = min(destroyed)
            raise Overwritten(f"storage {machine.lost[at]} overwrites storage {at}, which outlives the run")
        runs += 1
    return runs
