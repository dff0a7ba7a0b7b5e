"""Captures buffer assignments and live ranges of XLA on CPU.

    python capture_xla.py FOLDER [NAME...]

Writes `NAME-buffer-assignment.txt` and `NAME-live-range.txt` per network, mode and batch size (see
`jax_models.py`). Existing captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER`
reads the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ("buffer-assignment", "live-range")


def compile_one(model: str, mode: str, batch: str) -> None:
    from jax_models import lowered

    lowered(model, mode, int(batch)).compile()


def main() -> int:
    if sys.argv[1:2] == ["--compile"]:
        compile_one(*sys.argv[2:])
        return 0
    from jax_models import cases

    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, model, mode, batch in cases():
        files = [folder / f"{name}-{kind}.txt" for kind in KINDS]
        if (wanted and name not in wanted) or all(file.exists() for file in files):
            continue
        with tempfile.TemporaryDirectory() as dump:
            settings = {"XLA_FLAGS": f"--xla_dump_to={dump}", "JAX_PLATFORMS": "cpu"}
            command = [sys.executable, __file__, "--compile", model, mode, str(batch)]
            done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True)
            # The module of the network is the last one; the modules before it create constants.
            found = sorted(Path(dump).glob("module_*buffer-assignment.txt"))
            if done.returncode or not found:
                print(f"{name}: {(done.stderr.splitlines() or ['no dump'])[-1]}", file=sys.stderr)
                failed += 1
                continue
            for kind, file in zip(KINDS, files, strict=True):
                shutil.copy(str(found[-1]).replace("buffer-assignment", kind), file)
        print(name, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
