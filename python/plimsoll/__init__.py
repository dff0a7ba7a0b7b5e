"""How low can the peak memory of a neural-network program go, and what proves it?

>>> import plimsoll
>>> solution = plimsoll.solve([(0, 2, 4), (1, 4, 6), (3, 6, 2)])  # (lower, upper, size)
>>> solution.status, solution.peak
('optimal', 10)

Lifespans are half-open intervals of steps, and sizes and offsets are in bytes. Every answer has passed an
independent checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._core import (
    Comparison,
    Graph,
    Instance,
    Plan,
    Solution,
    __version__,
    algorithms,
    compare,
    load_model,
    read_csv,
    solve,
)

__all__ = [
    "Comparison",
    "Graph",
    "Instance",
    "Plan",
    "Solution",
    "__version__",
    "algorithms",
    "bench",
    "compare",
    "load_model",
    "read_csv",
    "solve",
]


def bench(
    instances: Iterable[Any],
    algorithms: Iterable[str | Callable[[Instance], Any]],
    *,
    time_limit: float | None = 10.0,
    seed: int = 0,
    threads: int = 1,
) -> Any:
    """Runs algorithms on instances, and returns one row per run, with the columns of the command ``bench``.

    An algorithm is a registered name, or a function that receives an :class:`Instance` and returns one offset
    per buffer. The checker validates these offsets: an invalid layout gives a row with the status ``refused``,
    and an exception gives a row with the status ``failed``. The result is a pandas data frame with nullable
    types or, if pandas is not installed, a list of dictionaries. A missing value is ``NA`` or ``None``.
    """
    if isinstance(instances, Instance):
        instances = [instances]
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
