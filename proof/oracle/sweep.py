"""The statements `sweep`, `at`, `tree` and `bond` of proofs, which list trees of all arrangements possible at a step.

A tree is a leaf (the number of a buffer, or a hole) or a node: a pair of "P" or "Q" and a list of trees. The
children of a P-node may be permuted. Those of a Q-node may only be reversed.
"""

from itertools import chain, combinations, product


class Refused(Exception):
    """A statement does not follow from the statements before it."""


def require(condition, reason):
    if not condition:
        raise Refused(reason)


def subsets(items):
    items = list(items)
    return map(frozenset, chain.from_iterable(combinations(items, size) for size in range(len(items) + 1)))


def is_node(tree):
    return isinstance(tree, tuple) and tree[0] in ("P", "Q")


def leaves(tree):
    return frozenset().union(*map(leaves, tree[1])) if is_node(tree) else frozenset([tree])


def node(kind, children):
    if len(children) == 1:
        return children[0]
    return ("P" if len(children) == 2 else kind, children)


def line(tree, chosen, keep):
    """Returns the leaves outside `chosen` as a fixed sequence of trees, or None.

    All chosen leaves can come after this sequence. If `keep` is true, they follow.
    """
    if not is_node(tree) or leaves(tree) <= chosen:
        return [tree] if keep or not leaves(tree) <= chosen else []
    kind, children = tree
    for order in (children, children[::-1]):
        rank = [(bool(leaves(child) & chosen)) + (leaves(child) <= chosen) for child in order]
        if rank.count(1) > 1 or (kind == "Q" and rank != sorted(rank)):
            continue
        outside, partial, inside = ([child for child, r in zip(order, rank) if r == part] for part in range(3))
        if kind == "P":
            outside, inside = ([node("P", part)] if part else [] for part in (outside, inside))
        inner = line(partial[0], chosen, keep) if partial else []
        return None if inner is None else outside + inner + (inside if keep else [])
    return None


def exchanged(tree, chosen, block=None):
    """Returns the tree of all permutations with the chosen leaves contiguous and replaced by `block`, if given.

    Returns None if there are no such permutations.
    """
    keep = block is None
    if leaves(tree) == chosen:
        return tree if keep else block
    kind, children = tree
    for at, child in enumerate(children):
        if chosen <= leaves(child):
            inner = exchanged(child, chosen, block)
            return None if inner is None else node(kind, children[:at] + [inner] + children[at + 1 :])
    touched = [at for at, child in enumerate(children) if leaves(child) & chosen]
    partial = [at for at in touched if not leaves(children[at]) <= chosen]
    first, last = touched[0], touched[-1]
    if kind == "Q":
        if touched != list(range(first, last + 1)) or not set(partial) <= {first, last}:
            return None
        full = children[first + 1 : last]
        ends = [line(children[first], chosen, keep), line(children[last], chosen, keep)]
    else:
        if len(partial) > 2:
            return None
        full = [children[at] for at in touched if at not in partial]
        full = [node("P", full)] if full else []
        ends = [line(children[at], chosen, keep) for at in partial] + [[], []]
    if ends[0] is None or ends[1] is None:
        return None
    middle = ends[0] + (full if keep else [block]) + ends[1][::-1]
    if kind == "Q":
        return node("Q", children[:first] + middle + children[last + 1 :])
    outside = [child for child in children if not leaves(child) & chosen]
    return node("P", outside + [node("Q", middle)])


def possible(tree, bond):
    """Returns the trees of the permutations in which a bond holds, one per choice of loose buffers."""
    some = (exchanged(tree, frozenset(bond[0]) | more) for more in subsets(bond[1]))
    return [one for one in some if one is not None]


def narrowed(tree, bonds):
    """Returns a tree of all permutations without holes in which all bonds hold, or None if there are none."""
    bare = renamed(tree, {hole: None for hole in leaves(tree) if is_hole(hole)})
    changed = True
    while changed:
        changed, rest = False, []
        for bond in bonds:
            found = possible(bare, bond)
            if not found:
                return None
            if len(found) == 1:
                bare, changed = found[0], True
            else:
                rest.append(bond)
        bonds = rest
    return bare


