"""Writes plans into models with `plimsoll plan --write`, and runs the models in tflite-micro and ONNX Runtime.
Writes one row per model to `rows.csv` in a folder.

    python tflm.py PLIMSOLL CORPORA FOLDER [MODEL.tflite...]

The columns are as follows, with sizes in bytes. `scratch` is the total size of all scratch buffers that kernels
request, as measured by `scratch.py`; the plans take them into account. `arena` is the size that Plimsoll computes
for the tensors and scratch buffers of the written model. The run fails unless the interpreter reports this size.
The persistent data that Plimsoll computes must be at least that of the interpreter, and exceed it by at most two
percent of the arena. For the original model, the interpreter must report the size that Plimsoll computes for the planner of the
interpreter. `greedy` and `planned` are the smallest arenas in which tflite-micro runs the original model and the
written model, found by bisection to within 16 bytes. They include persistent data. `file_order` is the
corresponding size for a plan in file order (`--order as-in-file`), and `in_place` is the size for a plan in which
elementwise operators overwrite an input (`--in-place`). `saved_percent` and `in_place_percent` are the savings of
`planned` and `in_place` relative to `greedy`. `moved` is the number of operators whose position changed. `inputs`
is the number of random inputs, and `equal` the number of inputs for which all models have bitwise equal outputs in
their smallest arenas. The arena of ONNX Runtime cannot be set, so the rows of its models contain no size except
that of the plan. The models `built_*` come from `control_models.py`. They have parallel chains, and two of them
have control flow.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scratch

INPUTS = 20
GRAIN = 16
COLUMNS = (
    "model,runtime,operators,moved,scratch,arena,greedy,file_order,planned,in_place,saved_percent,in_place_percent,"
    "inputs,equal"
).split(",")
PLANS = {"file_order": ["--order", "as-in-file"], "planned": [], "in_place": ["--in-place"]}
# Shapes of two inputs of Silero's voice models: one frame with its context, and the state.
SILERO = {"input": [1, 576], "state": [2, 1, 128]}


def quiet(run: Any) -> Any:
    """Calls a function and discards standard error, where the interpreter reports every arena that is too
    small."""
    sys.stderr.flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        return run()
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def interpreter(model: bytes, arena: int) -> Any:
    from tflite_micro.python.tflite_micro import runtime

    return runtime.Interpreter.from_bytes(model, arena_size=arena)


def runs(model: bytes, arena: int) -> bool:
    """Returns true if a model runs in an arena of this size. The runtime may crash, so the model runs in a child
    process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            quiet(lambda: interpreter(model, arena).invoke())
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def smallest(model: bytes) -> int:
    """Returns the size of the smallest arena in which a model runs, to within 16 bytes."""
    high = GRAIN
    while not runs(model, high):
        high *= 2
        if high > 1 << 30:
            raise RuntimeError("the model does not run in 1 GiB")
    low = high // 2
    while high - low > GRAIN:
        middle = (low + high) // 2 // GRAIN * GRAIN
        low, high = (low, middle) if runs(model, middle) else (middle, high)
    return high


