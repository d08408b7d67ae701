"""Every notebook runs from beginning to end, and what is stored in it is what it shows."""

from __future__ import annotations

import copy
import re

import nbclient
import nbformat
import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
assert NOTEBOOKS


def shown(cell):
    """The words that a cell shows, without the numbers, which are new each time, and so are the order of rows that are
    sorted by them, and the pictures."""
    texts = []
    for output in cell.outputs:
        assert output.output_type != "error"
        content = {"stream": output.text} if output.output_type == "stream" else output.data
        for kind in sorted(content):
            text = "" if kind.startswith("image/") else re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", content[kind])
            texts.append((kind, sorted(text.split())))
    return texts


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path):
    stored = nbformat.read(path, as_version=4)
    assert not re.search(r"/(tmp|home|root|work)/", path.read_text(encoding="utf-8"))
    made = copy.deepcopy(stored)
    nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": path.parent}}).execute()
    num_pictures = 0
    for was, now in zip(stored.cells, made.cells, strict=True):
        if was.cell_type == "code":
            assert shown(was) == shown(now), f"run scripts/run_notebooks.py; it differs below\n{was.source}"
            num_pictures += sum("image/png" in output.get("data", {}) for output in was.outputs)
    assert num_pictures >= 3


def test_comparison_is_fair():
    """Plain counts gain what the page says: not much more than a factor of 1.5."""
    notebook = nbformat.read(ROOT / "python/notebooks/from_csv_to_release.ipynb", as_version=4)
    [text] = [
        output.data["text/plain"]
        for cell in notebook.cells if cell.cell_type == "code"
        for output in cell.outputs if "even split" in str(output)
    ]
    best, even = (float(re.search(rf"{split} split.*\s([\d.]+)$", text, re.M)[1]) for split in ("best", "even"))
    assert 1.15 < best < even < 1.7
