"""Checks the contents and the size of a wheel and of a source archive: `python packed.py WHEEL ARCHIVE`."""

import email
import re
import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
#: Maximum size of a wheel in bytes.
LIMIT = 15_000_000


def version():
    """Returns the version of the Cargo workspace."""
    return re.search(r'^version = "(.+)"$', (PACKAGE.parent / "Cargo.toml").read_text(), re.M)[1]


def check_wheel(path):
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    assert size < LIMIT, f"the wheel has {size:,} bytes; the limit is {LIMIT:,}"
    assert "-cp310-abi3-" in path.name, f"{path.name} is not for the stable interface of Python 3.10"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        info = f"plimsoll-{version()}.dist-info"
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
    for name in names:
        print(f"    {name}")
    sources = {f"plimsoll/{file.name}" for file in (PACKAGE / "plimsoll").iterdir() if file.suffix in (".py", ".pyi")}
    licences = {f"{info}/licenses/{name}" for name in ("LICENSE-APACHE", "LICENSE-MIT")}
    notes = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "sboms/plimsoll-python.cyclonedx.json")}
    needed = {*sources, *licences, *notes, "plimsoll/py.typed"}
    built = re.compile(rf"plimsoll/_core\.[\w.-]+|plimsoll-{version()}\.data/scripts/plimsoll(\.exe)?")
    assert needed <= set(names), f"missing in the wheel: {sorted(needed - set(names))}"
    others = [name for name in names if name not in needed]
    assert len(others) == 2 and all(map(built.fullmatch, others)), f"unexpected files in the wheel: {others}"
    assert (metadata["Name"], metadata["Version"]) == ("plimsoll", version())
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert "# Plimsoll for Python" in metadata.get_payload()
    required = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert not required, f"the package requires {required}"


def check_source(path):
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    with tarfile.open(path) as archive:
        root = f"plimsoll-{version()}/"
        names = {name.removeprefix(root) for name in archive.getnames()}
    crates = {"support", "model", "proof", "heuristics", "solvers", "datasets", "experiments/lab", "python"}
    needed = {f"{crate}/Cargo.toml" for crate in crates} | {"Cargo.toml", "Cargo.lock", "PKG-INFO", "src/lib.rs"}
    # maturin moves the Python modules to the root of the archive.
    sources = {str(file.relative_to(PACKAGE)) for file in (PACKAGE / "plimsoll").glob("*.py*")}
    licences = {f"python/LICENSE-{name}" for name in ("APACHE", "MIT")}
    missing = (needed | sources | licences) - names
    assert not missing, f"missing in the source archive: {sorted(missing)}"
    stray = [name for name in names if re.search(r"\.(so|pyd|dylib|pyc)$|_core\.data|target/", name)]
    assert not stray, f"unexpected files in the source archive: {stray}"


if __name__ == "__main__":
    check_wheel(Path(sys.argv[1]))
    check_source(Path(sys.argv[2]))
