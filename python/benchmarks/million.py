"""Measures the overhead of calling Rust from Python, for a million buffers in NumPy arrays.

    python million.py [BUFFERS]

The durations are heavy-tailed, so the search reaches the load at once and the overhead matters most. The script
prints the time of each part. It also prints the ratio of the sum of these times to the time that the Rust library
alone needs. The latter is the time of the call `solve`, including its checker, plus the time of a copy of the
instance.
"""

import sys
import time

import numpy as np
import plimsoll


def heavy_tailed(buffers: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Returns log-uniform sizes and Pareto-distributed durations. A few buffers are live at almost all steps."""
    source = np.random.default_rng(seed)
    steps = 2 * buffers
    duration = np.minimum(1 / source.uniform(1e-9, 1, buffers), steps).astype(np.int64).clip(1)
    lower = (source.uniform(0, 1, buffers) * (steps - duration + 1)).astype(np.int64)
    size = 64 * (2 ** source.uniform(0, 14, buffers)).astype(np.int64)
    return {"lower": lower, "upper": lower + duration, "size": size}


def main() -> None:
    columns = heavy_tailed(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    times = [time.perf_counter()]
    instance = plimsoll.Instance(columns)
    times.append(time.perf_counter())
    solution = plimsoll.solve(instance, time_limit=60)
    times.append(time.perf_counter())
    offsets = solution.offsets
    times.append(time.perf_counter())
    build, solve, read = np.diff(times)
    # The time of a copy stands for the time to build the instance in Rust. `with_capacity` copies the instance.
    started = time.perf_counter()
    instance.with_capacity(None)
    copy = time.perf_counter() - started
    rust = solve + copy
    print(f"{len(instance)} buffers, {solution.status}, {len(offsets)} offsets")
    print(f"instance {build:.3f} s, solve {solve:.3f} s (search {solution.seconds:.3f} s), offsets {read:.3f} s")
    print(f"in Rust: copy of the instance {copy:.3f} s; ratio {(build + solve + read) / rust:.3f}")


if __name__ == "__main__":
    main()
