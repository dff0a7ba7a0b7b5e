"""Uses an installed wheel without pytest: `python installed.py EXTRAS MODEL`, in a folder without the sources."""

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import plimsoll

ROWS = [("input", 0, 2, 4), ("conv", 1, 4, 6), ("pool", 3, 6, 2)]
EXTRAS, MODEL = sys.argv[1:]


def main():
    assert Path(plimsoll.__file__).is_relative_to(sys.prefix), plimsoll.__file__
    instance = plimsoll.Instance(ROWS)
    solution = plimsoll.solve(instance)
    assert solution.status == "optimal" and [row["offset"] for row in solution.rows] == [6, 0, 6]
    assert pickle.loads(pickle.dumps(solution)) == solution
    records = plimsoll.bench(instance, ["greedy-by-size", lambda instance: [6, 0, 6]])
    assert "<html" in plimsoll.report(records)
    assert plimsoll.load_model(MODEL).plan().status == "optimal"
    if EXTRAS:
        assert solution.offsets.tolist() == [6, 0, 6] and list(solution.to_pandas()["offset"]) == [6, 0, 6]
        assert list(records["value"]) == [10, 10]
    else:
        assert importlib.util.find_spec("numpy") is None and records[0]["value"] == 10
        try:
            print(solution.offsets)
        except ImportError as error:
            assert "pip install 'plimsoll[numpy]'" in str(error), error
        else:
            raise AssertionError("offsets must need NumPy")
    Path("small.12.csv").write_text(instance.to_csv())
    for command in (["plimsoll"], [sys.executable, "-m", "plimsoll"]):
        version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
        assert version.split()[:2] == ["plimsoll", plimsoll.__version__], version
        solved = subprocess.run([*command, "solve", "small.12.csv"], capture_output=True, text=True, check=True)
        assert "optimal" in solved.stdout, solved.stdout
        assert subprocess.run([*command, "solve", "missing.csv"], capture_output=True).returncode == 2
    words = [*command, "bench", "small.12.csv", "--processes", "--algorithms", "exact", "--out", "record", "--time-limit", "5"]
    subprocess.run(words, capture_output=True, check=True)
    assert "exact" in plimsoll.report("record")


if __name__ == "__main__":
    main()
