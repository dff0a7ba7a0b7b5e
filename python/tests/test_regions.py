"""Tests lifespans in programs with branches and loops by comparison with all executions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from plimsoll._regions import (
    ALWAYS,
    Branches,
    Guard,
    Loop,
    Overwritten,
    Sequence,
    Step,
    Storage,
    check,
    is_exclusive,
    intervals,
    lifespans,
)


class Programs:
    """Random small programs in which every storage is created before it is accessed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.storages: list[Storage] = []
        self.keys = 0

    def key(self) -> int:
        self.keys += 1
        return self.keys

    def value(self, guard: Guard, loops: frozenset[int]) -> set[tuple[int, Guard]]:
        self.storages.append(Storage(self.random.randint(1, 9), 1, guard, loops))
        return {(len(self.storages) - 1, ALWAYS)}

    def sequence(
        self, known: list[set[tuple[int, Guard]]], guard: Guard, loops: frozenset[int], depth: int
    ) -> tuple[Sequence, list[set[tuple[int, Guard]]]]:
        """Returns a region that accesses some of the caller's values, and the values that it returns."""
        own = list(known)
        items: list[Step | Branches | Loop] = []
        for _ in range(self.random.randint(1, 3)):
            what = self.random.random() if depth > 0 else 0.0
            accessed = [one for one in own if self.random.random() < 0.4]
            if what < 0.5:
                value = self.value(guard, loops)
                items.append(Step(frozenset().union(value, *accessed)))
                own.append(value)
            elif what < 0.8:
                key = self.key()
                options, results = [], []
                for branch in range(2):
                    choice: Guard = frozenset({(key, branch)})
                    option, values = self.sequence(accessed, guard | choice, loops, depth - 1)
                    options.append(option)
                    results.append({(at, own | choice) for at, own in self.random.choice(values)} if values else set())
                items.append(Branches(key, options))
                own.append(results[0] | results[1])
            else:
                key = self.key()
                out = self.value(guard, loops)
                body, values = self.sequence(accessed, guard, loops | {key}, depth - 1)
                result = self.random.choice(values) if values else set()
                body.items.append(Step(frozenset(out | result)))
                items.append(Loop(key, body))
                own.append(out)
        return Sequence(items), own


def runs(sequence: Sequence, taken: frozenset[tuple[int, int]]) -> Iterator[tuple[list[object], frozenset[tuple[int, int]]]]:
    """Yields all executions: the events in order, and the choices at the end. Loops run three times."""
    traces: list[tuple[list[object], frozenset[tuple[int, int]]]] = [([], taken)]
    for item in sequence.items:
        longer = []
        for events, choices in traces:
            if isinstance(item, Step):
                longer.append(([*events, {at for at, guard in item.accesses if guard <= choices}], choices))
            elif isinstance(item, Branches):
                others = frozenset(one for one in choices if one[0] != item.key)
                for branch, option in enumerate(item.options):
                    longer += [(events + more, end) for more, end in runs(option, others | {(item.key, branch)})]
            else:
                inner = [(events, choices)]
                for _ in range(3):
                    inner = [
                        ([*before, ("again", item.key), *more], end)
                        for before, own in inner
                        for more, end in runs(item.body, own)
                    ]
                longer += [([*before, ("again", item.key)], end) for before, end in inner]
        traces = longer
    yield from traces


