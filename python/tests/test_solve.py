import os
import signal
import threading
import time

import numpy as np
import plimsoll
import pytest

ROWS = [(0, 2, 4), (1, 4, 6), (3, 6, 2)]


def hard(seed=1, live=22, steps=30):
    """An instance with constant load, whose optimum takes a long time to prove."""
    random = np.random.default_rng(seed)
    open_since = [(0, int(random.integers(3, 18))) for _ in range(live)]
    rows = []
    for step in range(1, steps):
        kept, freed = [], 0
        for start, size in open_since:
            if random.random() < 0.75:
                kept.append((start, size))
            else:
                rows.append((start, step, size))
                freed += size
        while freed:
            size = min(freed, int(random.integers(3, 18)))
            kept.append((step, size))
            freed -= size
        open_since = kept
    return rows + [(start, steps, size) for start, size in open_since]


def test_an_answer():
    solution = plimsoll.solve(ROWS)
    assert (solution.status, solution.termination) == ("optimal", "completed")
    assert (solution.peak, solution.lower_bound, solution.gap) == (10, 10, 0.0)
    assert solution.offsets.dtype == np.uint64
    assert solution.instance.violations(solution.offsets) == []
    assert solution.witness == "load at step 1"
    assert "optimal" in repr(solution) and solution.seconds >= 0
    assert '"claim": "optimal"' in solution.certificate()
    assert solution.svg().startswith("<svg") and "<svg" in solution._repr_html_()


def test_algorithms():
    names = [one["name"] for one in plimsoll.algorithms()]
    assert {"exact", "greedy-by-size"} <= set(names)
    for name in names:
        if name != "brute-force":
            solution = plimsoll.solve(ROWS, algorithm=name)
            assert solution.peak >= 10 and solution.algorithm == name
    parameters = {one["name"]: one["parameters"] for one in plimsoll.algorithms()}
    assert parameters["naive"] == {} and "-memo" in parameters["search"]
    assert plimsoll.solve(ROWS, algorithm="search:-twins:-memo").algorithm == "search:-memo:-twins"
    with pytest.raises(ValueError, match="unknown algorithm 'none'"):
        plimsoll.solve(ROWS, algorithm="none")
    with pytest.raises(ValueError, match="'search' has no parameter '-mem'"):
        plimsoll.solve(ROWS, algorithm="search:-mem")


def test_capacity():
    infeasible = plimsoll.solve(ROWS, capacity=9)
    assert infeasible.status == "infeasible" and infeasible.lower_bound == 10
    assert plimsoll.solve(ROWS, capacity=10).status == "optimal"


def test_limits():
    rows = hard()
    limited = plimsoll.solve(rows, time_limit=0.2)
    assert limited.status == "feasible" and limited.termination == "time-limit"
    nodes = plimsoll.solve(rows, node_limit=1000, seed=3)
    again = plimsoll.solve(rows, node_limit=1000, seed=3)
    assert nodes.termination == "node-limit" and (nodes.offsets == again.offsets).all()
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="time_limit"):
            plimsoll.solve(rows, time_limit=wrong)


def test_progress():
    seen = []
    solution = plimsoll.solve(hard(2), time_limit=0.3, progress=lambda peak, bound: seen.append((peak, bound)))
    peaks = [peak for peak, _ in seen if peak is not None]
    assert peaks == sorted(peaks, reverse=True) and peaks[-1] == solution.peak
    assert seen[-1][1] <= solution.lower_bound

    def fail(peak, bound):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        plimsoll.solve(hard(2), progress=fail)


def interrupted_after(seconds):
    # Background processes of a shell ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    return time.monotonic()


def test_interrupt_returns_the_best_answer():
    started = interrupted_after(0.3)
    solution = plimsoll.solve(hard(3), time_limit=60)
    assert time.monotonic() - started < 10
    assert solution.termination == "interrupted" and solution.status == "feasible"
    assert plimsoll.solve(ROWS).status == "optimal"


def test_the_lock_is_released():
    count = 0
    done = threading.Event()

    def work():
        plimsoll.solve(hard(4), time_limit=0.5)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert count > 20


def test_comparison():
    compared = plimsoll.compare(ROWS, {"mine": [6, 0, 10], "optimal": [6, 0, 6], "wrong": [0, 0, 0]})
    assert [row["verdict"] for row in compared.rows] == ["above the optimum", "optimal", "invalid"]
    small = plimsoll.compare(plimsoll.Instance(ROWS, capacity=11), {"mine": [6, 0, 10]})
    assert [row["verdict"] for row in small.rows] == ["too large"]
    assert compared.rows[0]["gap_bytes"] == 2 and compared.rows[0]["gap"] == pytest.approx(0.2)
    assert compared.best_peak == compared.lower_bound == 10
    assert "mine" in compared.svg()
    with pytest.raises(ValueError, match="1 offsets"):
        plimsoll.compare(ROWS, {"short": [0]})


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = plimsoll.solve(ROWS).to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["offset"]) == [6, 0, 6]
