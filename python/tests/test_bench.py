import numpy as np
import pandas
import plimsoll

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


def test_one_instance_and_a_lambda():
    rows = rows_of(plimsoll.bench(plimsoll.Instance(ROWS), [lambda instance: [6, 0, 6]]))
    assert rows["<lambda>"]["claim"] == "optimal"


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
