#!/usr/bin/env python3
"""Checks proofs that no layout fits a capacity: a second implementation, independent of the Rust checker.

Usage: check.py INSTANCE.csv PROOF [INSTANCE.csv PROOF ...]

It prints "accepted BOUND" or "rejected LINE REASON" for each pair. The format is described in
proof/src/lib.rs. This program is slow and simple: every derivation starts from a copy of the permanent facts.
"""

import csv
import math
import re
import sys

from sweep import Refused, Sweep


class Rejected(Exception):
    """A line of a proof is invalid or does not follow from the lines before it."""


class Contradiction(Exception):
    """Two facts contradict each other, which ends a derivation or the proof."""


def require(condition, reason):
    if not condition:
        raise Rejected(reason)


def decode(text):
    def one(match):
        character = chr(int(match.group(1), 16))
        return character if character in "% \t\n\f\r" else match.group(0)

    return re.sub("%([0-9A-Fa-f]{2})", one, text)


def number(word):
    require(re.fullmatch("[0-9]{1,20}", word, re.ASCII) and int(word) < 2**64, f"not a number: {word}")
    return int(word)


class Buffer:
    """A row of the instance. Intervals of steps are half-open."""

    def __init__(self, row, inclusive):
        first = [row[name] for name in ("lower", "begin", "start") if name in row]
        self.size = int(row["size"])
        self.alignment = int(row.get("alignment") or 1)
        self.fixed = int(row["offset"]) if row.get("offset") else None
        # The offset modulo the alignment, the rigid group with the distance from its root, and the number of
        # bytes by which a member of the group ends above this buffer.
        self.residue, self.group, self.over = 0, None, 0
        lower = int(first[0])
        upper = int(row["end"]) + 1 if inclusive else int(row["upper"])
        away = []
        for gap in (row.get("gaps") or "").split():
            start, end = gap.split("-")
            away.append((int(start), int(end) + (1 if inclusive else 0)))
        cuts = sorted({lower, upper, *(min(max(s, lower), upper) for gap in away for s in gap)})
        pieces = zip(cuts, cuts[1:])
        self.live = [(s, e) for s, e in pieces if not any(a <= s and e <= b for a, b in away)]


