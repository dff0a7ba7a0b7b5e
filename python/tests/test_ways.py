"""Open ends, plans and other ways of writing instances."""

import numpy as np
import plimsoll
import pytest


@pytest.mark.parametrize("opened", [None, -1, -1.0, float("inf"), float("nan"), np.inf])
@pytest.mark.parametrize("column", ["upper", "end", "finish"])
def test_open_ends(opened, column):
    columns = {"lower": [0, 2, 5, 6], column: [4, opened, 7, opened], "size": [3, 5, 2, 1]}
    last = 7 if column == "upper" else 8
    assert plimsoll.Instance(columns).upper.tolist() == [4 + last - 7, last, last, last]
    rows = [{"lower": 0, column: opened, "size": 3}]
    assert plimsoll.Instance(rows).upper.tolist() == [1]


def test_open_ends_in_rows_and_gaps():
    assert plimsoll.Instance([(0, 3, 4), (1, None, 2), (5, -1, 1)]).upper.tolist() == [3, 6, 6]
    rows = [{"lower": 1, "upper": None, "size": 4, "gaps": [(3, 9)]}, {"lower": 0, "upper": 4, "size": 1}]
    assert plimsoll.Instance(rows).upper.tolist() == [10, 4]
    with pytest.raises(ValueError, match=r"upper\[1\] is -2"):
        plimsoll.Instance([(0, None, 4), (1, -2, 2)])
    with pytest.raises(ValueError, match=r"lower\[0\] is -1"):
        plimsoll.Instance([(-1, None, 4)])


def test_a_plan_is_judged_without_pins(tmp_path):
    text = "id,lower,upper,size,offset\na,0,3,6,0x0\nb,2,5,8,16.0\nc,4,-1,2,6\n"
    (tmp_path / "plan.csv").write_text(text)
    rows = [("a", 0, 3, 6), ("b", 2, 5, 8), ("c", 4, 5, 2)]
    plan = plimsoll.read_csv(tmp_path / "plan.csv")
    assert plan.offsets == [0, 16, 6] and plan.lower_bound() == 14 and "peak=24" in repr(plan)
    offsets = {"planner": plan.offsets}
    assert plimsoll.compare(plan, offsets).rows == plimsoll.compare(plimsoll.Instance(rows), offsets).rows
    assert plan.violations([8, 0, 8]) == []
    assert "16" in plan.to_csv()
    with pytest.raises(ValueError, match="every buffer has an offset"):
        plimsoll.solve(plan)
    assert plimsoll.solve(plan.without_offsets()).peak == 14
    half = [dict(lower=0, upper=3, size=6, offset=10), dict(lower=2, upper=5, size=8)]
    assert plimsoll.Instance(half).offsets == [10, None] and "pinned=1" in repr(plimsoll.Instance(half))
    assert plimsoll.solve(half).peak == 16
    result = plimsoll.bench([plan], ["exact"])
    row = result.to_dict("records")[0] if hasattr(result, "to_dict") else result[0]
    assert int(row["value"]) == 14