def conflicts(program: Sequence, storages: list[Storage]) -> set[tuple[int, int]]:
    """Returns the pairs of storages that are live at the same time in some execution."""
    found = set()
    for events, _ in runs(program, frozenset()):
        # In every iteration, a storage of a loop counts as a new storage.
        lives: dict[tuple[int, int], list[int]] = {}
        iteration = dict.fromkeys(range(len(storages)), 0)
        for time, event in enumerate(events):
            if isinstance(event, tuple):
                for at, storage in enumerate(storages):
                    iteration[at] += event[1] in storage.loops
            else:
                for at in event:
                    lives.setdefault((at, iteration[at]), [time, time])[1] = time
        for (a, one), (b, other) in itertools.combinations(lives.items(), 2):
            if a[0] != b[0] and one[0] <= other[1] and other[0] <= one[1]:
                found.add((min(a[0], b[0]), max(a[0], b[0])))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_lifespans_agree_with_all_executions(seed: int) -> None:
    source = Programs(seed)
    program, _ = source.sequence([], ALWAYS, frozenset(), 2)
    if sum(1 for _ in itertools.islice(runs(program, frozenset()), 3000)) == 3000:
        pytest.skip("too many executions")
    lives = lifespans(program, source.storages)
    expected = conflicts(program, source.storages)
    claimed = {
        (a, b)
        for a, b in itertools.combinations(range(len(lives)), 2)
        if not is_exclusive(lives[a], lives[b])
        and any(one[0] < other[1] and other[0] < one[1] for one in intervals(lives[a]) for other in intervals(lives[b]))
    }
    assert expected <= claimed
    # Which branch an earlier iteration of a loop took is not recorded.
    if not any(storage.loops and storage.guard for storage in source.storages):
        assert claimed == expected
    # The checker accepts a layout without sharing, and refuses to let a conflicting pair share.
    ends = list(itertools.accumulate((storage.size for storage in source.storages), initial=0))
    offsets: list[int | None] = list(ends[:-1])
    assert check(program, source.storages, offsets) > 0
    for a, b in expected:
        both = [offset if at != b else offsets[a] for at, offset in enumerate(offsets)]
        with pytest.raises(Overwritten):
            check(program, source.storages, both)


def test_results_of_branches_share_bytes_and_live_on() -> None:
    """The program of pytorch/executorch#21490: the second call must not overwrite the result of the first."""
    storages = [Storage(4, 1) for _ in range(2)]
    storages += [Storage(4, 1, frozenset({(key, branch)})) for key in (1, 2) for branch in (0, 1)]

    def branches(key: int, first: int, accessed: set[tuple[int, Guard]]) -> Branches:
        own = [Sequence([Step(frozenset({(first + branch, ALWAYS)} | accessed))]) for branch in (0, 1)]
        return Branches(key, own)

    def result(key: int, first: int) -> set[tuple[int, Guard]]:
        return {(first + branch, frozenset({(key, branch)})) for branch in (0, 1)}

    program = Sequence(
        [
            Step(frozenset({(0, ALWAYS)})),
            branches(1, 2, {(0, ALWAYS)}),
            branches(2, 4, {(0, ALWAYS)}),
            Step(frozenset({(1, ALWAYS)} | result(1, 2) | result(2, 4))),
        ]
    )
    lives = lifespans(program, storages)
    assert is_exclusive(lives[2], lives[3]) and is_exclusive(lives[4], lives[5])
    assert not is_exclusive(lives[2], lives[4])
    with pytest.raises(Overwritten, match="overwrites storage 2"):
        check(program, storages, [4, 8, 0, 0, 0, 0])
    assert check(program, storages, [4, 12, 0, 0, 8, 8]) == 4


def test_contents_that_outlive_the_run_are_never_overwritten() -> None:
    storages = [Storage(4, 1, is_permanent=True), Storage(4, 1)]
    program = Sequence([Step(frozenset({(0, ALWAYS)})), Step(frozenset({(1, ALWAYS)}))])
    assert intervals(lifespans(program, storages)[0]) == [(0, 2)]
    with pytest.raises(Overwritten, match="outlives"):
        check(program, storages, [0, 0])


def test_a_carry_that_is_a_later_result():
    """ExecuTorch overwrites the carry with the first result before it copies the second one."""
    from plimsoll._control_flow import _refuse_overwritten

    def value(*storages):
        return frozenset((at, ALWAYS) for at in storages)

    _refuse_overwritten([value(0)], [value(1), value(2)])
    _refuse_overwritten([value(0)], [value(0), value(2)])
    with pytest.raises(ValueError, match="result 1 of a scan is a carry itself"):
        _refuse_overwritten([value(0)], [value(1), value(0)])
