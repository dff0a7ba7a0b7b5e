"""Records of runs, one JSON object per line, and isolated processes that produce them.

A record describes one run of a file, with one variant of its input shapes:

    file       path relative to the folder
    variant    "base", "batch=2", "spatial", ..
    ran        true if the runtime executed the model
    error      {"class", "text"} otherwise
    arguments  arguments of `plimsoll import` for the same shapes of inputs
    values     contents of small integer inputs, which may decide shapes
    operators  number of operators by kind
    custom     kinds that are custom operators
    notes      limits of the run
    tensors    [{"name", "dtype", "shape", "bytes"}]; bytes is null for strings
"""

import json
import os
import pathlib
import resource
import select
import signal
import time

import numpy

SMALL = 64  # maximum number of elements of an integer input that a record contains


def isolated(function, arguments, seconds, gibibytes):
    """Calls a function that returns a dictionary in a separate process and returns the result.

    If the function crashes, raises an exception, or exceeds the time or memory limit, the result is a dictionary
    with "error".
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _run_child(function, arguments, writer, gibibytes)
    os.close(writer)
    data, deadline, late = bytearray(), time.monotonic() + seconds, False
    while True:
        if not select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
            late = True
            break
        part = os.read(reader, 1 << 20)
        if not part:
            break
        data += part
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    if late:
        return failure("Timeout", f"no answer within {seconds} s")
    if os.WIFSIGNALED(status):
        return failure("Crash", signal.Signals(os.WTERMSIG(status)).name)
    try:
        return json.loads(data)
    except ValueError:
        return failure("Crash", f"exit status {os.waitstatus_to_exitcode(status)} without an answer")


def _run_child(function, arguments, writer, gibibytes):
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (gibibytes << 30, gibibytes << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = function(*arguments)
    except MemoryError:
        answer = failure("MemoryError", f"more than {gibibytes} GiB")
    except Exception as error:  # any error of a runtime becomes part of the record
        answer = failure(type(error).__name__, str(error))
    data = memoryview(json.dumps(answer).encode())
    while data:
        data = data[os.write(writer, data) :]
    os._exit(0)


def failure(kind, text):
    return {"ran": False, "error": {"class": kind, "text": text[:2000]}}


def read(path):
    """Returns all complete records of a file, or none if the file does not exist."""
    found = []
    if pathlib.Path(path).exists():
        with open(path) as file:
            for line in file:
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue  # the last line of an interrupted run
    return found


def record_folder(measure, suffix, options):
    """Measures every file of a folder with every variant, and skips the runs that are already in the output.

    `measure(path, variant, options)` returns the members of a record other than "file" and "variant".
    """
    folder = pathlib.Path(options.folder).resolve()
    known = {(record["file"], record["variant"]) for record in read(options.out)}
    files = [path for path in folder.rglob("*") if path.suffix.lower() == suffix and path.is_file()]
    files.sort(key=lambda path: (path.stat().st_size, path))  # small files first, because they are fast
    with open(options.out, "a") as out:
        for variant in variants(options):
            for path in files:
                name = str(path.relative_to(folder))
                if (name, variant) in known:
                    continue
                limits = (options.seconds, options.gibibytes)
                answer = isolated(measure, (path, variant, options), *limits)
                out.write(json.dumps({"file": name, "variant": variant} | answer) + "\n")
                out.flush()


def variants(options):
    found = [] if options.no_base else ["base"]
    found += [f"batch={batch}" for batch in options.batch]
    return found + (["spatial"] if options.scale_spatial else [])


def add_arguments(parser):
    parser.add_argument("folder", help="folder searched recursively for models")
    parser.add_argument("--out", required=True, help="output, JSON lines; recorded files are kept and skipped")
    parser.add_argument("--batch", type=int, action="append", default=[], metavar="B", help="also measure with this batch")
    parser.add_argument("--scale-spatial", action="store_true", help="also measure with twice the spatial extents")
    parser.add_argument("--no-base", action="store_true", help="do not measure with the shapes of the file")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a run")
    parser.add_argument("--gibibytes", type=int, default=8, help="address-space limit of a run")


def small_values(inputs):
    """Returns the contents of integer inputs that are small enough for a command line."""

    def small(array):
        return isinstance(array, numpy.ndarray) and array.dtype.kind in "iub" and array.ndim <= 1 and array.size <= SMALL

    return {name: [int(value) for value in array.ravel()] for name, array in inputs.items() if small(array)}


def shape_text(shape):
    """Returns a shape in the format of `plimsoll import --input-shape`; empty for a scalar."""
    return "x".join(str(extent) for extent in shape)
