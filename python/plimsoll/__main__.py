"""Runs the command ``plimsoll`` that is installed with this package: ``python -m plimsoll ARGUMENTS``."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def find() -> Path | None:
    """Returns the path of the command: in the scripts of the environment or of the user, or next to the package
    if it was installed with ``pip install --target``."""
    user = sysconfig.get_preferred_scheme("user")
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        str(Path(__file__).parents[1] / "bin"),
    ]
    name = "plimsoll.exe" if os.name == "nt" else "plimsoll"
    return next((path for folder in folders if (path := Path(folder, name)).is_file()), None)


def main() -> None:
    command = find()
    if command is None:
        sys.exit(
            "plimsoll: the command is part of wheels, but not of a build from source; install it with "
            "`cargo install --path experiments/command --no-default-features`"
        )
    words = [str(command), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(words).returncode)
    os.execv(command, words)


if __name__ == "__main__":
    main()
