"""Tests that every input from Python gives an answer, a ValueError, a TypeError or an OverflowError."""

import plimsoll
from hypothesis import given, settings
from hypothesis import strategies as st

NUMBERS = st.one_of(
    st.integers(-3, 40), st.integers(), st.floats(), st.none(), st.text(max_size=3), st.booleans()
)
SMALL = st.integers(0, 12)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(SMALL, SMALL, SMALL), max_size=7), st.one_of(st.none(), st.integers(0, 60)))
def test_valid_rows_are_answered(rows, capacity):
    rows = [(min(a, b), max(a, b) + 1, size) for a, b, size in rows]
    instance = plimsoll.Instance(rows, capacity=capacity)
    solution = plimsoll.solve(instance)
    best = plimsoll.solve(instance.with_capacity(None), algorithm="brute-force")
    if capacity is not None and best.peak > capacity:
        assert solution.status == "infeasible"
    else:
        assert solution.status == "optimal" and solution.peak == best.peak
        assert instance.violations(solution.offsets) == []


@settings(max_examples=500, deadline=None)
@given(
    st.one_of(
        NUMBERS,
        st.lists(st.one_of(NUMBERS, st.lists(NUMBERS, max_size=5), st.tuples(NUMBERS, NUMBERS, NUMBERS)), max_size=4),
        st.dictionaries(
            st.sampled_from(["id", "lower", "upper", "end", "size", "alignment", "offset", "gaps", "x"]),
            st.lists(st.one_of(NUMBERS, st.lists(st.tuples(NUMBERS, NUMBERS), max_size=2)), max_size=3),
        ),
    ),
    NUMBERS,
)
def test_any_input_raises_at_worst(data, capacity):
    try:
        plimsoll.solve(plimsoll.Instance(data, capacity=capacity), time_limit=0.05)
    except (ValueError, TypeError, OverflowError):
        pass