def inserted(tree, block, top=True):
    """Returns trees that together have all permutations of `tree` with `block` inserted at any place.

    If `top` is false, the places before and after all leaves need not be included.
    """
    if not is_node(tree):
        return [("P", [tree, block])] if top else []
    kind, children = tree
    found = [("P", children + [block])] if kind == "P" else []
    if kind == "Q":
        places = range(0 if top else 1, len(children) + (1 if top else 0))
        found += [("Q", children[:at] + [block] + children[at:]) for at in places]
    for at, child in enumerate(children):
        found += [node(kind, children[:at] + [new] + children[at + 1 :]) for new in inserted(child, block, False)]
    return found


def runs(tree, defining):
    """Returns the sets of leaves that are contiguous in every permutation.

    If `defining` is true, returns only the sets that define the tree.
    """
    if not is_node(tree):
        return set()
    kind, children = tree
    found = {leaves(tree)}.union(*(runs(child, defining) for child in children))
    if kind == "Q":
        for at in range(len(children)):
            for end in range(at + 2, at + 3 if defining else len(children) + 1):
                if end <= len(children):
                    found.add(frozenset().union(*map(leaves, children[at:end])))
    return found


def renamed(tree, names):
    """Renames leaves; None removes a leaf."""
    if not is_node(tree):
        return names.get(tree, tree)
    children = [new for new in (renamed(child, names) for child in tree[1]) if new is not None]
    return node(tree[0], children) if children else None


def is_hole(leaf):
    return isinstance(leaf, tuple)


def classes(tree, among):
    """Splits a set of leaves into lists.

    The leaves of a list are children of the same P-node, so an exchange of two of them does not change the tree.
    """
    if not is_node(tree):
        return [[tree]] if tree in among else []
    kind, children = tree
    alike = [child for child in children if kind == "P" and not is_node(child) and child in among]
    others = [child for child in children if kind == "Q" or is_node(child)]
    return list(chain([alike] if alike else [], *(classes(child, among) for child in others)))


def unions(lists):
    """Joins the first few items of each list, in all possible ways."""
    return (frozenset(chain(*parts)) for parts in product(*([one[:n] for n in range(len(one) + 1)] for one in lists)))


def sequences(lists, first, least=0):
    """Returns the sequences of as many items as `first` has that keep the order within each list.

    Where `first` is false, the list of an item must not come before that of the previous item.
    """
    if not first:
        return [[]]
    least = 0 if first[0] else least
    rests = ((at, lists[:at] + [one[1:]] + lists[at + 1 :]) for at, one in enumerate(lists) if one and at >= least)
    return ([lists[at][0]] + more for at, rest in rests for more in sequences(rest, first[1:], at))


