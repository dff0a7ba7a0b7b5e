#!/usr/bin/env python3
"""Translates proofs that no layout fits a capacity into the format of VeriPB, a pseudo-Boolean proof checker.

Usage: veripb.py INSTANCE.csv PROOF NAME [INSTANCE.csv PROOF NAME ...]

It writes NAME.opb, the question whether the declared buffers fit into bound - 1 bytes, and NAME.pbp, its
refutation in version 3.0 of VeriPB's format. It prints "translated" or "refused REASON" for each proof. It
does not check the proof: VeriPB does. If the second argument is a layout LAYOUT.csv, it writes
NAME.fit.opb, the question whether all buffers fit into the peak of this layout, and NAME.fit.pbp, the layout
as its solution.

The variables of the question are the bits of each offset, in multiples of the alignment, and one order per
conflicting pair. The weight of the highest bit makes the weights of all bits add up to the highest possible
offset. Every value of the bits is therefore a possible offset, and inverting all bits turns the layout upside
down. `K(a,b)` requires that the end of a is at most the offset of b if a lies below b:

    offset(b) - offset(a) + C * [b below a] >= size(a)

A derivation becomes a proof by contradiction, an order becomes a literal, a height becomes a bound on an
offset, and a step becomes an addition of constraints. A stack needs one inequality for each pair of its
buffers; see `Translator.between`.
"""

import csv
import math
import sys

from check import Instance, decode


class Untranslatable(Exception):
    """The proof is incomplete, uses an unsupported feature, or refers to something that does not exist."""


class Ref:
    """A constraint. VeriPB's number for it is set when the constraint is written."""

    number = None


class Formula:
    """The question as constraints on bits and orders."""

    def __init__(self, instance, names, capacity):
        self.capacity, self.names = capacity, names
        buffers = [instance.buffers[name] for name in names]
        self.size = [b.size for b in buffers]
        self.alignment = [b.alignment for b in buffers]
        self.fixed = [b.fixed for b in buffers]
        if any(b.group for b in buffers):
            raise Untranslatable("the instance has rigid groups")
        if any(b.fixed is not None and b.fixed % b.alignment for b in buffers):
            raise Untranslatable("a fixed offset is not a multiple of its alignment")
        self.bits = [self.offset_bits(at) for at in range(len(names))]
        self.constraints, self.below, self.overflow = [], {}, None
        pairs = [(a, b) for a in range(len(names)) for b in range(len(names))]
        self.pairs = {(a, b) for a, b in pairs if instance.conflict(names[a], names[b])}
        for at, size in enumerate(self.size):
            excess = size + (self.fixed[at] or 0) - capacity
            if excess > 0:
                self.overflow = self.constraint([], excess)
        for a, b in sorted(self.pairs):
            terms = self.difference(b, a) + [(capacity, self.order(b, a))]
            self.below[a, b] = self.constraint(terms, self.size[a] - self.constant(b, a))

    def offset_bits(self, at):
        if self.fixed[at] is not None:
            return []
        rest, values = max(self.capacity - self.size[at], 0) // self.alignment[at], []
        while rest > 0:
            values.append(min(2 ** len(values), rest))
            rest -= values[-1]
        return [(value * self.alignment[at], f"x{at}_{bit}") for bit, value in enumerate(values)]

    def order(self, a, b):
        """Returns the literal for "a lies below b"."""
        return f"y{a}_{b}" if a < b else f"~y{b}_{a}"

    def difference(self, b, a):
        """Returns the terms of offset(b) - offset(a) without the constant part, which `constant` returns."""
        return self.bits[b] + [(-value, bit) for value, bit in self.bits[a]]

    def constant(self, b, a):
        return (self.fixed[b] or 0) - (self.fixed[a] or 0)

    def constraint(self, terms, least):
        ref = Ref()
        self.constraints.append((ref, inequality(terms, least)))
        ref.number = len(self.constraints)
        return ref

    def write(self, file):
        variables = sum(map(len, self.bits)) + len(self.pairs) // 2
        file.write(f"* #variable= {variables} #constraint= {len(self.constraints)}\n")
        for at, name in enumerate(self.names):
            file.write(f"* buffer {at}: {name.encode('ascii', 'backslashreplace').decode()}\n")
        for _, text in self.constraints:
            file.write(f"{text} ;\n")


