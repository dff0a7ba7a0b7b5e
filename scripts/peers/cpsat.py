#!/usr/bin/env python3
"""Offset assignment by CP-SAT of OR-Tools: a peer for `plimsoll bench --external`.

Reads an instance (CSV with id, lower, upper, size; optional alignment, gaps, offset, separations; half-open
steps), searches for offsets with a low peak or, with --decide, within a capacity, and writes id,offset. Prints one
line of JSON per improvement and one at the end, with claim, peak, lower_bound and seconds since the start of
the program:

    cpsat.py --input A.csv --output layout.csv --time-limit 10 --workers 1 [--decide 1048576] [--seed 0]

The model:
  * one offset per buffer, in units of the greatest common divisor of all sizes, fixed offsets and alignments
    above 1 (every left-justified layout lies on that grid);
  * no_overlap_2d over (interval of a lifespan) x (addresses). Start and end in time are constants. A buffer with
    gaps is several rectangles with a common offset;
  * one no_overlap constraint over addresses per separation;
  * redundant constraints: the peak is at least the load; one cumulative constraint over time has the peak as capacity;
  * symmetry breaking: buffers with the same lifespan, size, alignment and separations are ordered by offset;
  * hint: the better of first fit by decreasing size and by decreasing area; without --decide, its peak is also
    an upper bound on the peak.
"""

import argparse
import csv
import json
import math
import sys
import time

STARTED = time.monotonic()

from ortools.sat.python import cp_model  # noqa: E402  (the import counts as running time of this program)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--input", required=True, help="instance, CSV")
    parser.add_argument("--output", required=True, help="layout, CSV")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds, from the start of the program")
    parser.add_argument("--workers", type=int, default=1, help="threads")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--decide", type=int, metavar="CAPACITY", help="stop at the first layout within this capacity")
    return parser.parse_args()


class Buffer:
    """One row: name, size, intervals of the lifespan, alignment, fixed offset, names of separated buffers."""

    def __init__(self, row):
        cell = lambda name: (row.get(name) or "").strip()  # noqa: E731
        self.name = row["id"]
        self.size = int(row["size"])
        self.alignment = int(cell("alignment") or 1)
        self.fixed = int(cell("offset")) if cell("offset") else None
        self.separated = frozenset(cell("separations").split())
        self.pieces = [(int(row["lower"]), int(row["upper"]))]
        for gap in cell("gaps").split():
            begin, end = map(int, gap.split("-"))
            self.pieces = [
                part
                for lower, upper in self.pieces
                for part in ((lower, min(upper, begin)), (max(lower, end), upper))
                if part[0] < part[1]
            ]

    def overlaps(self, other):
        return any(a < d and c < b for a, b in self.pieces for c, d in other.pieces)

    def conflicts(self, other):
        return self.overlaps(other) or other.name in self.separated

    def kind(self):
        """Interchangeable buffers have the same kind."""
        return self.size, self.alignment, tuple(self.pieces), self.separated, self.fixed

    def area(self):
        return self.size * sum(upper - lower for lower, upper in self.pieces)


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if any((row.get("exclusions") or "").strip() for row in rows):
        sys.exit("cpsat.py: exclusions are not supported")
    buffers = [Buffer(row) for row in rows]
    # It suffices that one of the two buffers lists a separation.
    both = {buffer.name: set(buffer.separated) for buffer in buffers}
    for buffer in buffers:
        for name in buffer.separated:
            both[name].add(buffer.name)
    for buffer in buffers:
        buffer.separated = frozenset(both[buffer.name])
    return buffers


def load(buffers):
    """Returns the peak live bytes over all steps."""
    change = {}
    for buffer in buffers:
        for lower, upper in buffer.pieces:
            change[lower] = change.get(lower, 0) + buffer.size
            change[upper] = change.get(upper, 0) - buffer.size
    highest = now = 0
    for step in sorted(change):
        now += change[step]
        highest = max(highest, now)
    return highest