class Sweep:
    def __init__(self, capacity):
        self.capacity, self.before, self.now = capacity, None, None
        # No step has more free units than the first one.
        self.most = 52
        # The number of the current step, its bond, and the bonds of all steps.
        self.step, self.bond, self.bonds = None, None, {}

    def restart(self):
        """Starts another sweep."""
        require(not self.finish(), "text after the proof")
        self.before, self.now, self.most = None, None, 52

    def at(self, step, live):
        """Starts the next step; `live` maps buffers to their sizes in units."""
        self.settle()
        free = self.capacity - sum(live.values())
        require(live and 0 <= free <= self.most, "not full")
        self.most = self.most if self.before else free
        self.step, self.bond = step, None
        if self.before is None:
            tree = narrowed(node("P", list(live)), self.bonds.get(step, []))
            self.before = (live, free, [] if tree is None else [tree])
        else:
            self.now = (live, free, [])

    def tree(self, words, number):
        require(self.now and self.bond is None, "misplaced tree")
        live, free, trees = self.now
        open_nodes, done = [("P", [])], []
        for word in words:
            require(not open_nodes[0][1], "text after the tree")
            if word in "([":
                open_nodes.append(("P" if word == "(" else "Q", []))
                continue
            if word in ")]":
                require(len(open_nodes) > 1 and open_nodes[-1][1], "not a tree")
                kind, children = open_nodes.pop()
                require((kind == "P") == (word == ")"), "not a tree")
                new = node(kind, children)
            else:
                new = ("*", sum(map(is_hole, done))) if word == "*" else number(word)
                require(is_hole(new) or (new in live and new not in done), "not a tree")
                done.append(new)
            open_nodes[-1][1].append(new)
        require(len(open_nodes) == 1 and open_nodes[0][1], "not a tree")
        require(set(live) <= set(done) and len(done) - len(live) <= free, "not a tree of the step")
        trees.append(open_nodes[0][1][0])

    def bonded(self, words, number):
        """Lists all trees of a bond."""
        require(self.now and not self.now[2], "misplaced bond")
        at = words.index("|") if "|" in words else len(words)
        members, loose = [number(word) for word in words[:at]], [number(word) for word in words[at + 1 :]]
        both, live = members + loose, self.now[0]
        require(members and len(set(both)) == len(both) and set(both) <= set(live), "not a bond")
        self.now[2].extend(possible(node("P", list(live)), (members, loose)))
        self.bond = (members, loose)

    def finish(self):
        self.settle()
        return self.before is not None and not self.before[2]

    def contains(self, tree):
        """Returns true if a listed tree has all permutations of a tree.

        Holes are interchangeable and may be omitted.
        """
        holes = frozenset(filter(is_hole, leaves(tree)))
        alike = classes(tree, holes)
        for other in self.now[2]:
            same = classes(other, frozenset(filter(is_hole, leaves(other))))
            named = [hole for one in same for hole in one]
            first = [hole == one[0] for one in same for hole in one]
            needed = runs(other, True)
            for kept in sequences(alike, first):
                names = {hole: None for hole in holes} | dict(zip(kept, named))
                if needed <= runs(renamed(tree, names), False):
                    return True
        return False

    def settle(self):
        """Checks that all successors of the trees of the previous step are listed."""
        if self.now is None:
            return
        (then, free, trees), (now, most, _) = self.before, self.now
        old = {b: size for b, size in then.items() if b not in now}
        new = {b: size for b, size in now.items() if b not in then}

        bonds = self.bonds.get(self.step, [])

        def extend(tree, old_left, holes, new_left, free, made):
            if not old_left and not new_left:
                if not self.contains(tree):
                    narrow = narrowed(tree, bonds)
                    require(narrow is None or self.contains(narrow), "an arrangement is not listed")
                return
            first = min(old_left) if old_left else min(new_left)
            others = [[leaf] for leaf in old_left - {first}] + classes(tree, holes)
            for group in unions(others):
                group |= {first} if old_left else set()
                size = sum(old.get(leaf, 1) for leaf in group)
                for begin in subsets(new_left) if group else ():
                    more = size - sum(new[b] for b in begin)
                    if (not old_left and first not in begin) or more < -free or made + max(more, 0) > most:
                        continue
                    block = list(begin) + [("new", made + i) for i in range(more)]
                    after = exchanged(tree, group, node("P", block)) if block else None
                    if after is not None:
                        rest = (old_left - group, holes - group, new_left - begin)
                        extend(after, *rest, free + min(more, 0), made + max(more, 0))
            for begin in subsets(new_left) if not old_left else ():
                size = sum(new[b] for b in begin)
                if first in begin and size <= free:
                    for after in inserted(tree, node("P", list(begin))):
                        extend(after, old_left, holes, new_left - begin, free - size, made)

        for tree in trees:
            holes = frozenset(filter(is_hole, leaves(tree)))
            extend(tree, frozenset(old), holes, frozenset(new), free - len(holes), 0)
        if self.bond is not None:
            self.bonds.setdefault(self.step, []).append(self.bond)
        self.before, self.now = self.now, None