class Instance:
    def __init__(self, path):
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [{k.strip(): (v or "").strip() for k, v in row.items() if k} for row in csv.DictReader(file)]
        inclusive = bool(rows) and "end" in rows[0]
        names = [row.get("id") or row.get("buffer") or row.get("buffer_id") for row in rows]
        self.buffers = {name: Buffer(row, inclusive) for name, row in zip(names, rows)}
        self.separated, self.excluded = set(), set()
        for name, row in zip(names, rows):
            for column, pairs in (("separations", self.separated), ("exclusions", self.excluded)):
                pairs.update(frozenset((name, decode(other))) for other in (row.get(column) or "").split())
        above = {name: row["above"].rsplit("+", 1) for name, row in zip(names, rows) if row.get("above")}
        self.tie({name: (decode(lower), int(distance)) for name, (lower, distance) in above.items()})

    def tie(self, above):
        """Combines buffers at given distances into rigid groups. Fixes all members if one of them is fixed."""
        groups = {}
        for name in {*above, *(lower for lower, _ in above.values())}:
            root, distance, seen = name, 0, set()
            while root in above:
                require(root not in seen, f"buffer {root} lies above itself")
                seen.add(root)
                root, more = above[root]
                distance += more
            groups.setdefault(root, {})[name] = distance
        for root, members in groups.items():
            alignment, residue = 1, 0
            for name, distance in members.items():
                own = self.buffers[name].alignment
                whole, step = math.lcm(alignment, own), alignment
                missing = (-distance - residue) % own
                require(missing % math.gcd(step, own) == 0, "the alignments of a group exclude each other")
                common = math.gcd(step, own)
                residue += step * (missing // common * pow(step // common, -1, own // common) % (own // common))
                alignment = whole
            buffers = {name: self.buffers[name] for name in members}
            bases = {b.fixed - members[name] for name, b in buffers.items() if b.fixed is not None}
            extent = max(members[name] + b.size if b.size else 0 for name, b in buffers.items())
            require(len(bases) < 2 and min(bases, default=0) >= 0, "fixed offsets do not allow the distances")
            for name, b in buffers.items():
                if bases:
                    b.fixed = min(bases) + members[name]
                    require(b.fixed % b.alignment == 0, "fixed offsets do not allow the distances")
                else:
                    b.group, b.over = (root, members[name]), extent - members[name] - b.size
                    b.alignment, b.residue = alignment, (residue + members[name]) % alignment

    def conflict(self, a, b):
        x, y = self.buffers[a], self.buffers[b]
        if a == b or x.size == 0 or y.size == 0:
            return False
        pair = frozenset((a, b))
        together = any(s < f and t < e for s, e in x.live for t, f in y.live)
        return pair in self.separated or (together and pair not in self.excluded)


class Facts:
    """Orders, and the heights below (side 0) and above (side 1) each declared buffer."""

    def __init__(self, orders=(), heights=((), ())):
        self.orders = set(orders)
        self.heights = [list(side) for side in heights]

    def copy(self):
        return Facts(self.orders, self.heights)


class Checker:
    def __init__(self, instance, bound):
        self.instance, self.capacity = instance, bound - 1
        self.names, self.slabs, self.facts, self.clauses = [], [], Facts(), {}
        self.permanent, self.open = None, None
        self.twins, self.mirrored, self.started = set(), False, False
        self.sweep, self.unit = None, None

    def buffer(self, word):
        b = number(word)
        require(b < len(self.names), f"undeclared {b}")
        return b

    def of(self, b):
        return self.instance.buffers[self.names[b]]

    def conflicting(self, a, b):
        require(self.instance.conflict(self.names[a], self.names[b]), f"no conflict {a} {b}")

    def pairwise(self, buffers):
        require(buffers, "no buffers")
        for at, b in enumerate(buffers):
            for a in buffers[:at]:
                self.conflicting(a, b)

    def rounded(self, side, b, height):
        alignment, residue = self.of(b).alignment, self.of(b).residue
        if side == 0:
            return height + (residue - height) % alignment
        highest = self.capacity - self.of(b).size - height
        return height + ((highest - residue) % alignment if highest >= 0 else 0)

    def distance(self, a, b):
        """Returns the distance of two buffers in one rigid group, or None."""
        x, y = self.of(a).group, self.of(b).group
        return y[1] - x[1] if x and y and x[0] == y[0] else None

    def order(self, a, b):
        self.conflicting(a, b)
        if (b, a) in self.facts.orders:
            raise Contradiction
        self.facts.orders.add((a, b))

    def end(self, side, stack):
        """Returns a lower bound on the end of a stack: the lowest height of its buffers plus its extent.

        Heights and ends are measured on the given side.
        """
        common = math.gcd(*(number for b in stack for number in (self.of(b).alignment, self.of(b).residue)))
        extent = sum(self.of(b).size + -self.of(b).size % common for b in stack)
        extent -= max(-self.of(b).size % common for b in stack)
        return min(self.facts.heights[side][b] for b in stack) + extent

    def close(self):
        """Ends the current derivation, if any. The derivation must have found a contradiction."""
        if self.open:
            clause, orders, proved = self.open
            require(proved, f"clause {clause} is not derived")
            self.clauses[clause], self.facts, self.open = orders, self.permanent, None

    def statement(self, words):
        kind, rest = words[0], words[1:]
        if kind != "sweep" and (self.sweep or kind in ("at", "tree", "bond")):
            require(self.sweep, f"misplaced {kind}")
            self.swept(kind, rest)
            return False
        if kind in ("u", "t", "b", "a", "o", "r", "x"):
            if self.open and self.open[2]:
                self.close()
            self.started = True
            try:
                self.step(kind, rest)
            except Contradiction:
                if not self.open or not self.open[1]:
                    return True
                self.open[2] = True
            return False
        self.close()
        if kind == "buffer":
            require(len(rest) == 1 and not self.started, "misplaced buffer")
            self.declare(decode(rest[0]))
        elif kind == "slab":
            require(len(rest) == 1 and not self.started, "misplaced slab")
            self.slab(decode(rest[0]))
        elif kind in ("twin", "mirror"):
            require(len(rest) == 2 and not self.mirrored, f"misplaced {kind}")
            self.started = True
            try:
                self.symmetry(kind, *map(self.buffer, rest))
            except Contradiction:
                return True
        elif kind == "clause":
            require(rest, "no number")
            self.started = True
            self.assume(number(rest[0]), [self.pair(word) for word in rest[1:]])
        elif kind == "sweep":
            require(len(rest) == 1, "sweep needs a unit")
            self.start_sweep(number(rest[0]))
        elif kind == "delete":
            for clause in map(number, rest):
                require(clause in self.clauses, f"no clause {clause}")
                del self.clauses[clause]
        else:
            raise Rejected(f"unknown statement {kind}")
        return False

    def pair(self, word):
        parts = word.split("<")
        require(len(parts) == 2, f"not an order: {word}")
        return self.buffer(parts[0]), self.buffer(parts[1])

    def declare(self, name):
        require(name in self.instance.buffers, f"unknown buffer {name}")
        require(self.instance.buffers[name].size > 0, f"buffer {name} has size 0")
        require(name not in self.names, f"buffer {name} is declared twice")
        require(not self.slabs, "a buffer after a slab")
        self.names.append(name)
        b = len(self.names) - 1
        below, above = self.of(b).fixed, 0
        if below is not None:
            above = max(self.capacity - below - self.of(b).size, 0)
        elif self.of(b).group:
            below, above = self.rounded(0, b, self.of(b).group[1]), self.of(b).over
        self.facts.heights[0].append(below or 0)
        self.facts.heights[1].append(self.rounded(1, b, above))

    def slab(self, name):
        """Omits a buffer that can be moved below all others: they all conflict with it and can move freely."""
        known = name in self.instance.buffers and name not in self.names + self.slabs
        require(known, f"unknown or declared buffer {name}")
        for other in [name, *self.names, *self.slabs]:
            buffer = self.instance.buffers[other]
            require(buffer.alignment == 1 and buffer.fixed is None, f"{other} cannot move freely")
            require(buffer.group is None, f"{other} cannot move freely")
            require(other == name or self.instance.conflict(name, other), f"no conflict {name} {other}")
        require(self.instance.buffers[name].size > 0, f"buffer {name} has size 0")
        self.slabs.append(name)
        self.capacity -= self.instance.buffers[name].size

    def start_sweep(self, unit):
        fits = unit > 0 and self.capacity >= 0 and all(
            self.of(b).fixed is None and self.of(b).group is None
            and self.of(b).size % unit == 0 and unit % self.of(b).alignment == 0
            for b in range(len(self.names))
        )
        require(fits, f"not a unit: {unit}")
        if self.sweep:
            require(unit == self.unit, "another unit")
            self.sweep.restart()
            return
        self.unit, self.sweep = unit, Sweep(self.capacity // unit)

    def swept(self, kind, words):
        if kind == "tree":
            self.sweep.tree(words, number)
            return
        if kind == "bond":
            self.sweep.bonded(words, number)
            return
        require(kind == "at" and len(words) == 1, f"not a statement of a sweep: {kind}")
        step = number(words[0])
        live = [b for b in range(len(self.names)) if any(s <= step < e for s, e in self.of(b).live)]
        require(live, f"no buffer is live at step {step}")
        self.pairwise(live)
        self.sweep.at(step, {b: self.of(b).size // self.unit for b in live})

    def symmetry(self, kind, a, b):
        x, y = self.of(a), self.of(b)
        if kind == "twin":
            self.twins |= {a, b}
            others = [name for name in self.names if name not in (self.names[a], self.names[b])]
            conflict = self.instance.conflict
            alike = (x.size, x.alignment, x.fixed, None) == (y.size, y.alignment, None, y.fixed)
            same = all(conflict(self.names[a], o) == conflict(self.names[b], o) for o in others)
            require(a < b and alike and same, f"not twins: {a} {b}")
            require(x.group is None and y.group is None, f"not twins: {a} {b}")
        else:
            self.mirrored = True
            all_buffers = [self.of(c) for c in range(len(self.names))]
            free = all(c.alignment == 1 and c.fixed is None and c.group is None for c in all_buffers)
            require(free and not {a, b} & self.twins, f"not mirrored: {a} {b}")
        self.order(a, b)

    def assume(self, clause, orders):
        require(clause not in self.clauses, f"clause {clause} exists")
        self.permanent, self.facts = self.facts, self.facts.copy()
        self.open = [clause, orders, False]
        for a, b in orders:
            try:
                self.order(b, a)
            except Contradiction:
                self.open[2] = True

    def step(self, kind, words):
        if kind == "u":
            require(len(words) == 1, "u needs one clause")
            clause = number(words[0])
            require(clause in self.clauses, f"no clause {clause}")
            left = [(a, b) for a, b in self.clauses[clause] if (b, a) not in self.facts.orders]
            require(len(left) < 2, f"clause {clause} is not unit")
            if not left:
                raise Contradiction
            self.order(*left[0])
            return
        buffers = [self.buffer(word) for word in words]
        if kind == "t":
            require(len(buffers) > 1, "a path needs two buffers")
            for low, high in zip(buffers, buffers[1:]):
                require((low, high) in self.facts.orders, f"not known: {low} below {high}")
            self.order(buffers[0], buffers[-1])
        elif kind in "ba":
            side, b, stack = "ba".index(kind), buffers[0], buffers[1:]
            self.pairwise(stack)
            for c in stack:
                pair = (c, b) if side == 0 else (b, c)
                require(pair in self.facts.orders, f"not known: {pair[0]} below {pair[1]}")
            heights = self.facts.heights[side]
            heights[b] = max(heights[b], self.rounded(side, b, self.end(side, stack)))
        elif kind == "o":
            require(len(buffers) == 2, "o needs two buffers")
            a, b = buffers
            self.conflicting(a, b)
            heights = self.facts.heights
            needed = heights[0][a] + self.of(a).size + self.of(b).size + heights[1][b]
            apart = self.distance(a, b)
            if apart is None or apart >= self.of(a).size:
                require(needed > self.capacity, f"there is enough space: {needed} bytes are needed")
            self.order(b, a)
        elif kind == "r":
            require(len(buffers) == 2, "r needs two buffers")
            a, b = buffers
            apart = self.distance(a, b)
            require(apart is not None, f"not in one rigid group: {a} {b}")
            for side, more in ((0, apart), (1, self.of(a).size - self.of(b).size - apart)):
                heights = self.facts.heights[side]
                heights[b] = max(heights[b], self.rounded(side, b, heights[a] + more))
        else:
            self.pairwise(buffers)
            needed = self.end(0, buffers) + min(self.facts.heights[1][b] for b in buffers)
            require(needed > self.capacity, f"there is enough space: {needed} bytes are needed")
            raise Contradiction


def check(instance, lines):
    """Returns the proved bound. Raises Rejected with the number of the line."""
    lines = [[] if line.startswith("c ") else re.findall(r"[^ \t\n\r\f]+", line) for line in lines]
    lines = [(at, words) for at, words in enumerate(lines, 1) if words]
    at = 1
    try:
        require(lines and lines[0][1] == ["plimsoll-proof", "1"], "expected 'plimsoll-proof 1'")
        require(len(lines) > 1 and len(lines[1][1]) == 2 and lines[1][1][0] == "bound", "expected 'bound B'")
        bound = number(lines[1][1][1])
        require(bound > 0, "the bound is 0")
        checker = Checker(instance, bound)
        for position, (at, words) in enumerate(lines[2:], 3):
            if checker.statement(words):
                require(position == len(lines), "text after the proof")
                return bound
        checker.close()
        require(checker.sweep and checker.sweep.finish(), "the proof is incomplete")
        return bound
    except (Rejected, Refused, IndexError) as reason:
        raise Rejected(f"{at} {reason}") from None


def main(arguments):
    for path, proof in zip(arguments[::2], arguments[1::2]):
        try:
            with open(proof, encoding="utf-8", errors="replace") as file:
                print("accepted", check(Instance(path), file.read().split("\n")))
        except Rejected as reason:
            print("rejected", reason)


if __name__ == "__main__":
    main(sys.argv[1:])
