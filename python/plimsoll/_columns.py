"""Converts rows, dictionaries, arrays and data frames into the columns of an instance."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column: TypeAlias = list[int] | npt.NDArray[np.uint64]

#: The accepted names of each column: those of CSV files, and ``name`` for ``id``.
_NAMES = {
    "id": ("id", "buffer", "buffer_id", "name"),
    "lower": ("lower", "begin", "start"),
    "upper": ("upper",),
    "end": ("end", "finish"),
    "size": ("size",),
    "alignment": ("alignment",),
    "offset": ("offset",),
    "gaps": ("gaps",),
}
_ROWS = {3: ("lower", "upper", "size"), 4: ("id", "lower", "upper", "size")}


def columns(data: Any) -> dict[str, Any]:
    """Returns the columns of ``data`` by name. Numbers are arrays of ``uint64`` if they were given as arrays, and
    otherwise lists.

    ``data`` is a data frame or a mapping of columns, an array with three columns (lower, upper, size), or an
    iterable of rows. A row is a tuple ``(lower, upper, size)`` or ``(id, lower, upper, size)``, or a mapping.
    """
    found = _named(data)
    result: dict[str, Any] = {}
    for column, names in _NAMES.items():
        own = [name for name in names if name in found]
        if len(own) > 1:
            raise ValueError(f"columns '{own[0]}' and '{own[1]}' have the same meaning")
        if own:
            result[column] = found[own[0]]
    if "end" in result and "upper" in result:
        raise ValueError("both 'upper' (exclusive) and 'end' (inclusive) are given; use one of them")
    if "end" in result and "gaps" in result:
        raise ValueError("'gaps' are half-open intervals and need the column 'upper' instead of 'end'")
    end = "end" if "end" in result else "upper"
    for column in ("lower", end, "size"):
        if column not in result:
            raise ValueError(f"missing column '{column}'; given: {', '.join(map(str, found)) or 'none'}")
    result["upper"], is_open = _ends(end, result.pop(end))
    for column in ("lower", "size"):
        result[column] = _numbers(column, result[column])
    if "alignment" in result:
        result["alignment"] = _numbers("alignment", result["alignment"])
    if "offset" in result:
        result["offset"] = [_fixed(at, value) for at, value in enumerate(result["offset"])]
    if "id" in result:
        result["id"] = [str(one) for one in result["id"]]
    if "gaps" in result:
        result["gaps"] = [_gaps(at, one) for at, one in enumerate(result["gaps"])]
    length = len(result["lower"])
    for column, values in result.items():
        if len(values) != length:
            raise ValueError(f"column '{column}' has {len(values)} values, but 'lower' has {length}")
    if is_open:
        _close(result, is_open)
    return result


def _named(data: Any) -> Mapping[str, Any]:
    if isinstance(data, Mapping):
        return data
    if hasattr(data, "column_names") and hasattr(data, "column"):  # an Arrow table
        return {str(name): _of_frame(data.column(name)) for name in data.column_names}
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):  # pandas, Polars
        return {str(name): _of_frame(data[name]) for name in data.columns}
    if _is_array(data):
        if data.dtype.names is not None:
            return {name: data[name] for name in data.dtype.names}
        if data.ndim != 2 or data.shape[1] != 3:
            raise ValueError(f"an array must have the shape (n, 3): lower, upper, size; not {data.shape}")
        return dict(zip(_ROWS[3], data.T, strict=True))
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise TypeError(f"cannot read buffers from {type(data).__name__}; for a file, use plimsoll.read_csv")
    return _of_rows(list(data))


def _has_numpy() -> bool:
    """Returns True if NumPy is loaded, as it is if the caller passes its arrays."""
    return sys.modules.get("numpy") is not None


def _is_array(data: Any) -> bool:
    return _has_numpy() and isinstance(data, sys.modules["numpy"].ndarray)


def _of_frame(column: Any) -> Any:
    if _has_numpy() and hasattr(column, "to_numpy"):
        return column.to_numpy()
    convert = next((name for name in ("to_list", "to_pylist") if hasattr(column, name)), None)
    return column if convert is None else getattr(column, convert)()


def _of_rows(rows: list[Any]) -> Mapping[str, Any]:
    if not rows:
        return {name: [] for name in _ROWS[3]}
    if isinstance(rows[0], Mapping):
        names = list(dict.fromkeys(name for row in rows for name in row))
        optional = {"alignment": 1, "offset": None, "gaps": ()}
        table: dict[str, list[Any]] = {name: [] for name in names}
        for at, row in enumerate(rows):
            for name in names:
                if name not in row and name not in optional:
                    raise ValueError(f"row {at} has no '{name}'")
                table[name].append(row.get(name, optional.get(name)))
        return table
    width = len(rows[0]) if isinstance(rows[0], Sequence) or _is_array(rows[0]) else 0
    fields = _ROWS.get(width, ())
    for at, row in enumerate(rows):
        if not hasattr(row, "__len__") or len(row) not in _ROWS or len(row) != width:
            raise ValueError(
                f"row {at} is {row!r}; expected (lower, upper, size) or (id, lower, upper, size)"
            )
    return dict(zip(fields, map(list, zip(*rows, strict=True)), strict=True))


def _plain(column: str, values: Any) -> Any:
    """Returns a list, or an array if the values are given as one."""
    if not isinstance(values, Iterable):
        raise ValueError(f"column '{column}' is {values!r}; expected one value per buffer")
    if hasattr(values, "__array__") and _has_numpy():
        import numpy as np

        array = np.asarray(values)
        return array.tolist() if array.dtype.kind == "O" and array.ndim == 1 else array
    return values if isinstance(values, list) else list(values)


def _numbers(column: str, values: Any) -> Column:
    values = _plain(column, values)
    return _of_array(column, values) if _is_array(values) else _of_list(column, values)


def _of_list(column: str, values: list[Any]) -> list[int]:
    if not all(type(value) is int for value in values):
        values = [_integer(column, at, value) for at, value in enumerate(values)]
    if values and not 0 <= min(values) <= max(values) < 2**64:
        at, wrong = next((at, value) for at, value in enumerate(values) if not 0 <= value < 2**64)
        why = "negative" if wrong < 0 else "not between 0 and 2^64 - 1"
        raise ValueError(f"{column}[{at}] is {wrong}, which is {why}")
    return values


def _integer(column: str, at: int, value: Any) -> int:
    if not isinstance(value, bool):
        if hasattr(value, "__index__"):
            return operator.index(value)
        # Floating-point numbers of Python and NumPy.
        if hasattr(value, "is_integer") and value.is_integer() and abs(value) <= 2**53:
            return int(value)
    raise ValueError(f"{column}[{at}] is {value!r}, which is not an integer")


def _of_array(column: str, array: Any) -> npt.NDArray[np.uint64]:
    import numpy as np

    if array.ndim != 1:
        raise ValueError(f"column '{column}' must have one dimension, not {array.ndim}")
    if array.size == 0:
        return np.empty(0, dtype=np.uint64)
    if array.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) > 2**53))
        if wrong.size:
            raise ValueError(f"{column}[{wrong[0]}] is {array[wrong[0]]}, which is not an integer")
    elif array.dtype.kind not in "iu":
        raise ValueError(f"column '{column}' has the type {array.dtype}; expected integers")
    if array.dtype.kind in "if":
        negative = np.flatnonzero(array < 0)
        if negative.size:
            raise ValueError(f"{column}[{negative[0]}] is {array[negative[0]]}, which is negative")
    return np.ascontiguousarray(array, dtype=np.uint64)


def _ends(column: str, values: Any) -> tuple[Column, list[int]]:
    """Returns the exclusive ends, and the positions of open ends: None, NaN, infinity or -1. Open ends are 0."""
    values = _plain(column, values)
    if _is_array(values):
        import numpy as np

        mask = values == -1
        if values.dtype.kind == "f":
            mask |= np.isnan(values) | np.isposinf(values)
        is_open = np.flatnonzero(mask).tolist()
        values = np.where(mask, 0, values) if is_open else values
    else:
        is_open = [at for at, value in enumerate(values) if _is_open(value)]
        if is_open:
            values = list(values)
            for at in is_open:
                values[at] = 0
    ends = _numbers(column, values)
    if column == "end":
        if (last := 2**64 - 1) in ends:
            raise ValueError(f"end[{list(ends).index(last)}] is {last}, which is not below 2^64 - 1")
        ends = [end + 1 for end in ends] if isinstance(ends, list) else ends + 1
    return ends, is_open


def _is_open(end: Any) -> bool:
    if end is None or type(end).__name__ == "NAType":  # the missing value of pandas
        return True
    return _is_number(end) and bool(end == -1 or end == math.inf or end != end)


def _close(result: dict[str, Any], is_open: list[int]) -> None:
    """Replaces open ends by the last end. An open lifespan has a step after its start and after each gap."""
    upper, lower = result["upper"], result["lower"]
    gaps = result.get("gaps", [[]] * len(upper))
    least = max(max([int(lower[at]), *(gap[1] for gap in gaps[at])]) + 1 for at in is_open)
    last = max(least, int(upper.max() if _is_array(upper) else max(upper)))
    if last >= 2**64:
        raise ValueError(f"the last step is {last - 1}, which is not below 2^64 - 1")
    for at in is_open:
        upper[at] = last


def _fixed(at: int, value: Any) -> int | None:
    if value is None or value == "" or type(value).__name__ == "NAType" or (_is_number(value) and value != value):
        return None
    return _of_list("offset", [_integer("offset", at, value)])[0]


def _gaps(at: int, gaps: Any) -> list[tuple[int, int]]:
    try:
        return [(int(lower), int(upper)) for lower, upper in gaps]
    except (TypeError, ValueError):
        raise ValueError(f"gaps[{at}] is {gaps!r}; expected pairs (lower, upper)") from None


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and (hasattr(value, "__index__") or hasattr(value, "is_integer"))


def offsets(values: Any, length: int) -> Column:
    """Returns one offset per buffer."""
    found = _numbers("offsets", values)
    if len(found) != length:
        raise ValueError(f"{len(found)} offsets are given, but the instance has {length} buffers")
    return found
