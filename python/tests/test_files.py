"""Tests errors of files, plans of other planners, and checks of answers."""

import errno
import os
from pathlib import Path

import plimsoll
import pytest

ROWS = [("a", 0, 2, 4), ("b", 1, 4, 6), ("c", 3, 6, 2)]
CAPTURES = Path(__file__).parents[2] / "datasets/tests/data/captures"
#: No layout reaches the load, which only a search proves.
CRAMPED = [
    (12, 13, 78), (7, 9, 35), (9, 12, 81), (8, 11, 64), (11, 13, 49), (8, 11, 3),
    (5, 10, 21), (4, 5, 20), (0, 5, 17), (12, 16, 12), (4, 9, 74), (10, 11, 36),
    (2, 6, 72), (0, 7, 66), (11, 14, 18), (12, 14, 27), (13, 15, 84), (7, 10, 59),
    (2, 5, 7), (10, 14, 72),
]  # fmt: skip
GRAPH = plimsoll.load_model(Path(__file__).parents[1] / "notebooks/model.json")
READERS = [plimsoll.read_csv, plimsoll.load_model, plimsoll.audit, plimsoll.report]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("convert", [str, Path])
def test_missing_files(reader, convert, tmp_path):
    path = convert(tmp_path / "missing.csv")
    with pytest.raises(FileNotFoundError) as caught:
        reader(path)
    assert caught.value.filename == str(path) and caught.value.errno == errno.ENOENT


def test_missing_descriptions(tmp_path):
    path = str(tmp_path / "missing.toml")
    for read in (GRAPH.overlap, GRAPH.tiers, GRAPH.fuse):
        with pytest.raises(FileNotFoundError) as caught:
            read(path)
        assert caught.value.filename == path
        with pytest.raises(ValueError, match="neither a file nor one of"):
            read("missing")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads every file")
def test_unreadable_files(tmp_path):
    path = tmp_path / "secret.csv"
    path.touch(0)
    for reader in READERS:
        with pytest.raises(PermissionError):
            reader(path)


def test_folders(tmp_path):
    for reader in READERS[:3]:
        with pytest.raises(IsADirectoryError) as caught:
            reader(tmp_path)
        assert caught.value.filename == str(tmp_path)


def test_captured_plans_are_audited(tmp_path):
    rows = plimsoll.audit(CAPTURES / "loss-buffer-assignment.txt")
    assert rows and all(row["planner"].startswith("XLA") for row in rows)
    for row in rows:
        assert row["peak"] - row["lower_bound"] == row["gap_bytes"] and row["verdict"] != "invalid"
        assert None not in row["instance"].offsets and row["violations"] == []
    plan = tmp_path / "plan.csv"
    plan.write_text("id,lower,upper,size,offset\na,0,2,4,0\nb,1,4,6,8\n")
    (row,) = plimsoll.audit(plan)
    assert (row["peak"], row["lower_bound"], row["verdict"]) == (14, 10, "above the optimum")
    assert row["gap"] == pytest.approx(0.4) and row["instance"].offsets == [0, 8]
    plan.write_text("id,lower,upper,size,offset\na,0,2,4,0\nb,1,4,6,2\n")
    (row,) = plimsoll.audit(plan)
    assert row["verdict"] == "invalid" and "share" in row["violations"][0]
    plan.write_text("id,lower,upper,size\na,0,2,4\n")
    with pytest.raises(ValueError, match=r"plan\.csv: the file contains no plan"):
        plimsoll.audit(plan)


def test_layouts_are_verified():
    assert plimsoll.verify(ROWS, [6, 0, 6])["valid"] is True
    wrong = plimsoll.verify(ROWS, [0, 0, 6])
    assert wrong["valid"] is False and "share" in wrong["violations"][0] and wrong["certificate"] is None
    assert plimsoll.verify(plimsoll.solve(ROWS).rows) == plimsoll.verify(ROWS, [6, 0, 6])
    with pytest.raises(ValueError, match="neither offsets nor a certificate"):
        plimsoll.verify(ROWS)


def test_certificates_are_verified():
    solution = plimsoll.solve(ROWS)
    text = solution.certificate()
    confirmed = plimsoll.verify(solution.instance, solution.offsets, certificate=text)
    assert (confirmed["valid"], confirmed["certificate"], confirmed["reason"]) == (True, "confirmed", None)
    refused = plimsoll.verify(ROWS[:2], [0, 4], certificate=text)
    assert refused["certificate"] == "refused" and "another instance" in refused["reason"]
    infeasible = plimsoll.solve(ROWS, capacity=9)
    alone = plimsoll.verify(infeasible.instance, certificate=infeasible.certificate())
    assert alone["valid"] is None and alone["certificate"] == "confirmed"
    searched = plimsoll.solve(CRAMPED)
    rests = plimsoll.verify(CRAMPED, searched.offsets, certificate=searched.certificate())
    assert rests["certificate"] == "rests-on-search" and "search" in rests["reason"]
    with pytest.raises(ValueError, match="offsets are required"):
        plimsoll.verify(ROWS, certificate=text)
    with pytest.raises(ValueError, match="not a certificate"):
        plimsoll.verify(ROWS, certificate="{}")


def test_spilling():
    found = plimsoll.spill(ROWS, capacity=8)
    assert found["spilled"] == ["a"] and found["traffic"] == found["lower_bound"] == 8
    assert found["offsets"] == [None, 0, 6] and found["status"] == "optimal"
    assert plimsoll.spill(plimsoll.Instance(ROWS, capacity=10))["spilled"] == []
    with pytest.raises(ValueError, match="no capacity"):
        plimsoll.spill(ROWS)


def test_tiers_and_fusion():
    tiers = GRAPH.tiers("generic")
    assert tiers["status"] == "optimal" and tiers["transfer_time"] == tiers["lower_bound"] > 0
    assert {row["memory"] for row in tiers["tensors"]} == {"npu-buffer"}
    fusion = GRAPH.fuse()
    assert fusion["status"] == "optimal" and fusion["optimised"] == fusion["upper_bound"] == 6
    assert sorted(sum(fusion["groups"], [])) == sorted(GRAPH.operators)
