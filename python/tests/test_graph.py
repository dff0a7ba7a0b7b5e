"""Compares the plans of graphs with those of the command."""

import json
import os
import subprocess

import plimsoll
import pytest

NATIVE = os.environ.get("PLIMSOLL_NATIVE")
native = pytest.mark.skipif(not NATIVE, reason="PLIMSOLL_NATIVE does not name the command")

# `grow` writes `wide`, which `shape` only reinterprets and `clip` can overwrite.
SMALL = {
    "format": "plimsoll-graph",
    "version": 1,
    "name": "small",
    "tensors": [
        {"name": "x", "bytes": 50, "role": "input"},
        {"name": "y", "bytes": 7, "role": "output"},
        {"name": "w", "bytes": 33, "role": "weight"},
        {"name": "s", "bytes": 21, "role": "state"},
        {"name": "wide", "bytes": 410},
        {"name": "flat", "bytes": 410},
        {"name": "clipped", "bytes": 410},
    ],
    "body": {
        "inputs": ["x"],
        "outputs": ["y"],
        "operators": [
            {"name": "grow", "kind": "Conv", "inputs": ["x", "w"], "outputs": ["wide"]},
            {
                "name": "shape",
                "kind": "Reshape",
                "inputs": ["wide"],
                "outputs": ["flat"],
                "aliases": [{"input": "wide", "output": "flat", "kind": "view"}],
            },
            {
                "name": "clip",
                "kind": "Relu",
                "inputs": ["flat"],
                "outputs": ["clipped"],
                "aliases": [{"input": "flat", "output": "clipped", "kind": "in-place"}],
            },
            {"name": "pool", "kind": "MaxPool", "inputs": ["clipped", "s"], "outputs": ["y"]},
        ],
    },
}

OPTIONS = [
    {},
    {"align": 24},
    {"align": 64, "in_place": True},
    {"boundary": "held"},
    {"boundary": "persistent", "align": 16},
    {"boundary": "outside"},
    {"in_place": True},
    {"weights": True},
    {"no_states": True, "no_views": True},
]
GRAPHS = ["small", "lenet5", "unet", "inception", "squeezenet", "nested-if", "shared-if", "loops", "control-mix"]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Returns the path of a graph."""
    folder = tmp_path_factory.mktemp("graphs")

    def path(name):
        file = folder / f"{name}.json"
        if name == "small":
            file.write_text(json.dumps(SMALL))
        elif not file.exists():
            subprocess.run([NATIVE, "generate", name, "--seed", "2", "--out", file], check=True, capture_output=True)
        return file

    return path


def arguments(options):
    """Returns the options of the command for keyword arguments."""
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return words


def command(path, options):
    """Runs the command `plan`, and returns its exit code and its report."""
    words = [NATIVE, "plan", path, "--json", "--time-limit", "30", *arguments(options)]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def test_the_options_of_a_small_graph(models):
    graph = plimsoll.load_model(models("small"))
    peaks = [graph.plan(**options).peak for options in OPTIONS]
    # While `clip` runs, `s` is live beside `flat` and `clipped`. In place, `grow` needs most: `x`, `s` and `wide`.
    assert peaks == [841, 888, 576, 891, 944, 841, 481, 874, 820]
    aligned = graph.plan(align=24)
    assert all(offset % 24 == 0 for offset in aligned.offsets)
    assert aligned.instance.alignment.tolist() == [24] * len(aligned.instance)


def test_a_capacity_is_decided(models):
    graph = plimsoll.load_model(models("small"))
    exact, short = graph.plan(capacity=841), graph.plan(capacity=840)
    assert (exact.fits, exact.instance.capacity) == (True, 841)
    assert (short.fits, short.joint_bound, short.status) == (False, 841, "optimal")
    assert "clip" in short.joint_witness
    assert graph.plan().fits is None


def test_wrong_options_are_refused(models):
    graph = plimsoll.load_model(models("small"))
    wrong = [
        ({"align": 0}, ValueError, r"align is 0; expected a number of bytes from 1 to"),
        ({"align": -8}, ValueError, r"align is -8; expected a number of bytes from 1 to"),
        ({"align": 1 << 64}, ValueError, r"align is 18446744073709551616; expected"),
        ({"align": "wide"}, TypeError, r"align is 'wide'; expected an integer"),
        ({"align": 1 << 62}, ValueError, r"region 'body'"),
        ({"boundary": "inside"}, ValueError, r"boundary is 'inside'; expected one of arena, held, persistent, outside"),
        ({"capacity": -1}, ValueError, r"capacity is -1; expected a number of bytes from 0 to"),
        ({"capacity": 1.5}, TypeError, r"capacity is 1.5; expected an integer"),
        ({"alignment": 4}, TypeError, r"alignment"),
    ]
    for options, error, message in wrong:
        with pytest.raises(error, match=message):
            graph.plan(**options)


@native
@pytest.mark.parametrize("name", GRAPHS)
def test_plans_are_those_of_the_command(models, name):
    graph = plimsoll.load_model(models(name))
    for options in OPTIONS:
        plan = graph.plan(**options, time_limit=30)
        code, report = command(models(name), options)
        assert code == 0
        found = [plan.peak, plan.lower_bound, plan.status, plan.joint_bound]
        assert found == [report[key] for key in ("arena", "lower_bound", "claim", "joint_bound")], options


@native
@pytest.mark.parametrize("name", GRAPHS)
def test_verdicts_are_those_of_the_command(models, name):
    graph = plimsoll.load_model(models(name))
    free = graph.plan(align=32, time_limit=30)
    for capacity in sorted({0, free.joint_bound - 1, free.joint_bound, free.peak - 1, free.peak}):
        plan = graph.plan(align=32, capacity=capacity, time_limit=30)
        code, report = command(models(name), {"align": 32, "capacity": capacity})
        is_open = code == 3 and (report["another_order"] or {}).get("fits")
        assert plan.fits == (True if is_open else report["fits"]), capacity
        assert code == {True: 3 if is_open else 0, False: 1, None: 3}[plan.fits]
        if plan.fits is False:
            assert plan.joint_bound - capacity == report["shortfall_min"]
