"""Tests that the examples of the book and the notebook run as printed."""

import doctest
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that contains only the model that the examples read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.json").write_bytes((ROOT / "python/notebooks/model.json").read_bytes())
    return tmp_path


def test_the_chapter(folder):
    pytest.importorskip("pandas")
    text = (ROOT / "docs/src/python/index.md").read_text()
    examples = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, "python/index.md", None, 0)
    messages = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=messages.append)
    assert test.examples and not messages, "".join(messages)


def test_the_notebook(folder):
    notebook = json.loads((ROOT / "python/notebooks/first.ipynb").read_text())
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102
