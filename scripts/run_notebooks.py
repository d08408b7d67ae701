#!/usr/bin/env python3
"""Runs the notebooks and stores what they show, with build/python-test/bin/python: after a change of what is shown."""

from pathlib import Path

import nbclient
import nbformat

for path in sorted((Path(__file__).resolve().parents[1] / "python/notebooks").glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parent}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)