def first_fit(buffers, key):
    """Returns the peak and the offsets of first fit: fixed buffers first, then by decreasing key."""
    order = sorted(range(len(buffers)), key=lambda i: (buffers[i].fixed is None, -key(buffers[i]), i))
    offsets = [0] * len(buffers)
    placed = []
    for i in order:
        buffer = buffers[i]
        if buffer.fixed is not None:
            offsets[i] = buffer.fixed
        else:
            at = 0
            others = [(offsets[j], offsets[j] + buffers[j].size) for j in placed if buffer.conflicts(buffers[j])]
            for begin, end in sorted(others):
                if at + buffer.size <= begin:
                    break
                at = max(at, -(-end // buffer.alignment) * buffer.alignment)
            offsets[i] = at
        placed.append(i)
    return peak_of(buffers, offsets), offsets


def peak_of(buffers, offsets):
    return max(offset + buffer.size for buffer, offset in zip(buffers, offsets))


class Progress(cp_model.CpSolverSolutionCallback):
    """Prints the peak of every improved layout."""

    def __init__(self, unit):
        super().__init__()
        self.unit = unit

    def on_solution_callback(self):
        report(peak=int(self.objective_value) * self.unit)


def report(**fields):
    print(json.dumps({"seconds": round(time.monotonic() - STARTED, 4), **fields}), flush=True)


def model_of(buffers, unit, horizon, floor, decide):
    """Returns the model, its offset variables and its peak variable. They count units of `unit` bytes."""
    model = cp_model.CpModel()
    peak = model.new_int_var(floor, horizon, "peak")
    offsets, times, addresses, heights = [], [], [], []
    for i, buffer in enumerate(buffers):
        size, step = buffer.size // unit, max(buffer.alignment // unit, 1)
        high = horizon - size
        if buffer.fixed is not None:
            domain = cp_model.Domain(buffer.fixed // unit, buffer.fixed // unit)
        elif step > 1:
            domain = cp_model.Domain.from_values(range(0, high + 1, step))
        else:
            domain = cp_model.Domain(0, high)
        offset = model.new_int_var_from_domain(domain, f"offset{i}")
        offsets.append(offset)
        if not decide:
            model.add(offset + size <= peak)
        for k, (lower, upper) in enumerate(buffer.pieces):
            times.append(model.new_fixed_size_interval_var(lower, upper - lower, f"time{i}_{k}"))
            addresses.append(model.new_fixed_size_interval_var(offset, size, f"address{i}_{k}"))
            heights.append(size)
    model.add_no_overlap_2d(times, addresses)
    place = {buffer.name: i for i, buffer in enumerate(buffers)}
    for i, buffer in enumerate(buffers):
        for j in (place[name] for name in buffer.separated):
            if i < j and not buffer.overlaps(buffers[j]):
                pair = [model.new_fixed_size_interval_var(offsets[k], buffers[k].size // unit, "") for k in (i, j)]
                model.add_no_overlap(pair)
    model.add_cumulative(times, heights, peak)
    order_twins(model, buffers, offsets)
    if not decide:
        model.minimize(peak)
    return model, offsets, peak


def order_twins(model, buffers, offsets):
    """Orders interchangeable buffers by offset."""
    last = {}
    for i, buffer in enumerate(buffers):
        if buffer.fixed is None:
            if buffer.kind() in last:
                model.add(offsets[last[buffer.kind()]] + 1 <= offsets[i])
            last[buffer.kind()] = i


def hint(model, buffers, offsets, start):
    """Adds the first-fit layout as a hint, with interchangeable buffers in order."""
    twins = {}
    for i, buffer in enumerate(buffers):
        twins.setdefault(buffer.kind(), []).append(i)
    for group in twins.values():
        for i, value in zip(group, sorted(start[j] for j in group)):
            model.add_hint(offsets[i], value)


def write(path, buffers, offsets):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "offset"])
        writer.writerows((buffer.name, offset) for buffer, offset in zip(buffers, offsets))


def main():
    args = arguments()
    buffers = read(args.input)
    if not buffers:
        write(args.output, [], [])
        return report(claim="optimal", peak=0, lower_bound=0)
    floor = load(buffers)
    top, start = min(first_fit(buffers, lambda b: b.size), first_fit(buffers, Buffer.area))
    report(peak=top, lower_bound=floor)
    if top == floor or (args.decide is not None and top <= args.decide):
        write(args.output, buffers, start)
        return report(claim="optimal" if top == floor else "feasible", peak=top, lower_bound=floor)
    if args.decide is not None and floor > args.decide:
        return report(claim="infeasible", lower_bound=floor)
    numbers = [n for b in buffers for n in (b.size, b.alignment if b.alignment > 1 else 0, b.fixed or 0)]
    unit = math.gcd(*numbers)
    horizon = (top if args.decide is None else args.decide) // unit
    model, offsets, peak = model_of(buffers, unit, horizon, -(-floor // unit), args.decide is not None)
    hint(model, buffers, offsets, [offset // unit for offset in start])

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = args.workers
    solver.parameters.random_seed = args.seed
    solver.parameters.max_time_in_seconds = max(args.time_limit - (time.monotonic() - STARTED), 0.01)
    if args.decide is None:
        solver.best_bound_callback = lambda bound: report(lower_bound=math.ceil(bound - 1e-6) * unit)
    status = solver.solve(model, Progress(unit) if args.decide is None else None)

    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    if found:
        start = [solver.value(offset) * unit for offset in offsets]
        top = peak_of(buffers, start)
    if found or args.decide is None:
        write(args.output, buffers, start)
    stop = "time-limit" if status in (cp_model.FEASIBLE, cp_model.UNKNOWN) else "completed"
    if args.decide is not None:
        stop = "completed" if found else stop
        claim = "infeasible" if status == cp_model.INFEASIBLE else "feasible" if found else "unknown"
        return report(claim=claim, stop=stop, lower_bound=floor, **({"peak": top} if found else {}))
    bound = max(floor, math.ceil(solver.best_objective_bound - 1e-6) * unit)
    claim = "optimal" if status == cp_model.OPTIMAL else "feasible"
    report(claim=claim, stop=stop, peak=top, lower_bound=min(bound, top))


if __name__ == "__main__":
    main()
