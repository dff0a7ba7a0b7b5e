"""Writes small samples of formats that need a GPU or a patched program to record.

    python samples.py FOLDER

Writes `snapshot.pickle`, a memory snapshot of PyTorch, and `trace.trc` and `trace.plc` of idealloc. The samples
have the documented structure of these files (see `docs/src/formats/captures.md`), but no real program was recorded.
`datasets/tests/data/captures` contains them.
"""

from __future__ import annotations

import pickle
import struct
import sys
from pathlib import Path
from typing import Any

MIB = 1 << 20
# Sizes of a small network on stream 0: each entry allocates a size, or releases the entry with this number.
STEPS: list[tuple[str, int]] = [
    ("alloc", 602_112),
    ("alloc", 401_408),
    ("free", 0),
    ("alloc", 1_204_224),
    ("alloc", 301_056),
    ("free", 1),
    ("alloc", 150_528),
    ("free", 3),
    ("alloc", 903_168),
    ("free", 4),
    ("free", 6),
    ("free", 8),
]


class Allocator:
    """Best fit in segments of 2 MiB, with blocks of multiples of 512 bytes, like PyTorch's pool of large blocks."""

    def __init__(self) -> None:
        self.trace: list[dict[str, Any]] = []
        self.segments: list[dict[str, Any]] = []
        frame = {"filename": "net.py", "line": 7, "name": "forward"}
        # Real snapshots share frames between events.
        self.frames = [frame]

    def event(self, action: str, address: int, size: int, stream: int) -> None:
        entry = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": len(self.trace)}
        self.trace.append(entry | {"pool_id": (0, 0), "frames": self.frames})

    def alloc(self, size: int, stream: int) -> int:
        rounded = -(-size // 512) * 512
        free = [
            (block["size"], block["address"], segment["blocks"], block)
            for segment in self.segments
            if segment["stream"] == stream
            for block in segment["blocks"]
            if block["state"] == "inactive" and block["size"] >= rounded
        ]
        if not free:
            address = 0x7F00_0000_0000 + 16 * MIB * len(self.segments)
            block = {"size": 2 * MIB, "requested_size": 0, "address": address, "state": "inactive", "frames": []}
            segment = {"device": 0, "address": address, "total_size": 2 * MIB, "stream": stream, "blocks": [block]}
            self.segments.append(segment | {"segment_pool_id": (0, 0), "segment_type": "large"})
            self.event("segment_alloc", address, 2 * MIB, stream)
            return self.alloc(size, stream)
        _, address, blocks, block = min(free, key=lambda one: one[:2])
        rest = {**block, "size": block["size"] - rounded, "address": address + rounded}
        block.update(size=rounded, requested_size=size, state="active_allocated")
        if rest["size"]:
            blocks.insert(blocks.index(block) + 1, rest)
        self.event("alloc", address, size, stream)
        return address

    def free(self, address: int, stream: int) -> None:
        for segment in self.segments:
            for block in segment["blocks"]:
                if block["address"] == address:
                    size = block["requested_size"]
                    block.update(requested_size=0, state="inactive")
            blocks = segment["blocks"]
            for left, right in reversed(list(zip(blocks, blocks[1:], strict=False))):
                if left["state"] == right["state"] == "inactive":
                    left["size"] += right["size"]
                    blocks.remove(right)
        self.event("free_requested", address, size, stream)
        self.event("free_completed", address, size, stream)


def snapshot() -> dict[str, Any]:
    """Returns a snapshot with two streams. A block of stream 0 is older than the trace and never released."""
    allocator = Allocator()
    allocator.alloc(4096, 0)
    early = allocator.alloc(65_536, 0)
    allocator.trace.clear()
    places: dict[int, int] = {}
    for at, (action, number) in enumerate(STEPS):
        if action == "alloc":
            places[at] = allocator.alloc(number, 0)
        else:
            allocator.free(places[number], 0)
        if at == 3:
            allocator.free(early, 0)
        if at == 5:
            copied = allocator.alloc(32_768, 7)
    allocator.free(copied, 7)
    for segment in allocator.segments:
        active = [block for block in segment["blocks"] if block["state"] != "inactive"]
        size = sum(block["size"] for block in active)
        requested = sum(block["requested_size"] for block in active)
        segment.update(allocated_size=size, active_size=size, requested_size=requested)
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "garbage_collection_threshold": 0.0, "expandable_segments": False}
    traces = {"device_traces": [allocator.trace], "allocator_settings": settings}
    return {"segments": allocator.segments, **traces, "external_annotations": []}


HEAP, MAPPED, THREAD = 0x5555_5555_9000, 0x7FFF_F000_0000, 0x7FFF_F7D8_0740


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)


def trace() -> bytes:
    """Returns calls of each memory function, with addresses of a heap and of one mapping of its own."""

    def result(offset: int, size: int, mapping: int = HEAP) -> tuple[int, ...]:
        return (mapping + offset, size, THREAD, mapping)

    calls = [
        b"\x05" + words(100, *result(0x2A0, 104)),
        b"\x26" + words(10, 20, *result(0x310, 200)),
        b"\x05" + words(50, *result(0x3E0, 56)),
        b"\x12" + words(HEAP + 0x310, THREAD),
        b"\x36" + words(HEAP + 0x2A0, 180, *result(0x310, 200)),
        b"\x05" + words(1_048_576, *result(0x10, 1_052_656, MAPPED)),
        b"\x46" + words(64, 128, *result(0x440, 136)),
        b"\x12" + words(0, THREAD),
        b"\x12" + words(HEAP + 0x3E0, THREAD),
        b"\x56" + words(32, 64, *result(0x4E0, 72)),
        b"\x67" + words(0x7FFF_FFFF_0000, 256, 256, *result(0x600, 264)),
        b"\x12" + words(MAPPED + 0x10, THREAD),
        b"\x12" + words(HEAP + 0x440, THREAD),
        b"\x05" + words(24, *result(0x3E0, 24)),
    ]
    return b"".join(calls)


def placement() -> bytes:
    """Returns five blocks of one mapping: id, birth, death, size, mapping, offset, alignment, requested size."""
    rows = [(0, 0, 300, 1024, 0), (1, 100, 400, 512, 1024), (2, 200, 700, 256, 1536), (3, 300, 500, 1280, 1792)]
    rows.append((4, 500, 800, 768, 0))
    return b"".join(words(*row[:4], HEAP, row[4], 16, row[3] - 8) for row in rows)


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "snapshot.pickle").write_bytes(pickle.dumps(snapshot(), protocol=4))
    (folder / "trace.trc").write_bytes(trace())
    (folder / "trace.plc").write_bytes(placement())
    return 0


if __name__ == "__main__":
    sys.exit(main())
