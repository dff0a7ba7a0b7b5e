"""Captures buffer assignments and live ranges of XLA on CPU.

    python capture_xla.py FOLDER [NAME...]

Writes `NAME-buffer-assignment.txt` and `NAME-live-range.txt` per network, mode and batch size (see
`jax_models.py`). Existing captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER`
reads the folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from captures import missing, write


def compile_one(model: str, mode: str, batch: str) -> None:
    from jax_models import lowered

    lowered(model, mode, int(batch)).compile()


def main() -> int:
    if sys.argv[1:2] == ["--compile"]:
        compile_one(*sys.argv[2:])
        return 0
    from jax_models import cases

    failed = 0
    named = ((name, case) for name, *case in cases())
    for file, (model, mode, batch) in missing(named, "-live-range.txt"):
        with tempfile.TemporaryDirectory() as dump:
            settings = {"XLA_FLAGS": f"--xla_dump_to={dump}", "JAX_PLATFORMS": "cpu"}
            command = [sys.executable, __file__, "--compile", model, mode, str(batch)]
            done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True)
            # The module of the network is the last one; the modules before it create constants.
            found = sorted(Path(dump).glob("module_*buffer-assignment.txt"))
            if done.returncode or not found:
                print(f"{file.name}: {(done.stderr.splitlines() or ['no dump'])[-1]}", file=sys.stderr)
                failed += 1
                continue
            # The live ranges come last, because `missing` looks for them.
            for kind in ("buffer-assignment", "live-range"):
                text = Path(str(found[-1]).replace("buffer-assignment", kind)).read_text()
                write(file.with_name(file.name.replace("live-range", kind)), text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
