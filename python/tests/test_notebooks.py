"""Every notebook runs from beginning to end."""

from __future__ import annotations

import nbclient
import nbformat
import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parent}})
    client.execute()
    last = notebook.cells[-1].outputs[0].text
    assert last.startswith("RMSE predicted")
