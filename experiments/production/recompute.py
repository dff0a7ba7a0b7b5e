"""Recomputes loads and peaks from raw dumps, and compares them with `plimsoll audit --json`.

    python recompute.py PLIMSOLL FOLDER...

The script shares no code with the readers. For XLA, the load is the largest number of bytes that live values cover at a
step. Memory that several values share counts once. For IREE, the load is the largest total size of the slices
that are live at a step, and the peak is the size of the allocation in the text after the pass. For PyTorch, the
state at the end is traced back to the first event. For idealloc, the load is the largest total size of the live
blocks of a mapping, and the peak is the end of the highest block. The script prints one line per file that
differs, and a summary. It exits with 1 if any file differs.
"""

from __future__ import annotations

import json
import pickle
import re
import struct
import subprocess
import sys
from pathlib import Path

Found = list[tuple[int, int]]


def most(lives: list[tuple[int, int, int]]) -> int:
    """Returns the largest sum of sizes over all steps; both ends of a lifetime are inclusive."""
    change: dict[int, int] = {}
    for size, first, last in lives:
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size
    total = best = 0
    for step in sorted(change):
        total += change[step]
        best = max(best, total)
    return best


def covered(ranges: list[tuple[int, int]]) -> int:
    """Returns the total length of a union of half-open ranges."""
    total = end = 0
    for lower, upper in sorted(ranges):
        total += max(0, upper - max(lower, end))
        end = max(end, upper)
    return total


def xla(file: Path) -> Found:
    text = file.read_text()
    ranges = Path(str(file).replace("buffer-assignment", "live-range")).read_text()
    lives = {
        name: (int(first), int(last)) for name, first, last in re.findall(r"^    (\S+):(\d+)-(\d+)$", ranges, re.M)
    }
    found = []
    for size, kind, body in re.findall(r"^allocation \d+: size (\d+), (.*?):\n((?: .*\n?)*)", text, re.M):
        if "preallocated-temp" not in kind:
            continue
        values = []
        for label, bytes_, offset in re.findall(r"value: <\d+ (.*?) @\d+> \(size=(\d+),offset=(\d+)\)", body):
            name = label.split()[0]
            values.append((int(offset), int(bytes_), *lives[name if name.endswith("}") else name + "{}"]))
        steps = {first for _, _, first, _ in values}
        at = [[(o, o + s) for o, s, first, last in values if first <= step <= last] for step in steps]
        if values:
            found.append((max(map(covered, at)), int(size)))
    return found


def iree(file: Path) -> Found:
    halves: dict[str, dict[str, str]] = {"Before": {}, "After": {}}
    for part in re.split(r"(?=// -----// IR Dump )", file.read_text()):
        if head := re.match(r"// -----// IR Dump (Before|After)", part):
            if function := re.search(r"func\b.*?(@[^\s(]+)\(", part):
                halves[head[1]][function[1]] = part
    found = []
    for name, before in halves["Before"].items():
        after = halves["After"][name]
        constants: dict[str, int] = {}
        loads: dict[str, int] = {}
        wanted: list[int | None] = []
        slices: list[tuple[int, int, int]] = []
        result = ""
        for line in before.splitlines():
            if constant := re.match(r"\s*(%\S+) = arith.constant (\d+) : index", line):
                constants[constant[1]] = int(constant[2])
            elif pack := re.match(r"\s*(%\w+):\d+ = stream.resource.pack", line):
                result, slices = pack[1], []
            elif cut := re.match(r"\s*\[(\d+), (\d+)\] = (%[^,\s]+)", line):
                slices.append((constants[cut[3]], int(cut[1]), int(cut[2])))
            elif result and re.match(r"\s*\}\) : index", line):
                loads[result], result = most(slices), ""
            elif size := re.search(r"resource.alloca .*resource<\w+>\{(%\w+)(#0)?\}", line):
                wanted.append(loads.get(size[1]) if size[2] else None)
        sizes = []
        constants = {}
        for line in after.splitlines():
            if constant := re.match(r"\s*(%\S+) = arith.constant (\d+) : index", line):
                constants[constant[1]] = int(constant[2])
            elif size := re.search(r"resource.alloca .*resource<\w+>\{(%\w+)\}", line):
                sizes.append(constants.get(size[1], -1))
        found += [(load, size) for load, size in zip(wanted, sizes, strict=True) if load is not None]
    return found


