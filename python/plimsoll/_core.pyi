"""The extension module; use the package `plimsoll` instead."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

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

__version__: str

from ._types import (
    Algorithm,
    AuditedPlan,
    Boundary,
    Buffer,
    ComparedLayout,
    Fusion,
    Order,
    PlacedBuffer,
    Spill,
    Status,
    Termination,
    Tiers,
    Timeline,
    Verification,
)

@final
class Instance:
    """A validated, immutable list of buffers with an optional capacity.

    ``buffers`` is one of the following: an iterable of rows; a mapping of columns; an integer array of shape
    (n, 3); a pandas or Polars data frame; an Arrow table. A row is a tuple ``(lower, upper, size)`` or
    ``(id, lower, upper, size)``, or a mapping. Three columns are required: the start, ``lower``; the end, as
    ``upper`` (exclusive) or ``end`` or ``finish`` (inclusive); and ``size``. Starts and ends are in steps, and
    sizes in bytes. An end of None, NaN, infinity or -1 stands for the last end of all buffers. The optional
    columns are ``id``, ``alignment``, ``offset`` (fixed, or None) and ``gaps`` (pairs of steps). If every
    buffer has an offset, the offsets are a plan and fix nothing. ``separations`` and ``exclusions`` are lists
    of pairs of buffers, given by their positions.
    ``above`` is a list of triples ``(upper, lower, distance)``: buffer ``upper`` must lie exactly ``distance``
    bytes above buffer ``lower``. Not all algorithms support such instances.

    Arrays, such as ``size``, need NumPy; ``rows`` does not.

    Raises ValueError with the position and the value of the first invalid entry.
    """

    def __new__(
        cls,
        buffers: Any,
        *,
        capacity: int | None = None,
        name: str = "instance",
        separations: Sequence[tuple[int, int]] = ...,
        exclusions: Sequence[tuple[int, int]] = ...,
        above: Sequence[tuple[int, int, int]] = ...,
    ) -> Instance: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Instance: ...
    def __deepcopy__(self, _memo: Any) -> Instance: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def capacity(self) -> int | None: ...
    @property
    def load(self) -> int:
        """Maximum number of live bytes at any step."""
    @property
    def rows(self) -> list[Buffer]:
        """One dictionary per buffer, with the columns that the constructor accepts."""
    @property
    def ids(self) -> list[str]: ...
    @property
    def lower(self) -> npt.NDArray[np.uint64]: ...
    @property
    def upper(self) -> npt.NDArray[np.uint64]: ...
    @property
    def size(self) -> npt.NDArray[np.uint64]: ...
    @property
    def alignment(self) -> npt.NDArray[np.uint64]: ...
    @property
    def offsets(self) -> list[int | None]:
        """Fixed offsets in bytes, or the offsets of the plan if every buffer has one."""
    @property
    def above(self) -> list[tuple[int, int, int]]:
        """Triples ``(upper, lower, distance)`` of buffers at given distances above others, in bytes."""
    def without_offsets(self) -> Instance: ...
    def lower_bound(self) -> int:
        """Lower bound on the peak, in bytes, that follows from load, alignments and fixed offsets."""
    def with_capacity(self, capacity: int | None) -> Instance: ...
    def violations(self, offsets: npt.ArrayLike) -> list[str]:
        """One message per violation that the checker finds; an empty list means that the offsets are valid."""
    def peak(self, offsets: npt.ArrayLike) -> int:
        """Highest end address of any buffer, in bytes."""
    def to_csv(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class Solution:
    """A checked answer to the offset problem. Solutions are equal if they differ only in times and counters."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Solution: ...
    def __deepcopy__(self, _memo: Any) -> Solution: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def instance(self) -> Instance: ...
    @property
    def offsets(self) -> npt.NDArray[np.uint64] | None:
        """One offset per buffer in bytes, or None if no layout was found. Needs NumPy."""
    @property
    def rows(self) -> list[PlacedBuffer]:
        """One dictionary per buffer. The offsets are None if no layout was found."""
    @property
    def peak(self) -> int | None: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def status(self) -> Status:
        """The solution status, which states what is proved; ``termination`` states why the search ended."""
    @property
    def termination(self) -> Termination: ...
    @property
    def witness(self) -> str:
        """The reason why the lower bound holds."""
    @property
    def gap(self) -> float | None:
        """(peak - lower_bound) / lower_bound, or None if there is no layout or the bound is 0."""
    @property
    def algorithm(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    def certificate(self) -> str:
        """JSON for the command ``plimsoll verify --certificate``."""
    def svg(self) -> str | None:
        """The memory map of the layout as SVG, or None if there is no layout."""
    def to_pandas(self) -> Any:
        """A data frame with one row per buffer. Needs pandas."""
    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str: ...

@final
class Comparison:
    """Layouts of one instance, compared with the best lower bound."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Comparison: ...
    def __deepcopy__(self, _memo: Any) -> Comparison: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def rows(self) -> list[ComparedLayout]: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def best_peak(self) -> int | None: ...
    def to_pandas(self) -> Any: ...
    def svg(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class Graph:
    """A graph of operators and tensors, read by :func:`load_model`."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Graph: ...
    def __deepcopy__(self, _memo: Any) -> Graph: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def operators(self) -> list[str]: ...
    @property
    def tensors(self) -> list[tuple[str, int]]:
        """Names and sizes in bytes."""
    @property
    def assumed(self) -> list[str]:
        """The sizes that are assumed instead of inferred, one line each."""
    def order(self, *, time_limit: float | None = None, seed: int = 0, threads: int = 1) -> Order:
        """Orders the operators for the lowest peak of live bytes."""
    def plan(
        self,
        *,
        align: int = 1,
        boundary: Boundary = "arena",
        in_place: bool = False,
        weights: bool = False,
        no_states: bool = False,
        no_views: bool = False,
        capacity: int | None = None,
        time_limit: float | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> Plan:
        """Orders the operators, then places the tensors of the whole program.

        The arguments have the names, the meaning and the defaults of the options of the command ``plan``.
        ``capacity`` is that of the planned tensors. If the plan exceeds it, but no bound rules out another
        order, each region is also ordered and placed together. The better plan is returned.
        """
    def overlap(
        self, machine: str, *, time_limit: float | None = None, seed: int = 0, threads: int = 1
    ) -> Timeline:
        """Schedules the transfers of weights on a machine, which is the name of a preset or the path of a file.
        Times are in seconds."""
    def tiers(
        self, machine: str, *, time_limit: float | None = 10.0, seed: int = 0, threads: int = 1
    ) -> Tiers:
        """Assigns every tensor to one memory of a machine, which is the name of a preset or the path of a file, so
        that the transfers take the least time. Operators run in file order and are not fused. Times are in
        seconds, and sizes and offsets in bytes. ``tensors`` is empty if no assignment was found."""
    def fuse(
        self,
        patterns: str = "default",
        *,
        time_limit: float | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> Fusion:
        """Forms groups of operators that run as one, so that as many relations as possible are optimised.
        ``patterns`` is the name of a preset or the path of a file. ``groups`` lists the groups of all regions,
        with single operators, in an executable order."""

@final
class Plan:
    """The memory plan of a graph, checked by simulated execution."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Plan: ...
    def __deepcopy__(self, _memo: Any) -> Plan: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def instance(self) -> Instance: ...
    @property
    def offsets(self) -> npt.NDArray[np.uint64]:
        """One offset per buffer in bytes. Needs NumPy."""
    @property
    def rows(self) -> list[PlacedBuffer]:
        """One dictionary per buffer."""
    @property
    def peak(self) -> int: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def witness(self) -> str: ...
    @property
    def status(self) -> Literal["optimal", "feasible"]:
        """Whether the peak is proved to be the lowest of all layouts for the order of the plan."""
    @property
    def joint_bound(self) -> int:
        """Lower bound on the peak over all orders and layouts, in bytes."""
    @property
    def joint_witness(self) -> str:
        """The reason why that bound holds."""
    @property
    def fits(self) -> bool | None:
        """True if the plan fits into the capacity, and False if no order and no layout fits. None if neither
        is known, or if no capacity was given."""
    def svg(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

def algorithms() -> list[Algorithm]:
    """The algorithms that :func:`solve` accepts. A name may end with ``parameters`` of the algorithm, as in
    ``search:-memo:-twins``."""

def audit(
    path: str | PathLike[str], *, time_limit: float | None = 1.0, seed: int = 0, threads: int = 1
) -> list[AuditedPlan]:
    """Reports how far the plans of other planners in a file are from the lowest possible peak. The search for this
    peak takes at most ``time_limit`` seconds per plan.

    The file is a captured plan of a compiler or runtime, a TFLite model with an offline plan, or an instance (CSV)
    in which every buffer has an offset. ``peak`` is the memory that the planner reserves. ``instance`` contains the
    offsets of the planner, if they are known.

    Raises OSError for a file that cannot be read, and ValueError for a file without a plan.
    """

def bench(
    instances: Iterable[Any],
    algorithms: Iterable[str | Callable[[Instance], Any]],
    *,
    time_limit: float | None = 10.0,
    seed: int = 0,
    threads: int = 1,
) -> list[dict[str, Any]]: ...
def compare(
    instance: Any,
    layouts: Mapping[str, npt.ArrayLike],
    *,
    time_limit: float | None = 10.0,
    seed: int = 0,
    threads: int = 1,
) -> Comparison:
    """Compares layouts with each other and with the optimum. The search for the optimum takes at most
    ``time_limit`` seconds."""

def load_model(
    path: str | PathLike[str],
    *,
    batch: int | None = None,
    dims: Mapping[str, int] = ...,
    input_shapes: Mapping[str, Sequence[int]] = ...,
    dim_default: int | None = None,
    assume_bytes: int | None = None,
    trips: int | None = None,
) -> Graph:
    """Reads an ONNX or TFLite model, or a graph as JSON."""

def read_csv(path: str | PathLike[str], *, capacity: int | None = None) -> Instance:
    """Reads an instance, by default with the capacity in the file name (``NAME.CAPACITY.csv``)."""

def report(paths: Sequence[str | PathLike[str]], title: str) -> str: ...
def solve(
    instance: Any,
    *,
    capacity: int | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    algorithm: str = "exact",
    progress: Callable[[int | None, int], object] | None = None,
) -> Solution:
    """Places all buffers so that the peak is as low as possible.

    ``instance`` is an :class:`Instance` or anything that its constructor accepts. ``progress`` is called with
    the best peak so far (or None) and the best lower bound so far, in bytes. Ctrl-C ends the search, and the
    best layout so far is returned with the termination ``interrupted``; a second Ctrl-C raises
    KeyboardInterrupt. Without limits, the algorithm ``exact`` ends with a proof.
    """

def spill(
    instance: Any,
    *,
    capacity: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Spill:
    """Chooses the buffers to spill so that the others fit into the capacity, with the least traffic in bytes. A
    spilled buffer is written once and read once.

    ``spilled`` lists the ids of the spilled buffers. ``offsets`` has one offset per buffer, and None for a spilled
    buffer. Both are None if no choice was found. Raises ValueError if the instance has no capacity.
    """

def verify(
    instance: Any, offsets: npt.ArrayLike | None = None, *, certificate: str | None = None
) -> Verification:
    """Checks a layout, and the certificate of an answer (see :meth:`Solution.certificate`).

    ``offsets`` has one offset per buffer; by default, the plan in the instance is checked. The certificate is
    ``confirmed`` if its claim, peak and witness are correct, and ``refused`` if one of them is wrong. If the bound
    rests on a completed search, nothing contradicts it, but only a proof or a rerun can confirm it; the result is
    then ``rests-on-search``. ``reason`` states why a certificate is not confirmed.

    Raises ValueError for text that is not a certificate, and if the certificate is for a layout that is not given.
    """
