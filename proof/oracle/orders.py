#!/usr/bin/env python3
"""Checks proofs that no order has a peak below a bound: a second implementation, independent of the Rust checker.

Usage: orders.py PROOF [PROOF ...]

It prints "accepted BOUND .." (one bound per region) or "rejected LINE REASON" for each proof. The format is
described in proof/src/orders/mod.rs. This program is slow and simple: it never renumbers operators, and it
computes live bytes from the definitions.
"""

import re
import sys

MOST_OPERATORS, MOST_SETS = 64, 4096


class Rejected(Exception):
    """A line of a proof does not follow from the lines before it."""


def require(condition, reason):
    if not condition:
        raise Rejected(reason)


def number(word, below):
    require(re.fullmatch("[0-9]+", word, re.ASCII) and int(word) < below, f"not a number: {word}")
    return int(word)


class Section:
    """The problem and the proof of one region."""

    def __init__(self):
        self.before, self.scratch, self.storages, self.bound = [], [], [], None
        # The operators that remain, and those that run before and after all of them.
        self.inside, self.sides, self.turned, self.pending = None, [set(), set()], False, None

    def statement(self, words):
        """Processes a statement. Returns true if it completes the proof."""
        kind, words = words[0], words[1:]
        if self.bound is None:
            self.problem(kind, words)
            return False
        if kind == "held":
            require(not words, "words after 'held'")
            held = [sum(s[0] for s in self.storages if s[side]) for side in (1, 2)]
            require(max(held) >= self.bound, "the storages held at either end have fewer bytes than the bound")
            return True
        if kind in ("drop", "skip", "keep", "reverse"):
            require(self.pending is None, f"misplaced {kind}")
            if kind == "drop":
                self.drop({self.operator(word) for word in words})
            elif kind == "reverse":
                require(not words, "words after 'reverse'")
                self.turn()
                self.begin()
            else:
                self.cut(kind, {self.operator(word) for word in words})
            return False
        if self.pending is None:
            self.begin()
        ran = min(self.pending, key=lambda ran: (len(ran), sum(2**v for v in ran)))
        self.pending.remove(ran)
        if kind == "e":
            require(not words, "words after 'e'")
            for v in self.ready(ran, self.inside):
                if self.during(ran, v) < self.bound:
                    self.add(ran | {v})
        elif kind == "r":
            require(words, "r needs a group of operators")
            for word in words:
                group = [self.operator(one) for one in word.split("+")]
                require(len(group) == len(set(group)) and not ran & set(group), "an operator runs twice")
                self.least(ran, frozenset(group))
                ran |= set(group)
            self.add(ran)
        elif kind == "x":
            require(len(words) == 1, "x needs one operator")
            v = self.operator(words[0])
            require(v not in ran, f"operator {v} has run")
            earlier = self.reach(v, True) | {v} | ran | self.sides[0]
            later = self.reach(v, False) | {v} | self.sides[1]
            held = [s for s in self.storages if (s[1] or s[3] & earlier) and (s[2] or s[3] & later)]
            needed = sum(s[0] for s in held) + self.scratch[v]
            require(needed >= self.bound, f"operator {v} needs fewer bytes than the bound")
        else:
            raise Rejected(f"unknown statement {kind}")
        return not self.pending

    def problem(self, kind, words):
        if kind == "operator":
            self.scratch.append(number(words[0], 2**64))
            self.before.append({number(word, 2**32) for word in words[1:]})
        elif kind == "storage":
            size, words = number(words[0], 2**64), words[1:]
            flags = []
            for flag in ("start", "end"):
                flags.append(words[:1] == [flag])
                words = words[1:] if flags[-1] else words
            users = [number(word, 2**32) for word in words]
            require(all(a < b for a, b in zip(users, users[1:])), "users are not ascending")
            self.storages.append((size, *flags, frozenset(users)))
        else:
            require(kind == "bound" and len(words) == 1, "expected 'bound B'")
            self.bound = number(words[0], 2**64)
            require(self.bound > 0, "the bound is 0")
            named = [self.before, [s[3] for s in self.storages]]
            require(all(v < len(self.before) for lists in named for some in lists for v in some), "unknown operator")
            self.inside = frozenset(range(len(self.before)))

    def operator(self, word):
        v = number(word, 2**32)
        require(v in self.inside, f"unknown operator {v}")
        return v

    def turn(self):
        self.before = [{u for u, before in enumerate(self.before) if v in before} for v in range(len(self.before))]
        self.storages = [(size, end, start, users) for size, start, end, users in self.storages]
        self.sides.reverse()

    def begin(self):
        self.pending = set()
        self.add(frozenset())

    def add(self, ran):
        require(ran != self.inside, "all operators run")
        self.pending.add(frozenset(ran))

    def live(self, ran):
        ran = ran | self.sides[0]
        return sum(s[0] for s in self.storages if (s[1] or s[3] & ran) and (s[2] or s[3] - ran))

    def during(self, ran, v):
        ran = ran | self.sides[0]
        held = [s for s in self.storages if (s[1] or s[3] & (ran | {v})) and (s[2] or s[3] - ran)]
        return sum(s[0] for s in held) + self.scratch[v]

    def ready(self, ran, among):
        return [v for v in among - ran if self.before[v] & self.inside <= ran]

    def reach(self, v, backwards):
        found, todo = set(), [v]
        while todo:
            at = todo.pop()
            near = self.before[at] if backwards else {u for u in self.inside if at in self.before[u]}
            todo += near & self.inside - found
            found |= near & self.inside
        return found

    def least(self, ran, group):
        """Checks that `group` can run, and that no set in between has fewer live bytes than the set after it."""
        require(len(group) <= MOST_OPERATORS, "too many operators")
        require(all(self.before[v] & self.inside <= ran | group for v in group), "an operator cannot run")
        least = self.live(ran | group)
        known = todo = {frozenset(ran)}
        while todo:
            require(all(self.live(some) >= least for some in todo), "fewer live bytes after some of the operators")
            todo = {some | {v} for some in todo for v in self.ready(some, group)} - known
            known = known | todo
            require(len(known) <= MOST_SETS, "too many sets")

    def drop(self, gone):
        self.inside -= gone
        self.storages = [(size, start, end, users - gone) for size, start, end, users in self.storages]

    def cut(self, kind, first):
        rest = self.inside - first
        if kind == "keep":
            self.turn()
        one = first if kind == "skip" else rest
        after = [self.reach(v, True) for v in self.inside - one if self.before[v] & self.inside <= one]
        require(after, "no operator remains")
        common = frozenset.intersection(*map(frozenset, after))
        self.least(common, one - common)
        if kind == "keep":
            self.turn()
        self.sides[0 if kind == "skip" else 1] |= first if kind == "skip" else rest
        self.inside = frozenset(rest if kind == "skip" else first)


def check(lines):
    """Returns the proved bounds. Raises Rejected with the number of the line."""
    lines = [[] if line.startswith("c ") else re.findall(r"[^ \t\n\r\f]+", line) for line in lines]
    lines = [(at, words) for at, words in enumerate(lines, 1) if words]
    at, bounds, section = 1, [], None
    try:
        require(lines and lines[0][1] == ["plimsoll-proof", "1", "orders"], "header")
        for at, words in lines[1:]:
            if section is None:
                require(words[0] == "region" and len(words) == 2, "no region")
                section = Section()
            elif section.statement(words):
                bounds.append(section.bound)
                section = None
        require(bounds and section is None, "incomplete")
        return bounds
    except (Rejected, IndexError) as reason:
        raise Rejected(f"{at} {reason}") from None


def main(arguments):
    for path in arguments:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                print("accepted", *check(file.read().split("\n")))
        except Rejected as reason:
            print("rejected", reason)


if __name__ == "__main__":
    main(sys.argv[1:])