def document(file: Path) -> Found:
    found = []
    for memory in json.loads(file.read_text())["memories"]:
        rows = memory["buffers"]
        if rows:
            found.append((most([(one["size"], one["lower"], one["upper"] - 1) for one in rows]), memory["peak"]))
    return found


def torch(file: Path) -> Found:
    """Traces the live blocks and the reserved bytes of each device, stream and pool back from the end. Reads only
    snapshots that this user has written: unpickling executes code."""
    data = pickle.loads(file.read_bytes())
    found = []
    for device, events in enumerate(data["device_traces"]):
        segments = [one for one in data["segments"] if one["device"] == device]
        places = [(one["stream"], one.get("pool_id")) for one in events]
        places += [(one["stream"], one.get("segment_pool_id") if events else None) for one in segments]
        for stream, pool in sorted(set(places)):
            own = [one for one in segments if (one["stream"], one["segment_pool_id"]) == (stream, pool)]
            blocks = [block for one in own for block in one["blocks"] if block["state"] != "inactive"]
            live = {block["address"]: block["requested_size"] for block in blocks}
            reserved = sum(one["total_size"] for one in own)
            load, peak, used = sum(live.values()), reserved, bool(live)
            for one in reversed(events):
                if (one["stream"], one["pool_id"]) != (stream, pool):
                    continue
                match one["action"]:
                    case "alloc":
                        del live[one["addr"]]
                    case "free_completed":
                        live[one["addr"]] = one["size"]
                        used = True
                    case "segment_alloc" | "segment_map":
                        reserved -= one["size"]
                    case "segment_free" | "segment_unmap":
                        reserved += one["size"]
                load, peak = max(load, sum(live.values())), max(peak, reserved)
            if used:
                found.append((load, peak))
    return found


def extents(blocks: dict[int, list[tuple[int, int, int, int]]]) -> Found:
    """Returns the load and the extent of each mapping. A block is an address, a size, its first and its last step."""
    found = []
    for rows in blocks.values():
        base = min(address for address, *_ in rows) // 4096 * 4096
        top = max(address + size for address, size, *_ in rows)
        found.append((most([(size, first, last) for _, size, first, last in rows]), top - base))
    return found


def placement(file: Path) -> Found:
    blocks: dict[int, list[tuple[int, int, int, int]]] = {}
    for _, birth, death, size, heap, offset, _, _ in struct.iter_unpack(">8Q", file.read_bytes()):
        blocks.setdefault(heap, []).append((heap + offset, size, birth, death - 1))
    return extents(blocks)


def trace(file: Path) -> Found:
    data, at, calls = file.read_bytes(), 0, []
    while at < len(data):
        count = data[at] & 15
        calls.append((data[at] >> 4, struct.unpack(f">{count}Q", data[at + 1 : at + 1 + 8 * count])))
        at += 1 + 8 * count
    blocks: dict[int, list[tuple[int, int, int, int]]] = {}
    for start, (kind, words) in enumerate(calls):
        if kind == 1:
            continue
        address, size, _, heap = words[-4:]
        released = [
            at for at, (kind, words) in enumerate(calls) if at > start and kind in (1, 3) and words[0] == address
        ]
        # The call that releases the block is the first step after it.
        blocks.setdefault(heap, []).append((address, size, start, min(released, default=len(calls)) - 1))
    return extents(blocks)


KINDS = {"-buffer-assignment.txt": xla, ".layout-slices.mlir": iree, ".capture.json": document, ".pickle": torch}
KINDS |= {".plc": placement, ".trc": trace}


def main() -> int:
    plimsoll, folders = sys.argv[1], sys.argv[2:]
    files = plans = wrong = at_load = 0
    for file in sorted(path for folder in folders for path in Path(folder).iterdir()):
        read = next((read for end, read in KINDS.items() if file.name.endswith(end)), None)
        expected = read(file) if read else []
        if not expected:
            continue
        command = [plimsoll, "audit", str(file), "--json", "--node-limit", "1000"]
        done = subprocess.run(command, capture_output=True, text=True)
        output = json.loads(done.stdout) if done.stdout else {"cases": []}
        cases = output.get("cases", [output])
        found = [(case["load"], case["planner_peak"]) for case in cases]
        files, plans = files + 1, plans + len(cases)
        at_load += sum(case["load"] == case["lower_bound"] for case in cases)
        if sorted(found) != sorted(expected):
            wrong += 1
            print(f"{file}: found {found}, expected {expected}")
    print(f"{files} files, {plans} plans, {at_load} with a lower bound equal to the load; {wrong} files differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
