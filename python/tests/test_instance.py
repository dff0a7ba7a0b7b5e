import numpy as np
import plimsoll
import pytest

ROWS = [("a", 0, 2, 4), ("b", 1, 4, 6), ("c", 3, 6, 2)]
COLUMNS = {"id": ["a", "b", "c"], "lower": [0, 1, 3], "upper": [2, 4, 6], "size": [4, 6, 2]}


def same(instance):
    expected = plimsoll.Instance(ROWS)
    return instance.ids == expected.ids and instance.to_csv() == expected.to_csv()


def test_every_form_gives_the_same_instance():
    table = np.array([row[1:] for row in ROWS])
    assert same(plimsoll.Instance(COLUMNS))
    assert same(plimsoll.Instance([dict(zip(COLUMNS, row, strict=True)) for row in ROWS]))
    assert same(plimsoll.Instance({**COLUMNS, "size": np.array([4.0, 6.0, 2.0])}))
    assert same(plimsoll.Instance({"id": "abc", "start": [0, 1, 3], "end": [1, 3, 5], "size": [4, 6, 2]}))
    assert plimsoll.Instance(table).ids == ["0", "1", "2"]
    assert plimsoll.Instance(map(tuple, table)).load == plimsoll.Instance(ROWS).load == 10


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    assert same(plimsoll.Instance(make(COLUMNS)))


def test_constraints():
    instance = plimsoll.Instance(
        {
            "lower": [0, 0, 4],
            "upper": [4, 6, 6],
            "size": [3, 4, 5],
            "alignment": [1, 4, 1],
            "offset": [None, 8, None],
            "gaps": [[(1, 2)], [], []],
        },
        capacity=64,
        name="constrained",
        separations=[(0, 2)],
    )
    assert (len(instance), instance.capacity, instance.name) == (3, 64, "constrained")
    solution = plimsoll.solve(instance)
    assert solution.offsets[1] == 8 and solution.peak == 12
    assert solution.witness == "end of fixed buffer '1'"
    assert "1-2" in instance.to_csv()


def test_distances():
    rows = [(0, 4, 8), (0, 4, 4), (4, 8, 6)]
    instance = plimsoll.Instance(rows, above=[(1, 0, 12), (2, 0, 4)])
    assert instance.above == [(1, 0, 12), (2, 0, 4)]
    assert "0+12" in instance.to_csv()
    solution = plimsoll.solve(instance, algorithm="first-fit-size")
    assert list(solution.offsets) == [0, 12, 4] and solution.peak == 16
    assert "must lie 12 bytes above '0'" in instance.violations([0, 8, 4])[0]
    fixed = plimsoll.Instance({"lower": [0, 0], "upper": [1, 1], "size": [4, 4], "offset": [8, None]}, above=[(1, 0, 4)])
    assert list(fixed.offsets) == [8, 12]
    for above, message in [([(0, 0, 4)], "lies above '0'"), ([(1, 0, 1), (1, 2, 0)], "only one is allowed")]:
        with pytest.raises(ValueError, match=message):
            plimsoll.Instance(rows, above=above)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([(0, 2, -4)], r"size\[0\] is -4"),
        ([(0, 2, 1.5)], r"size\[0\] is 1.5"),
        ([(0, 2, float("nan"))], r"size\[0\] is nan"),
        ([(0, 2, "x")], r"size"),
        ([(0, 2, 2**64)], r"size\[0\] is 18446744073709551616"),
        ([(0, 1, 1), (2, 1, 1)], r"buffer 1 \('1'\): .*2"),
        ([("a", 0, 1, 1), ("a", 0, 1, 1)], r"buffer 1: duplicate id 'a'"),
        ([(0, 1)], r"row 0 is \(0, 1\)"),
        ([(0, 1, 1), (0, 1)], r"row 1 is \(0, 1\)"),
        ([{"lower": 0, "upper": 1}], r"missing column 'size'"),
        ([{"lower": 0, "upper": 1, "size": 1}, {"lower": 0, "upper": 1}], r"row 1 has no 'size'"),
        ({"lower": [0], "upper": [1, 2], "size": [1]}, r"column 'upper' has 2 values"),
        ({"lower": [0], "upper": [1], "end": [1], "size": [1]}, r"'upper'.*'end'"),
        (np.zeros((2, 2)), r"shape"),
        ([(0, 1, 2**63 - 1), (0, 1, 2**63 - 1)], r"buffer 1: .*too large"),
        ({"lower": [0], "upper": [1], "size": [1], "alignment": [0]}, r"buffer 0: .*alignment 0"),
        ({"lower": [0], "upper": [1], "size": [1], "offset": ["x"]}, r"offset\[0\] is 'x'"),
        ({"lower": [0], "upper": [1], "size": [1], "gaps": [3]}, r"gaps\[0\] is 3"),
    ],
)
def test_bad_input_names_the_position_and_the_value(data, message):
    with pytest.raises(ValueError, match=message):
        plimsoll.Instance(data)


def test_other_errors(tmp_path):
    with pytest.raises(TypeError, match="read_csv"):
        plimsoll.Instance("file.csv")
    with pytest.raises(ValueError, match="buffer number 7"):
        plimsoll.Instance(ROWS, separations=[(0, 7)])
    bad = tmp_path / "bad.csv"
    bad.write_text("id,lower,upper,size\na,0,1,x\n")
    with pytest.raises(ValueError, match="line 2"):
        plimsoll.read_csv(bad)


def test_files(tmp_path):
    path = tmp_path / "small.12.csv"
    path.write_text(plimsoll.Instance(ROWS).to_csv())
    assert plimsoll.read_csv(path).capacity == 12
    assert plimsoll.read_csv(str(path), capacity=5).capacity == 5
    assert same(plimsoll.read_csv(path).with_capacity(None))


def test_checking():
    instance = plimsoll.Instance(ROWS)
    assert instance.violations([6, 0, 6]) == []
    assert "share" in instance.violations([0, 0, 6])[0]
    assert instance.peak([0, 4, 20]) == 22
    with pytest.raises(ValueError, match="2 offsets"):
        instance.violations([0, 4])


def test_no_buffers():
    solution = plimsoll.solve([])
    assert (solution.status, solution.peak, len(solution.offsets)) == ("optimal", 0, 0)
