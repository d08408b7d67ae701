#!/usr/bin/env python3
"""Draws the gallery of the documentation site into a folder: what plots look like, on made-up people."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

import residua as rs

matplotlib.use("Agg")
pages = Path(sys.argv[1]).resolve()
maker = Path(__file__).resolve().parents[1] / "examples/make_people.py"
domain = rs.Domain(
    age=rs.integers(0, 99, outside="clamp"),
    sex=["female", "male"],
    education=rs.values("primary", "secondary", "vocational", "bachelor", "master", "doctorate", null=True),
    income=rs.cuts(5000, 10_000, 20_000, 40_000, 80_000),
)
PICTURES = [
    ("One attribute: bars with error bars", ("education",)),
    ("An attribute with many values", ("age",)),
    ("Two attributes: a heatmap", ("education", "income")),
    ("Three attributes: small multiples", ("sex", "education", "income")),
]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    people = subprocess.run([sys.executable, maker, "20000"], capture_output=True, check=True).stdout
    Path("people.csv").write_bytes(people)
    plan = rs.plan(domain, marginals="<=3", rho=0.1)
    release = plan.measure("people.csv", ledger="people.ledger", progress=False)
    lines = ["# Gallery", "", "Pictures of a release of 20,000 made-up people at rho 0.1.", ""]
    for title, names in PICTURES:
        file = "gallery_" + "_".join(names) + ".png"
        release.plot(*names).figure.savefig(pages / file, dpi=90)
        call = "release.plot(" + ", ".join(f'"{name}"' for name in names) + ")"
        lines += [f"## {title}", "", f"`{call}`", "", f"![{title}]({file})", ""]
    plan.plot_errors().figure.savefig(pages / "gallery_errors.png", dpi=90)
    lines += ["## The errors of a plan", "", "`plan.plot_errors()`, before any data is read", "", "![Errors](gallery_errors.png)", ""]
(pages / "gallery.md").write_text("\n".join(lines), encoding="utf-8")
