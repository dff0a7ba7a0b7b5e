"""Functions that the scripts `capture_*.py` share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def missing(cases: Iterable[tuple[str, Any]], ending: str) -> Iterator[tuple[Path, Any]]:
    """Yields the files that do not exist yet, with their cases. A case has a name, which is the start of the name of
    its file. The arguments of the script are the folder, and optionally the names of the cases."""
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in cases:
        file = folder / f"{name}{ending}"
        if (not wanted or name in wanted) and not file.exists():
            yield file, case


def write(file: Path, text: str) -> None:
    """Writes a file completely or not at all, and prints its name."""
    unfinished = file.with_suffix(".part")
    unfinished.write_text(text)
    unfinished.rename(file)
    print(file.name, flush=True)


def document(framework: str, version: str, planner: str, model: str, batch: int, memories: list[dict[str, Any]]) -> str:
    """Returns the text of a file in the format `plimsoll-capture`."""
    found = {
        "format": "plimsoll-capture",
        "version": 1,
        "framework": framework,
        "framework_version": version,
        "planner": planner,
        "model": model,
        "batch": batch,
        "memories": memories,
    }
    return json.dumps(found)
