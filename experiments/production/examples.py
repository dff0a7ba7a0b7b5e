"""Finds small examples of the rules that lose memory.

    python examples.py DATASET

Contains the rules of six planners in a few lines each. For each of them, prints how many plans of the data set have
exactly the peak of the rule (up to 64 bytes of padding), and a small part of one of these plans in which the rule still
loses at least the given share. The part is found by removing buffers in turn. Lifetimes are half-open.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Buffer(NamedTuple):
    id: str
    lower: int
    upper: int
    size: int
    alignment: int


Offsets = dict[str, int]
Rule = Callable[[list[Buffer]], Offsets]
GRAIN = 64


def conflict(a: Buffer, b: Buffer) -> bool:
    return a.lower < b.upper and b.lower < a.upper


def gaps(one: Buffer, placed: list[Buffer], at: Offsets) -> list[tuple[int, int]]:
    """Returns the gaps that are large enough, as start and length. The last one has no end."""
    end, found = 0, []
    for other in sorted((other for other in placed if conflict(one, other)), key=lambda other: at[other.id]):
        start = -(-end // one.alignment) * one.alignment
        if at[other.id] - start >= one.size:
            found.append((start, at[other.id] - start))
        end = max(end, at[other.id] + other.size)
    return [*found, (-(-end // one.alignment) * one.alignment, 1 << 62)]


def in_turn(buffers: list[Buffer], pick: Callable[[list[tuple[int, int]]], int]) -> Offsets:
    at: Offsets = {}
    for number, one in enumerate(buffers):
        at[one.id] = pick(gaps(one, buffers[:number], at))
    return at


def by_start(buffers: list[Buffer]) -> Offsets:
    """IREE and tinygrad: in order of their starts, each in the smallest gap that is large enough."""
    order = sorted(buffers, key=lambda one: one.lower)
    return in_turn(order, lambda found: min(found, key=lambda gap: gap[1])[0])


def by_size(buffers: list[Buffer]) -> Offsets:
    """tflite-micro: in order of descending size, the last of equally large ones first, each in the lowest gap."""
    order = sorted(reversed(buffers), key=lambda one: -one.size)
    return in_turn(order, lambda found: found[0][0])


def buckets(buffers: list[Buffer]) -> Offsets:
    """ExecuTorch: in order of descending size, into buckets end to end. A buffer goes to the start of the first bucket
    in which it conflicts with no other buffer. If there is none, it goes above all buffers that it conflicts with, in
    the first bucket where that fits. Otherwise it opens a bucket of its size."""
    found: list[list[tuple[Buffer, int]]] = []
    for one in sorted(reversed(buffers), key=lambda one: -one.size):
        tops = [max((start + b.size for b, start in own if conflict(b, one)), default=0) for own in found]
        fits = (number for number, top in enumerate(tops) if top and top + one.size <= found[number][0][0].size)
        number = tops.index(0) if 0 in tops else next(fits, len(found))
        if number == len(found):
            found.append([(one, 0)])
        else:
            found[number].append((one, tops[number]))
    at, base = {}, 0
    for own in found:
        at |= {one.id: base + start for one, start in own}
        base += own[0][0].size
    return at


class Slot:
    """Memory of Inductor. Its parts are never live together: buffers, empty space in bytes, and pairs of slots that lie
    side by side."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)

    def buffers(self) -> list[Buffer]:
        found = []
        for part in self.parts:
            if isinstance(part, list):
                found += part[0].buffers() + part[1].buffers()
            elif isinstance(part, Buffer):
                found.append(part)
        return found

    def size(self, empty: int = 1) -> int:
        """Returns the bytes; those of empty space count `empty` times."""
        sizes = [0]
        for part in self.parts:
            if isinstance(part, list):
                sizes.append(-(-part[0].size(empty) // GRAIN) * GRAIN + part[1].size(empty))
            else:
                sizes.append(part.size if isinstance(part, Buffer) else part * empty)
        return max(sizes)

    def add(self, one: Buffer, last: bool) -> bool:
        size = self.size()
        if one.size > size and not last:
            return False
        met = [part for part in self.parts if any(conflict(one, other) for other in Slot(part).buffers())]
        if met:
            return (
                len(met) == 1 and isinstance(met[0], list) and (met[0][0].add(one, False) or met[0][1].add(one, last))
            )
        if len(self.parts) == 1 and isinstance(self.parts[0], int):
            self.parts = []
        if size > one.size:
            self.parts.append([Slot(one), Slot(size - one.size)])
        elif size < one.size:
            self.parts = [*([Slot(part), Slot(one.size - size)] for part in self.parts), one]
        else:
            self.parts.append(one)
        return True

    def place(self, start: int, at: Offsets) -> Offsets:
        for part in self.parts:
            if isinstance(part, list):
                part[0].place(start, at)
                part[1].place(start + -(-part[0].size(0) // GRAIN) * GRAIN, at)
            elif isinstance(part, Buffer):
                at[part.id] = start
        return at


def splits(buffers: list[Buffer]) -> Offsets:
    """Inductor: in order of descending size. A buffer that conflicts with one part of a slot goes into that part. If
    it conflicts with none, it becomes a part. If it conflicts with several, it goes to the end of the pool."""
    root: Slot | None = None
    for one in sorted(buffers, key=lambda one: (-one.size, one.lower - one.upper)):
        if root is None:
            root = Slot(one)
        elif not root.add(one, True):
            root = Slot([root, Slot(one)])
    return root.place(0, {}) if root else {}


def storages(buffers: list[Buffer]) -> Offsets:
    """TVM: in order of their starts, into storages. A buffer takes the smallest free storage that is large enough, but
    at most 16 times as large. Otherwise the largest free storage grows to its size, if that is at least one sixteenth
    of it."""
    found: list[tuple[int, list[Buffer]]] = []
    for one in sorted(buffers, key=lambda one: one.lower):
        free = [at for at, (_, own) in enumerate(found) if not any(conflict(one, other) for other in own)]
        enough = [at for at in free if one.size <= found[at][0] <= 16 * one.size]
        less = [at for at in free if one.size // 16 <= found[at][0] < one.size]
        if enough or less:
            at = min(enough, key=lambda at: found[at][0]) if enough else max(less, key=lambda at: found[at][0])
            size, own = found[at]
            found[at] = (max(size, one.size), [*own, one])
        else:
            found.append((one.size, [one]))
    offsets: Offsets = {}
    end = 0
    for size, own in sorted(found, key=lambda one: -one[0] % GRAIN):
        end = -(-end // GRAIN) * GRAIN
        offsets |= {one.id: end for one in own}
        end += size
    return offsets


def peak(buffers: list[Buffer], at: Offsets) -> int:
    return max((at[one.id] + one.size for one in buffers), default=0)


def load(buffers: list[Buffer]) -> int:
    return max((sum(b.size for b in buffers if b.lower <= a.lower < b.upper) for a in buffers), default=1)


def loss(buffers: list[Buffer], rule: Rule) -> float:
    return peak(buffers, rule(buffers)) / load(buffers) - 1


def part(buffers: list[Buffer], rule: Rule, least: float) -> list[Buffer]:
    """Removes blocks of buffers, and then single ones, as long as the rule loses the given share."""
    block = len(buffers) // 2
    while block:
        at = 0
        while at < len(buffers):
            fewer = buffers[:at] + buffers[at + block :]
            if fewer and loss(fewer, rule) >= least:
                buffers = fewer
            else:
                at += block
        block //= 2
    return buffers


RULES: dict[str, tuple[Rule, float]] = {
    "executorch": (buckets, 0.2),
    "inductor": (splits, 0.05),
    "iree": (by_start, 0.2),
    "tflm": (by_size, 0.2),
    "tinygrad": (by_start, 0.1),
    "tvm": (storages, 0.2),
}


def main() -> int:
    dataset = Path(sys.argv[1])
    with (dataset / "manifest.csv").open() as file:
        manifest = list(csv.DictReader(file))
    for folder, (rule, least) in RULES.items():
        same, total, best = 0, 0, None
        for row in (row for row in manifest if row["file"].startswith(f"{folder}/")):
            with (dataset / row["file"]).open() as file:
                rows = list(csv.DictReader(file))
            numbers = ("lower", "upper", "size", "alignment")
            buffers = [Buffer(one["id"], *(int(one.get(name) or 1) for name in numbers)) for one in rows]
            total += 1
            if abs(peak(buffers, rule(buffers)) - int(row["planner_peak"])) >= GRAIN:
                continue
            same += 1
            if len(buffers) <= 400 and loss(buffers, rule) >= least:
                small = part(buffers, rule, least)
                if best is None or len(small) < len(best[1]):
                    best = (row["file"], small)
        print(f"{folder}: {same} of {total} plans have the peak of the rule")
        if best:
            name, small = best
            at = rule(small)
            print(f"    {name}: peak {peak(small, at)}, load {load(small)}")
            for one in small:
                print(f"    {one.id},{one.lower},{one.upper},{one.size},{one.alignment}  at {at[one.id]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
