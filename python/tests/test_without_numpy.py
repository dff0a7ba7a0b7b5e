"""Tests the package without NumPy and pandas, in a process that cannot import them."""

import subprocess
import sys
from pathlib import Path

import plimsoll
import pytest

PROGRAM = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import plimsoll

rows = [("a", 0, 2, 4), ("b", 1, 4, 6.0), ("c", 3, None, 2)]
instance = plimsoll.Instance(rows)
solution = plimsoll.solve(instance)
assert [row["offset"] for row in solution.rows] == [6, 0, 6]
assert instance.violations([6, 0, 6]) == [] and plimsoll.compare(rows, {"mine": (6, 0, 6)}).rows
assert plimsoll.Instance({"lower": [0, 1], "end": [3, -1], "size": [4, 4]}).rows[1]["upper"] == 4
try:
    plimsoll.Instance([(0, 2, -4)])
except ValueError as error:
    assert str(error) == "size[0] is -4, which is negative"
records = plimsoll.bench(instance, [lambda instance: [6, 0, 6], "exact"])
assert [(row["algorithm"], row["value"], row["whole_process"]) for row in records] == [
    ("<lambda>", 10, False), ("exact", 10, False)
]
assert "<html" in plimsoll.report(records)
assert plimsoll.load_model(sys.argv[1]).plan().rows[0]["offset"] >= 0
for read in (lambda: instance.size, lambda: solution.offsets, lambda: solution.to_pandas()):
    try:
        read()
    except ImportError as error:
        assert "pip install 'plimsoll[" in str(error), error
    else:
        raise AssertionError
import plimsoll.executorch
"""


def test_arrays_are_optional():
    model = Path(__file__).parents[1] / "notebooks/model.json"
    subprocess.run([sys.executable, "-c", PROGRAM, model], check=True)


@pytest.mark.parametrize("kind", ["list", "array"])
@pytest.mark.parametrize(
    ("size", "message"),
    [
        ([4, -1], r"size\[1\] is -1, which is negative"),
        ([4, 1.5], r"size\[1\] is 1.5, which is not an integer"),
        ([4, float("inf")], r"size\[1\] is inf, which is not an integer"),
        ([4, 2.0**60], r"size\[1\] is 1\.15\d*e\+18, which is not an integer"),
        ([4, 2**64], r"size\[1\] is 18446744073709551616, which is not between 0 and 2\^64 - 1"),
        ([[4], [6]], r"size"),
        (["4", "6"], r"size"),
        ([True, False], r"size"),
    ],
)
def test_lists_and_arrays_are_checked_alike(kind, size, message):
    numpy = pytest.importorskip("numpy")
    values = size if kind == "list" else numpy.array(size)
    with pytest.raises(ValueError, match=message):
        plimsoll.Instance({"lower": [0, 0], "upper": [2, 2], "size": values})


def test_a_number_in_place_of_a_column_is_refused():
    with pytest.raises(ValueError, match="column 'size' is 3; expected one value per buffer"):
        plimsoll.Instance({"lower": [0], "upper": [2], "size": 3})
    with pytest.raises(ValueError, match=r"end\[0\] is 18446744073709551615"):
        plimsoll.Instance({"lower": [0], "end": [2**64 - 1], "size": [3]})
