"""Tests that instances, graphs and answers can be compared, hashed, copied and pickled."""

import copy
import pickle
from pathlib import Path

import plimsoll
import pytest

ROWS = [("a", 0, 2, 4), ("b", 1, 4, 6), ("c", 3, 6, 2)]
MODEL = Path(__file__).parents[1] / "notebooks/model.json"
CONSTRAINED = {
    "lower": [0, 0, 4, 4],
    "upper": [4, 6, 6, 4],
    "size": [3, 4, 5, 0],
    "alignment": [1, 4, 1, 1],
    "offset": [None, 8, None, None],
    "gaps": [[(1, 2)], [], [], []],
}


def objects():
    instance = plimsoll.Instance(ROWS, capacity=12, name="small")
    graph = plimsoll.load_model(MODEL)
    return [
        instance,
        plimsoll.Instance(CONSTRAINED, separations=[(0, 2)], exclusions=[(0, 1)], above=[(2, 0, 8)]),
        plimsoll.Instance([{"lower": 0, "upper": 2, "size": 6, "offset": 9}]),
        plimsoll.Instance([]),
        plimsoll.solve(instance),
        plimsoll.solve(instance, capacity=9),
        plimsoll.compare(instance, {"mine": [6, 0, 10], "wrong": [0, 0, 0]}),
        graph,
        graph.plan(align=16, capacity=32_000),
    ]


@pytest.mark.parametrize("number", range(9))
def test_copies_are_equal(number):
    original = objects()[number]
    assert copy.copy(original) is original and copy.deepcopy([original])[0] is original
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        restored = pickle.loads(pickle.dumps(original, protocol))
        assert restored is not original and restored == original and hash(restored) == hash(original)
        assert repr(restored) == repr(original)
    same = objects()[number]
    assert same == original and len({same, original}) == 1
    assert original not in [other for at, other in enumerate(objects()) if at != number] and original != "other"


def test_every_constraint_is_pickled():
    original = objects()[1]
    restored = pickle.loads(pickle.dumps(original))
    assert restored.to_csv() == original.to_csv() and restored.above == original.above
    solution = plimsoll.solve(plimsoll.Instance(ROWS))
    restored = pickle.loads(pickle.dumps(solution))
    assert restored.certificate() == solution.certificate() and restored.seconds == solution.seconds
    assert restored.offsets.tolist() == solution.offsets.tolist() and restored.witness == solution.witness


def test_every_part_takes_part_in_comparisons():
    instance = plimsoll.Instance(ROWS)
    plan = plimsoll.Instance([dict(row, offset=8) for row in instance.rows])
    others = [
        instance.with_capacity(12),
        plimsoll.Instance(ROWS, name="other"),
        plimsoll.Instance(ROWS[:2]),
        plimsoll.Instance(ROWS, separations=[(0, 2)]),
        plan,
    ]
    assert all(instance != other for other in others) and plan != plan.without_offsets() == instance
    assert plimsoll.solve(instance) == plimsoll.solve(instance) != plimsoll.solve(instance, algorithm="naive")


def test_rows_are_read_again():
    instance = plimsoll.Instance(CONSTRAINED)
    assert plimsoll.Instance(instance.rows) == instance
    assert instance.rows[0] == {
        "id": "0", "lower": 0, "upper": 4, "size": 3, "alignment": 1, "offset": None, "gaps": [(1, 2)]
    }  # fmt: skip
    solution = plimsoll.solve(ROWS)
    assert [row["offset"] for row in solution.rows] == solution.offsets.tolist()
    assert plimsoll.Instance(solution.rows).offsets == solution.offsets.tolist()
    assert plimsoll.solve([("a", 0, 2, 1)], capacity=0).rows[0]["offset"] in (None, 0)
