"""Records of benchmarks: rows with the columns of the command ``bench``, and reports on them."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._core import Instance


class Cell(dict[str, Any]):
    """The content of a cell with several numbers. As in the files of the command, its text is JSON, or nothing
    if there are no numbers."""

    def __str__(self) -> str:
        return json.dumps(self) if self else ""


def read(text: str) -> Any:
    """Reads rows from JSON."""
    return json.loads(text, object_hook=Cell)


def bench(
    instances: Iterable[Any],
    algorithms: str | Callable[[Instance], Any] | Iterable[str | Callable[[Instance], Any]],
    *,
    time_limit: float | None = 10.0,
    seed: int = 0,
    threads: int = 1,
) -> Any:
    """Runs algorithms on instances, and returns one row per run, with the columns of the command ``bench``.

    ``instances`` is a list of instances or a single :class:`Instance`, and ``algorithms`` is a list of algorithms
    or a single one. An algorithm is a registered name, or a function that receives an :class:`Instance` and
    returns one offset per buffer. Its name in the rows is ``__name__``; if several functions have the same name,
    such as ``<lambda>``, a number follows. The checker validates the offsets: an invalid layout gives a row with
    the status ``refused``, and an exception gives a row with the status ``failed``.

    The result is a pandas data frame with nullable types or, if pandas is not installed, a list of dictionaries.
    A missing value is ``NA`` or ``None``. The command and :func:`report` read the frame as written by
    ``frame.to_csv(path, index=False)``.
    """
    if isinstance(instances, Instance):
        instances = [instances]
    if isinstance(algorithms, str) or callable(algorithms):
        algorithms = [algorithms]
    rows = _core.bench(
        list(instances), list(algorithms), time_limit=time_limit, seed=seed, threads=threads
    )
    try:
        import pandas
    except ImportError:
        return rows
    frame = pandas.DataFrame(rows)
    # `convert_dtypes` would turn seconds that happen to be whole numbers into integers.
    nullable = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
    for name in frame.columns:
        kinds = {type(row[name]) for row in rows if row[name] is not None}
        if len(kinds) == 1 and (dtype := nullable.get(kinds.pop())):
            frame[name] = pandas.array([row[name] for row in rows], dtype=dtype)
    return frame


def report(records: Any, *, title: str = "Plimsoll report") -> str:
    """Analyses records, and returns the tables and charts as one HTML page.

    ``records`` is the result of :func:`bench`, or one or several paths: folders written by the commands ``bench``
    and ``sweep``, or CSV files of rows. The page needs no other files.

    Raises FileNotFoundError for a missing path, and ValueError with the line, the column and the value for a row
    that is not valid.
    """
    if isinstance(records, (str, os.PathLike)):
        return _core.report([records], title)
    if not hasattr(records, "to_csv"):
        records = list(records)
        if not records:
            raise ValueError("there are no records")
        if all(isinstance(record, (str, os.PathLike)) for record in records):
            return _core.report(records, title)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        if hasattr(records, "to_csv"):
            records.to_csv(path, index=False)
        else:
            _write(records, path)
        return _core.report([path], title)


def _write(rows: Sequence[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
