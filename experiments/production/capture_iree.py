"""Captures the slices that IREE places in transient memory.

    python capture_iree.py FOLDER [NAME...]

Writes one file `NAME.layout-slices.mlir` per network, mode and batch size (see `jax_models.py`). It contains
the program before and after the pass `iree-stream-layout-slices`, without the bodies of kernels. Existing
captures are kept, so an interrupted run can be resumed. `plimsoll audit FOLDER` reads the folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from captures import missing, write

PASS = "iree-stream-layout-slices"
OPTIONS = [
    "--iree-input-type=stablehlo",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=vmvx",
    "--compile-to=stream",
    f"--mlir-print-ir-before={PASS}",
    f"--mlir-print-ir-after={PASS}",
    "-o",
    os.devnull,
]


def main() -> int:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from jax_models import cases, lowered

    compiler = Path(sys.executable).parent / "iree-compile"
    failed = 0
    named = ((name, case) for name, *case in cases())
    for file, (model, mode, batch) in missing(named, ".layout-slices.mlir"):
        with tempfile.TemporaryDirectory() as temporary:
            program = Path(temporary) / "program.mlir"
            program.write_text(lowered(model, mode, batch).as_text("stablehlo"))
            done = subprocess.run([compiler, *OPTIONS, str(program)], capture_output=True, text=True)
        if done.returncode:
            print(f"{file.name}: {(done.stderr.splitlines() or ['no dump'])[-1]}", file=sys.stderr)
            failed += 1
            continue
        # Warnings may precede the text.
        write(file, done.stderr[max(0, done.stderr.find("// -----// IR Dump ")) :])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
