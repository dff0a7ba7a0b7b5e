"""Converts rows, dictionaries, arrays and data frames into the columns of an instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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
    """Returns the columns of ``data`` by name; numbers are arrays of ``uint64``.

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
    if is_open.any():
        _close(result, is_open)
    return result


def _named(data: Any) -> Mapping[str, Any]:
    if isinstance(data, Mapping):
        return data
    if hasattr(data, "column_names") and hasattr(data, "column"):  # an Arrow table
        return {str(name): _of_frame(data.column(name)) for name in data.column_names}
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):  # pandas, Polars
        return {str(name): _of_frame(data[name]) for name in data.columns}
    if isinstance(data, np.ndarray):
        if data.dtype.names is not None:
            return {name: data[name] for name in data.dtype.names}
        if data.ndim != 2 or data.shape[1] != 3:
            raise ValueError(f"an array must have the shape (n, 3): lower, upper, size; not {data.shape}")
        return dict(zip(_ROWS[3], data.T, strict=True))
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise TypeError(f"cannot read buffers from {type(data).__name__}; for a file, use plimsoll.read_csv")
    return _of_rows(list(data))


def _of_frame(column: Any) -> Any:
    return column.to_numpy() if hasattr(column, "to_numpy") else column


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
    width = len(rows[0]) if isinstance(rows[0], Sequence) or isinstance(rows[0], np.ndarray) else 0
    fields = _ROWS.get(width, ())
    for at, row in enumerate(rows):
        if not hasattr(row, "__len__") or len(row) not in _ROWS or len(row) != width:
            raise ValueError(
                f"row {at} is {row!r}; expected (lower, upper, size) or (id, lower, upper, size)"
            )
    return dict(zip(fields, map(list, zip(*rows, strict=True)), strict=True))


def _numbers(column: str, values: Any) -> npt.NDArray[np.uint64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"column '{column}' must have one dimension, not {array.ndim}")
    if array.size == 0:
        return np.empty(0, dtype=np.uint64)
    if array.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) > 2**53))
        if wrong.size:
            raise ValueError(f"{column}[{wrong[0]}] is {array[wrong[0]]}, which is not an integer")
    elif array.dtype.kind == "O":
        for at, value in enumerate(array):
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise ValueError(f"{column}[{at}] is {value!r}, which is not an integer")
            if not 0 <= value < 2**64:
                raise ValueError(f"{column}[{at}] is {value}, which is not between 0 and 2^64 - 1")
    elif array.dtype.kind not in "iu":
        raise ValueError(f"column '{column}' has the type {array.dtype}; expected integers")
    if array.dtype.kind in "if":
        negative = np.flatnonzero(array < 0)
        if negative.size:
            raise ValueError(f"{column}[{negative[0]}] is {array[negative[0]]}, which is negative")
    return np.ascontiguousarray(array, dtype=np.uint64)


def _ends(column: str, values: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Returns the exclusive ends, and which of them are open: None, NaN, infinity or -1."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        is_open = np.isnan(array) | np.isposinf(array) | (array == -1)
    elif array.dtype.kind == "i":
        is_open = array == -1
    elif array.dtype.kind == "O" and array.ndim == 1:
        is_open = np.fromiter((_is_open(value) for value in array), dtype=bool, count=len(array))
    else:
        is_open = np.zeros(array.shape, dtype=bool)
    if is_open.any():
        array = np.where(is_open, 0, array)
    if array.dtype.kind == "O":  # None beside floats
        whole = [int(one) if isinstance(one, float) and one.is_integer() else one for one in array]
        array = np.array(whole, dtype=object)
    ends = _numbers(column, array)
    return (ends + np.uint64(1) if column == "end" else ends), is_open


def _is_open(end: Any) -> bool:
    if end is None or type(end).__name__ == "NAType":  # the missing value of pandas
        return True
    return _is_number(end) and bool(end == -1 or end == np.inf or end != end)


def _close(result: dict[str, Any], is_open: npt.NDArray[np.bool_]) -> None:
    """Replaces open ends by the last end. An open lifespan has a step after its start and after each gap."""
    upper, lower = result["upper"], result["lower"]
    gaps = result.get("gaps", [[]] * len(upper))
    least = [max([int(lower[at]), *(gap[1] for gap in gaps[at])]) + 1 for at in np.flatnonzero(is_open)]
    last = max([*least, int(upper.max(initial=0, where=~is_open))])
    if last >= 2**64:
        raise ValueError(f"the last step is {last - 1}, which is not below 2^64 - 1")
    result["upper"] = np.where(is_open, np.uint64(last), upper)


def _fixed(at: int, value: Any) -> int | None:
    if value is None or value == "" or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return None
    return int(_numbers("offset", [value])[0]) if _is_number(value) else _reject("offset", at, value)


def _gaps(at: int, gaps: Any) -> list[tuple[int, int]]:
    try:
        return [(int(lower), int(upper)) for lower, upper in gaps]
    except (TypeError, ValueError):
        raise ValueError(f"gaps[{at}] is {gaps!r}; expected pairs (lower, upper)") from None


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and (hasattr(value, "__index__") or isinstance(value, (float, np.floating)))


def _reject(column: str, at: int, value: Any) -> int:
    raise ValueError(f"{column}[{at}] is {value!r}, which is not an integer")


def offsets(values: Any, length: int) -> npt.NDArray[np.uint64]:
    """Returns an array with one offset per buffer."""
    array = _numbers("offsets", values)
    if len(array) != length:
        raise ValueError(f"{len(array)} offsets are given, but the instance has {length} buffers")
    return array