def inequality(terms, least):
    return " ".join([f"{value} {literal}" for value, literal in terms] + [f">= {least}"])


class Proof:
    """The lines of a refutation. Lemmas are written before the derivation that uses them."""

    def __init__(self, formula, file):
        self.file, self.count = file, len(formula.constraints)
        self.lemmas, self.lines = [], []
        file.write(f"pseudo-Boolean proof version 3.0\nf {self.count};\n")

    def flush(self):
        for ref, parts in self.lemmas + self.lines:
            self.file.write("".join(str(p.number) if isinstance(p, Ref) else p for p in parts) + "\n")
            if ref:
                self.count += 1
                ref.number = self.count
        self.lemmas, self.lines = [], []


def opposite(literal):
    return literal[1:] if literal[0] == "~" else "~" + literal


def line(lines, *parts):
    lines.append((Ref(), parts))
    return lines[-1][0]


def add(lines, terms, decrease=0, divide=1):
    """Adds multiples of constraints, lowers the right side, and divides with rounding up."""
    parts = ["pol "]
    for ref, factor in terms:
        if ref is not None and factor > 0:
            parts += [ref, " " if factor == 1 else f" {factor} * ", "" if len(parts) == 1 else "+ "]
    parts.append(f"{decrease} - " if decrease > 0 else "")
    parts.append(f"{divide} d " if divide > 1 else "")
    return line(lines, *parts, ";")


def propagate(lines, literals, hints):
    """Adds a clause that follows from the hints by unit propagation."""
    text = inequality([(1, literal) for literal in literals], 1)
    return line(lines, f"rup {text} :", *(part for hint in hints for part in (" ", hint)), ";")


def assume(lines, text):
    """Starts a proof by contradiction and returns the negation of the constraint."""
    return line(lines, f"pbc {text} : subproof")


def conclude(lines, contradiction):
    return line(lines, "qed pbc : ", contradiction, ";")


