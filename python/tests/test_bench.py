import csv
import json
import os
import subprocess

import numpy as np
import pandas
import plimsoll
import pytest

NATIVE = os.environ.get("PLIMSOLL_NATIVE")

ROWS = [(0, 2, 4), (1, 4, 6), (3, 6, 2)]


def rows_of(result):
    records = result.to_dict("records") if hasattr(result, "to_dict") else result
    return {record["algorithm"]: record for record in records}


def stacked(instance):
    return np.concatenate([[0], np.cumsum(instance.size)[:-1]])


def paged(instance):
    return [4096 * at for at in range(len(instance))]


def overlapping(instance):
    return [0] * len(instance)


def failing(instance):
    raise RuntimeError("on request")


def short(instance):
    return [0]


def test_functions_are_checked():
    algorithms = ["exact", "greedy-by-size", stacked, paged, overlapping, failing, short]
    rows = rows_of(plimsoll.bench([plimsoll.Instance(ROWS, name="small")], algorithms, time_limit=1))
    assert rows["exact"]["claim"] == "optimal" and rows["exact"]["instance"] == "small"
    assert rows["stacked"]["status"] == "done" and rows["stacked"]["value"] == 12
    assert rows["stacked"]["gap_percent"] == 20.0
    assert rows["paged"]["claim"] == "feasible" and rows["paged"]["value"] == 8194
    assert rows["overlapping"]["status"] == "refused" and "share" in rows["overlapping"]["error"]
    assert rows["failing"]["status"] == "failed" and "on request" in rows["failing"]["error"]
    assert rows["short"]["status"] == "failed" and "1 offsets" in rows["short"]["error"]


def test_rows_are_typed():
    """The values and types are the same with pandas, without it, and in a file that pandas reads."""
    args = ([plimsoll.Instance(ROWS, name="small")], ["exact", "greedy-by-size", overlapping])
    plain = plimsoll._core.bench(*args)
    exact = plain[0]
    assert exact["value"] == 10 and exact["gap_percent"] == 0.0 and exact["whole_process"] is False
    assert exact["capacity"] is None and exact["claim"] == "optimal" and plain[2]["claim"] is None
    assert exact["witness"] == {"kind": "load", "step": 1} and exact["counters"].keys() is not None
    assert all(type(row["seconds"]) is float and type(row["nodes"]) in (int, type(None)) for row in plain)
    frame = plimsoll.bench(*args)
    assert frame["value"].dtype == "Int64" and frame["seconds"].dtype == "Float64"
    assert frame["whole_process"].dtype == "boolean" and frame["value"].isna().tolist() == [False, False, True]
    same = [name for name in plain[0] if name not in ("seconds", "own_seconds", "phases", "timestamp", "resident_bytes")]
    for name in [name for name in same if name != "peak_memory_bytes"]:
        values = [None if value is None or value is pandas.NA else value for value in frame[name]]
        assert values == [row[name] for row in plain], name


def test_one_instance_and_one_algorithm():
    for algorithm, name in [("exact", "exact"), (lambda instance: [6, 0, 6], "<lambda>")]:
        rows = rows_of(plimsoll.bench(plimsoll.Instance(ROWS), algorithm))
        assert list(rows) == [name] and rows[name]["claim"] == "optimal"


def test_functions_of_equal_names_are_numbered():
    functions = [lambda instance: [6, 0, 6], lambda instance: [0, 4, 10], stacked, lambda instance: [0, 4, 0]]
    rows = rows_of(plimsoll.bench([ROWS], functions))
    assert list(rows) == ["<lambda>", "<lambda>-2", "stacked", "<lambda>-3"]
    assert [row["value"] for row in rows.values()] == [10, 12, 12, 10]

    def exact(instance):
        return [6, 0, 6]

    with pytest.raises(ValueError, match="'exact' has the name of a built-in algorithm; set its __name__"):
        plimsoll.bench([ROWS], [exact])


@pytest.mark.parametrize("writer", ["frame", "frame read again", "rows"])
def test_written_records_are_read_again(writer, tmp_path):
    """The command and `report` read what pandas and the module csv write."""
    frame = plimsoll.bench([plimsoll.Instance(ROWS, name="small")], ["exact", "greedy-by-size", overlapping])
    path = tmp_path / "rows.csv"
    if writer == "rows":
        rows = plimsoll._core.bench([ROWS], ["exact", "greedy-by-size"])
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        assert "greedy-by-size" in plimsoll.report(rows)
    else:
        frame.to_csv(path, index=False)
        if writer == "frame read again":
            # Columns of integers with missing values become columns of floating-point numbers.
            pandas.read_csv(path).to_csv(path, index=False)
            assert "10.0" in path.read_text()
        assert "greedy-by-size" in plimsoll.report(frame)
    page = plimsoll.report(str(path), title="Two planners")
    assert "<title>Two planners" in page and page == plimsoll.report([path], title="Two planners")
    if NATIVE:
        words = [NATIVE, "report", path, "--out", tmp_path / "page", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["runs"] == (2 if writer == "rows" else 3)


def test_wrong_records_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    frame = plimsoll.bench([ROWS], "exact")
    frame.assign(value="ten").to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"rows\.csv: line 2: value is 'ten'"):
        plimsoll.report(path)
    with pytest.raises(ValueError, match="there are no records"):
        plimsoll.report([])


def endless(instance):
    while True:
        pass


def careful(instance, time_limit):
    assert time_limit == 0.2
    return stacked(instance)


def test_functions_have_the_time_limit():
    rows = rows_of(plimsoll.bench([plimsoll.Instance(ROWS)] * 2, [endless, careful, stacked], time_limit=0.2))
    assert rows["endless"]["status"] == "failed"
    assert "ran longer than its time limit of 0.2 s" in rows["endless"]["error"]
    assert rows["careful"]["status"] == rows["stacked"]["status"] == "done"