def random_input(generator: np.random.Generator, shape: Any, dtype: Any) -> Any:
    if np.issubdtype(dtype, np.floating):
        return generator.standard_normal(shape).astype(dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype == np.int32:  # the count of a loop
        return generator.integers(-4, 8, shape, dtype=dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def details(one: Any, count: str) -> list[dict[str, Any]]:
    """Returns the details of all inputs or of all outputs."""
    found: list[dict[str, Any]] = []
    while True:
        try:
            found.append(quiet(lambda: getattr(one, count)(len(found))))
        except (RuntimeError, ValueError, IndexError):
            return found


def micro_outputs(models: list[tuple[bytes, int]]) -> int:
    """Runs models on the same inputs. Returns the number of inputs for which all models have equal outputs."""
    interpreters = [interpreter(model, arena) for model, arena in models]
    inputs, outputs = (details(interpreters[0], f"get_{kind}_details") for kind in ("input", "output"))
    generator, equal = np.random.default_rng(0), 0
    for _ in range(INPUTS):
        values = [random_input(generator, one["shape"], np.dtype(one["dtype"])) for one in inputs]
        results = []
        for one in interpreters:
            for at, value in enumerate(values):
                one.set_input(value, at)
            one.invoke()
            results.append([one.get_output(at).tobytes() for at in range(len(outputs))])
        equal += all(result == results[0] for result in results)
    return equal


def plan(arguments: argparse.Namespace, model: Path, out: Path, *more: str) -> dict[str, Any]:
    tensors = out.with_suffix(".json")
    command = [arguments.plimsoll, "plan", str(model), "--json", "--write", str(out), "--tensors", str(tensors)]
    found = subprocess.run([*command, *more], check=True, capture_output=True, text=True).stdout
    plan: dict[str, Any] = json.loads(found)
    operators = json.loads(tensors.read_text())["operators"]
    plan["operators"] = len(operators)
    plan["moved"] = moved(operators)
    return plan


def moved(operators: list[dict[str, Any]]) -> int:
    """Returns the number of operators whose position in their region differs from their position in the file."""
    count = 0
    for region in {one["region"] for one in operators}:
        indices = [one["index"] for one in operators if one["region"] == region]
        count += sum(a != b for a, b in zip(indices, sorted(indices), strict=True))
    return count


def micro_row(arguments: argparse.Namespace, model: Path, folder: Path) -> dict[str, Any]:
    original = model.read_bytes()
    greedy = smallest(original)
    requests = scratch.requests(original)
    with (folder / "scratch.csv").open("w", newline="") as file:
        scratch.write(requests, file)
    found, plans, written = {"greedy": greedy}, {}, [(original, greedy)]
    for name, options in PLANS.items():
        out = folder / f"{name}.tflite"
        plans[name] = plan(arguments, model, out, "--scratch", str(folder / "scratch.csv"), *options)
        computed = plans[name]["written"]
        heads = [scratch.head(one) for one in (original, out.read_bytes())]
        if heads != [computed["greedy"], computed["arena"]]:
            raise RuntimeError(f"{model.name}: the interpreter reports {heads}, but Plimsoll computes {computed}")
        tail, kept = scratch.allocated(out.read_bytes(), "tail"), plans[name]["tflite_micro"]["tail"]
        if not tail <= kept <= tail + (heads[1] + tail) // 50:
            raise RuntimeError(f"{model.name}: the interpreter keeps {tail} bytes, but Plimsoll computes {kept}")
        found[name] = smallest(out.read_bytes())
        written.append((out.read_bytes(), found[name]))
    best = plans["planned"]
    return {
        "model": model.stem,
        "runtime": "tflite-micro",
        "operators": best["operators"],
        "moved": best["moved"],
        "scratch": sum(size for _, _, size in requests),
        "arena": best["written"]["arena"],
        **found,
        "saved_percent": f"{100 * (1 - found['planned'] / greedy):.2f}",
        "in_place_percent": f"{100 * (1 - found['in_place'] / greedy):.2f}",
        "inputs": INPUTS,
        "equal": micro_outputs(written),
    }


def onnx_row(arguments: argparse.Namespace, model: Path, folder: Path) -> dict[str, Any]:
    import onnx
    import onnxruntime

    out = folder / "planned.onnx"
    shapes = SILERO if model.stem.startswith("silero") else {}
    options = [f"--input-shape={name}={'x'.join(map(str, shape))}" for name, shape in shapes.items()]
    best = plan(arguments, model, out, *options)
    onnx.checker.check_model(onnx.load(out))
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = 1
    sessions = [
        onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"]) for path in (model, out)
    ]
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    generator, equal = np.random.default_rng(0), 0
    for _ in range(INPUTS):
        values = {
            one.name: random_input(generator, shapes.get(one.name, one.shape), np.dtype(types[one.type]))
            for one in sessions[0].get_inputs()
        }
        if "sr" in values:
            values["sr"] = np.array(16000, dtype=np.int64)
        results = [[one.tobytes() for one in session.run(None, values)] for session in sessions]
        equal += results[0] == results[1]
    return {
        "model": model.stem,
        "runtime": "onnxruntime",
        "operators": best["operators"],
        "moved": best["moved"],
        "arena": best["written"]["arena"],
        "inputs": INPUTS,
        "equal": equal,
    }


def built(folder: Path) -> list[Path]:
    """Writes models with parallel chains: one without control flow, one with an `If`, one with a `While`."""
    from control_models import branching, looping, parallel

    models = {"built_parallel": parallel(), "built_if": branching(), "built_while": looping()}
    for name, model in models.items():
        (folder / f"{name}.tflite").write_bytes(model)
    return [folder / f"{name}.tflite" for name in models]


def describe(arguments: argparse.Namespace) -> None:
    """Writes the README of the record, which describes the columns, the machine and the versions."""
    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent)
    built = subprocess.run([arguments.plimsoll, "--version"], check=True, capture_output=True, text=True).stdout
    with (Path(__file__).parent / "models.csv").open() as file:
        origins = {row["sha256"]: f"{row['origin']}, `{row['path']}`" for row in csv.DictReader(file)}
    versions = [built.strip()]
    packages = ("tflite-micro", "onnx", "onnxruntime", "numpy")
    versions += [f"{one} {version(one)}" for one in packages]
    lines = ["# Plans in tflite-micro and ONNX Runtime", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    lines += ["- command: `make test-tflm` (`experiments/runtimes/tflm.py`)"]
    lines += ["- further models:"] if arguments.models else []
    for model in arguments.models:
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        lines += [f"  - {model.stem}: {origins.get(digest, 'origin unknown')}, SHA-256 {digest}"]
    lines += [f"- commit: {commit.stdout.strip()}", f"- processor: {cpu.partition(':')[2].strip()}"]
    lines += [f"- Python {platform.python_version()}, " + ", ".join(versions)]
    (arguments.folder / "README.md").write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("plimsoll")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path, nargs="*", help="further TFLite models")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    describe(arguments)
    failed = 0
    rows = arguments.folder / "rows.csv"
    with tempfile.TemporaryDirectory() as temporary, rows.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        micro = sorted((arguments.corpora / "tflite").glob("*.tflite")) + arguments.models
        micro += built(Path(temporary))
        tasks = [(micro_row, model) for model in micro]
        tasks += [(onnx_row, model) for model in sorted((arguments.corpora / "onnx").glob("*.onnx"))]
        for task, model in tasks:
            found = task(arguments, model, Path(temporary))
            writer.writerow(found)
            file.flush()
            print(", ".join(f"{key}={found[key]}" for key in COLUMNS if key in found), flush=True)
            larger = any(found[name] > found["greedy"] for name in PLANS if name in found)
            failed += larger or found["equal"] != INPUTS
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
