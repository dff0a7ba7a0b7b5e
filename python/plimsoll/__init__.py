"""How low can the peak memory of a neural-network program go, and what proves it?

>>> import plimsoll
>>> solution = plimsoll.solve([(0, 2, 4), (1, 4, 6), (3, 6, 2)])  # (lower, upper, size)
>>> solution.status, solution.peak
('optimal', 10)

Lifespans are half-open intervals of steps, and sizes and offsets are in bytes. Every answer has passed an
independent checker.
"""

from __future__ import annotations

from ._core import (
    Comparison,
    Graph,
    Instance,
    Plan,
    Solution,
    __version__,
    algorithms,
    audit,
    compare,
    load_model,
    read_csv,
    solve,
    spill,
    verify,
)
from ._records import bench, report

__all__ = [
    "Comparison",
    "Graph",
    "Instance",
    "Plan",
    "Solution",
    "__version__",
    "algorithms",
    "audit",
    "bench",
    "compare",
    "load_model",
    "read_csv",
    "report",
    "solve",
    "spill",
    "verify",
]