class Translator:
    def __init__(self, formula, mirror, twins, file):
        self.f, self.p = formula, Proof(formula, file)
        self.cache, self.clauses = {}, {}
        self.orders, self.heights, self.contradiction = {}, [[], []], formula.overflow
        self.permanent, self.open = None, None
        for a, b in mirror:
            self.mirror(a, b)
        if twins:
            self.twins(twins)
        self.p.flush()
        for at in range(len(formula.names)):
            fixed = formula.fixed[at]
            for side in (0, 1):
                literals = [(value, bit if side == 0 else "~" + bit) for value, bit in formula.bits[at]]
                highest = sum(value for value, _ in literals) if fixed is None else fixed
                height = (fixed or 0) if side == 0 else formula.capacity - formula.size[at] - highest
                self.heights[side].append((height, self.trivial(literals)))

    def trivial(self, literals):
        if not literals:
            return None
        parts = [f"{bit} {value} * {'+ ' if at else ''}" for at, (value, bit) in enumerate(literals)]
        return line(self.p.lines, "pol ", *parts, ";")

    # Symmetries.

    def mirror(self, a, b):
        """Derives that a lies below b, because inverting all bits and orders turns a layout upside down."""
        f = self.f
        variables = [bit for bits in f.bits for _, bit in bits]
        variables += [f.order(*pair) for pair in f.pairs if pair[0] < pair[1]]
        witness = " ".join(f"{variable} -> ~{variable}" for variable in variables)
        self.orders[a, b] = line(self.p.lines, f"red 1 {f.order(a, b)} >= 1 : {witness};")

    def twins(self, pairs):
        """Sorts twins by dominance: exchanging two in the wrong order lowers a weighted sum of offsets."""
        f, lines = self.f, self.p.lines
        members = sorted({b for pair in pairs for b in pair})
        weight = {b: len(members) - at for at, b in enumerate(members)}
        values = [(weight[b] * value, bit) for b in members for value, bit in f.bits[b]]
        fresh = {name: [f"{name}{at}" for at in range(len(values))] for name in ("left", "right", "third")}
        terms = [(value, name) for (value, _), name in zip(values, fresh["right"])]
        terms += [(-value, name) for (value, _), name in zip(values, fresh["left"])]
        left, right, third = (" ".join(names) for names in fresh.values())
        define = f"""def_order sorted
vars left {left}; right {right}; end;
def {inequality(terms, 0)}; end;
transitivity vars fresh_right {third}; end; proof proofgoal #1 pol 1 2 + 3 +; qed : -1; qed; end;
reflexivity proof qed; end;
end;
load_order sorted {" ".join(bit for _, bit in values)};"""
        lines.append((None, [define]))
        for a, b in pairs:
            swaps = list(zip((bit for _, bit in f.bits[a]), (bit for _, bit in f.bits[b])))
            others = [c for c in range(len(f.names)) if c not in (a, b) and (a, c) in f.pairs]
            swaps += [(f.order(a, c), f.order(b, c)) for c in others]
            witness = [f"{f.order(a, b)} -> ~{f.order(a, b)}"]
            witness += [f"{x.strip('~')} -> {y if x[0] != '~' else opposite(y)}" for x, y in swaps]
            witness += [f"{y.strip('~')} -> {x if y[0] != '~' else opposite(x)}" for x, y in swaps]
            text = f"dom 1 {f.order(a, b)} >= 1 : {' '.join(witness)} : subproof"
            negated, by = line(lines, text), weight[a] - weight[b]
            for goal in (1, 2):
                worse = line(lines, f"proofgoal #{goal}")
                terms = [(worse, 1), (f.below[b, a], by), (negated, by * f.capacity)]
                lines.append((None, ("qed : ", add(lines, terms), ";")))
            self.orders[a, b] = line(lines, "qed dom;")

    # Lemmas, which hold without assumptions.

    def triangle(self, a, b, c):
        """Derives that a below b, b below c and c below a do not all hold."""
        turn = (a, b, c).index(min(a, b, c))
        a, b, c = ((a, b, c) * 2)[turn : turn + 3]
        if (a, b, c) not in self.cache:
            f = self.f
            pairs = ((a, b), (b, c), (c, a))
            excess = max(sum(f.size[i] for i in (a, b, c)) - f.capacity, 0)
            terms = [(f.below[pair], 1) for pair in pairs]
            self.cache[a, b, c] = add(self.p.lemmas, terms, excess, f.capacity)
        return self.cache[a, b, c]

    def padded(self, at, common):
        return self.f.size[at] + -self.f.size[at] % common

    def pair(self, a, b, common, role, slack):
        """Derives K(a,b) with the size of a rounded up. Returns the constraint, its right side and its C."""
        f = self.f
        if common == 1 or role == "bottom":
            return f.below[a, b], f.size[a], f.capacity
        least = self.padded(a, common)
        if role == "top":
            if ("top", a, b, slack, common) not in self.cache:
                ref = add(self.p.lemmas, [(f.below[a, b], 1)], f.size[a] - least + slack)
                self.cache["top", a, b, slack, common] = ref
            return self.cache["top", a, b, slack, common], least - slack, f.capacity
        if ("rounded", a, b, common) not in self.cache:
            rounded = add(self.p.lemmas, [(f.below[a, b], 1)], 0, common)
            self.cache["rounded", a, b, common] = add(self.p.lemmas, [(rounded, common)])
        return self.cache["rounded", a, b, common], least, -(-f.capacity // common) * common

    def between(self, a, b, others, common=1, role=None, slack=0):
        """Derives that a, b and the buffers between them do not overlap:

            offset(b) - offset(a) + C * [b below a]
                >= size(a) + sum of size(k) * ([k below b] - [k below a]) over all others k

        The proof is by induction: after k is removed and its gap is closed, the others still do not overlap.
        """
        if common == 1:
            role, slack = None, 0
        if not others:
            return self.pair(a, b, common, role, slack)
        key = (a, b, others, common, role, slack)
        if key in self.cache:
            return self.cache[key]
        f, (*rest, k) = self.f, others
        rest = tuple(rest)
        whole, least, big = self.between(a, b, rest, common, role, slack)
        roles = (role if role == "bottom" else None, role if role == "top" else None)
        lower = self.between(a, k, rest, common, roles[0], slack)
        upper = self.between(k, b, rest, common, roles[1], slack)
        terms = f.difference(b, a) + [(big, f.order(b, a))]
        for other in others:
            size = self.padded(other, common)
            terms += [(-size, f.order(other, b)), (size, f.order(other, a))]
        lines = self.p.lemmas
        opposite = assume(lines, inequality(terms, least - f.constant(b, a)))
        outside = add(lines, [(opposite, 1), (whole, 1)])
        inside = add(lines, [(opposite, 1), (lower[0], 1), (upper[0], 1)])
        ref = conclude(lines, propagate(lines, [], [outside, inside]))
        self.cache[key] = (ref, least, big)
        return self.cache[key]

    # Facts, which may depend on the assumptions of a derivation.

    def known(self, a, b):
        if (a, b) not in self.orders:
            # This is an error in the proof, unless VeriPB derives the order by unit propagation.
            self.orders[a, b] = line(self.p.lines, f"rup 1 {self.f.order(a, b)} >= 1;")
        return self.orders[a, b]

    def learn(self, a, b, ref):
        """Records an order, and a contradiction if the opposite order is known."""
        self.orders.setdefault((a, b), ref)
        if (b, a) in self.orders and self.contradiction is None:
            self.contradiction = propagate(self.p.lines, [], [ref, self.orders[b, a]])

    def forced(self, terms, amount):
        """Derives an order from terms that add up to C * order >= amount."""
        return add(self.p.lines, terms, max(amount - self.f.capacity, 0), self.f.capacity)

    def path(self, path):
        """Derives that the first buffer of a path lies below the last one."""
        a, b = path[0], path[-1]
        f = self.f
        terms = [(f.below[b, a], 1)]
        for low, high in zip(path, path[1:]):
            terms += [(f.below[low, high], 1), (self.known(low, high), f.capacity)]
        return self.forced(terms, sum(f.size[i] for i in path))

    def extremes(self, side, stack):
        """Returns the buffers that may be lowest (side 0) or highest (side 1).

        For each other buffer of the stack, also returns a buffer that is known to be nearer to that end.
        """
        nearer = {}
        for b in stack:
            found = [a for a in stack if ((a, b) if side == 0 else (b, a)) in self.orders]
            if found:
                nearer[b] = found[0]
        ends = [b for b in stack if b not in nearer]
        if not ends:
            raise Untranslatable("the known orders form a cycle")
        return ends, nearer

    def order(self, side, near, far):
        return self.f.order(near, far) if side == 0 else self.f.order(far, near)

    def known_order(self, side, near, far):
        return self.known(near, far) if side == 0 else self.known(far, near)

    def turned(self, side, a, b, c):
        return self.triangle(a, b, c) if side == 0 else self.triangle(c, b, a)

    def chains(self, side, nearer, b):
        """Returns hints which imply that no other buffer is nearer than b if no possible end is nearer."""
        hints = []
        for far, near in nearer.items():
            if far != b:
                hints.append(self.known_order(side, near, far))
                if near != b:
                    hints.append(self.turned(side, near, far, b))
        return hints

    def eliminate(self, side, ends, clauses):
        """Derives a contradiction from clauses: for each possible end, another possible end is nearer."""
        lines = self.p.lines
        ends, clauses = list(ends), dict(clauses)
        while len(ends) > 2:
            last = ends.pop()
            for b in ends:
                others = [a for a in ends if a != b]
                hints = [clauses[b], clauses[last], *(self.turned(side, a, last, b) for a in others)]
                clauses[b] = propagate(lines, [self.order(side, a, b) for a in others], hints)
        if len(ends) == 1:
            return clauses[ends[0]]
        return propagate(lines, [], [clauses[b] for b in ends])

    def raise_height(self, side, buffer, stack):
        f, lines = self.f, self.p.lines
        common = math.gcd(*(f.alignment[b] for b in stack))
        padding = max(-f.size[b] % common for b in stack)
        lowest = min(self.heights[side][b][0] for b in stack)
        height = lowest + sum(self.padded(b, common) for b in stack) - padding
        alignment = factor = f.alignment[buffer]
        rounded = height + -height % alignment
        if side == 1:
            rounded = height + max(f.capacity - f.size[buffer] - height, 0) % alignment
        if f.fixed[buffer] is not None:
            # A bound that excludes the fixed offset may be multiplied.
            old, alignment = self.heights[side][buffer][0], 1
            factor = -(-(rounded - old) // max(height - old, 1))
        if rounded <= self.heights[side][buffer][0]:
            return
        ends, nearer = self.extremes(side, stack)

        def sums(b):
            """Returns constraints that bound the offset of the buffer if b is the end.

            Also returns the amount by which this bound exceeds `height`.
            """
            others = tuple(sorted(k for k in stack if k != b))
            pair, role = ((b, buffer), "top") if side == 0 else ((buffer, b), "bottom")
            ref, _, big = self.between(*pair, others, common, role, padding)
            terms = [(ref, 1), (self.heights[side][b][1], 1), (self.known(*pair), big)]
            terms += [(self.known_order(side, k, buffer), self.padded(k, common)) for k in others]
            excess = self.heights[side][b][0] - lowest
            if side == 1:
                excess += f.size[b] - self.padded(b, common) + padding
            return terms, excess

        if len(ends) == 1:
            terms, excess = sums(ends[0])
            for b in stack:
                if b != ends[0]:
                    terms.append((self.from_end(side, nearer, ends[0], b), self.padded(b, common)))
            ref = add(lines, terms, excess, alignment)
        else:
            bits = f.bits[buffer] if side == 0 else [(-value, bit) for value, bit in f.bits[buffer]]
            place = f.fixed[buffer] or 0
            least = height - place if side == 0 else height + place + f.size[buffer] - f.capacity
            opposite = assume(lines, inequality(bits, least))
            clauses = {}
            for b in ends:
                nearest = add(lines, [(opposite, 1), *sums(b)[0]])
                hints = [nearest, *self.chains(side, nearer, b)]
                clauses[b] = propagate(lines, [self.order(side, a, b) for a in ends if a != b], hints)
            ref = conclude(lines, self.eliminate(side, ends, clauses))
            if alignment > 1:
                ref = add(lines, [(ref, 1)], 0, alignment)
        self.heights[side][buffer] = (rounded, add(lines, [(ref, factor)]) if factor > 1 else ref)

    def from_end(self, side, nearer, end, b):
        path = [b]
        while path[-1] != end:
            path.append(nearer[path[-1]])
            if len(path) > len(nearer) + 1:
                raise Untranslatable("the known orders form a cycle")
        path = path[::-1] if side == 0 else path
        return self.known(*path) if len(path) == 2 else self.path(path)

    def no_space(self, stack):
        f, lines = self.f, self.p.lines
        if len(stack) == 1:
            return add(lines, [(self.heights[side][stack[0]][1], 1) for side in (0, 1)])
        common = math.gcd(*(f.alignment[b] for b in stack))
        (tops, higher), (bottoms, lower) = self.extremes(1, stack), self.extremes(0, stack)
        clauses = {}
        for top in tops:
            above = [f.order(top, b) for b in tops if b != top]
            assumed = [assume(lines, inequality([(1, literal) for literal in above], 1))] if above else []
            is_top = assumed + self.chains(1, higher, top)
            ends, inner = [b for b in bottoms if b != top], {}
            for b in ends:
                others = tuple(sorted(k for k in stack if k not in (b, top)))
                ref = self.between(b, top, others, common)[0]
                terms = [(ref, 1), (self.heights[0][b][1], 1), (self.heights[1][top][1], 1)]
                hints = [add(lines, terms), *is_top, *self.chains(0, lower, b)]
                inner[b] = propagate(lines, [f.order(a, b) for a in ends if a != b], hints)
            found = self.eliminate(0, ends, inner)
            clauses[top] = conclude(lines, found) if above else found
        return self.eliminate(1, tops, clauses)

    # Statements.

    def step(self, kind, words):
        f, lines, numbers = self.f, self.p.lines, [int(word) for word in words]
        if kind == "u":
            if numbers[0] not in self.clauses:
                raise Untranslatable(f"no clause {numbers[0]}")
            orders, clause = self.clauses[numbers[0]]
            left = [(a, b) for a, b in orders if (b, a) not in self.orders]
            hints = [clause] + [self.orders[b, a] for a, b in orders if (b, a) in self.orders]
            ref = propagate(lines, [f.order(a, b) for a, b in left], hints)
            if left:
                self.learn(*left[0], ref)
            else:
                self.contradiction = ref
        elif kind == "t":
            self.learn(numbers[0], numbers[-1], self.path(numbers))
        elif kind == "o":
            a, b = numbers
            (below, first), (above, second) = self.heights[0][a], self.heights[1][b]
            amount = below + f.size[a] + f.size[b] + above - f.capacity
            self.learn(b, a, self.forced([(f.below[a, b], 1), (first, 1), (second, 1)], amount))
        elif kind == "x":
            self.contradiction = self.no_space(numbers)
        else:
            self.raise_height("ba".index(kind), numbers[0], numbers[1:])

    def derive(self, number, orders):
        self.p.flush()
        f, lines = self.f, self.p.lines
        self.permanent = (dict(self.orders), [list(side) for side in self.heights])
        opposite = assume(lines, inequality([(1, f.order(a, b)) for a, b in orders], 1))
        self.open = (number, orders)
        for a, b in orders:
            self.learn(b, a, propagate(lines, [f.order(b, a)], [opposite]))

    def close(self):
        if self.open:
            if self.contradiction is None:
                raise Untranslatable(f"clause {self.open[0]} is not derived")
            number, orders = self.open
            self.clauses[number] = (orders, conclude(self.p.lines, self.contradiction))
            (self.orders, self.heights), self.open, self.contradiction = self.permanent, None, None
        self.p.flush()

    def statement(self, words):
        kind, rest = words[0], words[1:]
        if self.contradiction is not None and not self.open:
            return
        # After the contradiction of a derivation, steps add permanent facts again.
        if kind not in "utbaox" or self.contradiction is not None:
            self.close()
        if kind in "utbaox":
            self.step(kind, rest)
            return
        if kind == "sweep":
            raise Untranslatable("sweeps are not supported")
        if kind == "clause" and len(rest) > 1:
            self.derive(int(rest[0]), [tuple(int(b) for b in word.split("<")) for word in rest[1:]])
        elif kind == "delete":
            for number in map(int, rest):
                self.p.lines.append((None, ("del id ", self.clauses.pop(number)[1], ";")))

    def end(self):
        if self.open and self.open[1]:
            self.close()
        self.p.flush()
        if self.contradiction is None:
            raise Untranslatable("the proof is incomplete")
        self.p.file.write(f"output NONE;\nconclusion UNSAT : {self.contradiction.number};\n")
        self.p.file.write("end pseudo-Boolean proof;\n")


def translate(instance, proof, question, refutation):
    lines = [line.split() for line in proof if line.strip() and not line.startswith("c ")]
    if any(words[0] == "slab" for words in lines):
        raise Untranslatable("slabs are not supported")
    names = [decode(words[1]) for words in lines if words[0] == "buffer"]
    formula = Formula(instance, names, int(lines[1][1]) - 1)
    formula.write(question)
    mirror, twins = ([(int(w[1]), int(w[2])) for w in lines if w[0] == kind] for kind in ("mirror", "twin"))
    translator = Translator(formula, mirror, twins, refutation)
    for words in lines[2:]:
        if words[0] not in ("buffer", "twin", "mirror"):
            translator.statement(words)
    translator.end()


def fit(instance, layout, question, solution):
    """Writes the question for the peak of a layout, and the layout as its solution."""
    offsets = {row["id"]: int(row["offset"]) for row in csv.DictReader(layout)}
    names = [name for name, buffer in instance.buffers.items() if buffer.size > 0]
    peak = max(offsets[name] + instance.buffers[name].size for name in names)
    formula = Formula(instance, names, peak)
    formula.write(question)
    literals = []
    for at, name in enumerate(names):
        rest = offsets[name] if formula.fixed[at] is None else 0
        for value, bit in sorted(formula.bits[at], reverse=True):
            literals.append(bit if value <= rest else "~" + bit)
            rest -= value if value <= rest else 0
    for a, b in formula.pairs:
        if offsets[names[a]] < offsets[names[b]]:
            literals.append(formula.order(a, b))
    solution.write(f"pseudo-Boolean proof version 3.0\nf {len(formula.constraints)};\noutput NONE;\n")
    solution.write(f"conclusion SAT : {' '.join(literals)};\nend pseudo-Boolean proof;\n")


def main(arguments):
    for path, proof, name in zip(arguments[::3], arguments[1::3], arguments[2::3]):
        kind, end = (fit, ".fit") if proof.endswith(".csv") else (translate, "")
        with (
            open(proof, encoding="utf-8", newline="") as given,
            open(name + end + ".opb", "w", encoding="ascii") as question,
            open(name + end + ".pbp", "w", encoding="ascii") as answer,
        ):
            try:
                kind(Instance(path), given, question, answer)
                print("translated")
            except (Untranslatable, IndexError, KeyError, ValueError) as reason:
                print(f"refused {reason!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
