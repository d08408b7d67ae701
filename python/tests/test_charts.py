"""bench/charts.py draws the charts of docs/ from the figures there."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

from conftest import ROOT

STAGES = ["select", "count", "transform", "sample", "reconstruct", "query"]


def texts_of(path):
    texts = (element.text or "" for element in ET.parse(path).iter())
    return {text for text in texts if text.strip()}


def test_charts(tmp_path):
    fairness = tmp_path / "fairness.csv"
    rows = ["weighting,attributes,num_attributes,num_cells,variance"]
    for weighting in ("equal", "sqrt-cells", "cells"):
        rows += [f"{weighting},any,{order},{10**order},{2.5 * 10**order}" for order in range(4)]
    fairness.write_text("\n".join(rows) + "\n", encoding="utf-8")
    stages = ROOT / "docs/bench_stages.tsv"
    draw = [sys.executable, ROOT / "bench/charts.py", "--folder", tmp_path, "--stages", stages]
    subprocess.run([*draw, "--fairness", fairness], check=True)
    for stage in STAGES:
        drawn = texts_of(tmp_path / f"bench_{stage}.svg")
        assert {"residua", "limit", "seconds"} <= drawn
        assert drawn == texts_of(ROOT / f"docs/bench_{stage}.svg")
    drawn = texts_of(tmp_path / "fairness.svg")
    assert {"total", "3 attributes", "equal weights", "cells of the table"} <= drawn
    first = (tmp_path / "bench_count.svg").read_bytes()
    subprocess.run(draw, check=True)
    assert (tmp_path / "bench_count.svg").read_bytes() == first
