"""What is installed, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import residua as rs
from conftest import ROOT
from residua import _residua

INSTALLED = Path(rs.__file__).parent


def test_installed_and_not_the_sources():
    """Also from the repository, whose folder residua/ is the C++ library."""
    assert "site-packages" in str(INSTALLED)
    said = subprocess.run(
        [sys.executable, "-c", "import residua; print(residua.__file__)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )
    assert said.stdout.strip() == rs.__file__


def test_pins():
    """The tests build with what pip install would build with."""
    pinned = (ROOT / "python/requirements-test.txt").read_text().lower().replace("_", "-").split()
    for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]:
        assert requirement in pinned


def test_version():
    project = (ROOT / "CMakeLists.txt").read_text()
    assert f"VERSION {rs.__version__}" in project


def test_types():
    """mypy, strictly; the extension by its stub."""
    assert (INSTALLED / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", "mypy"],
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout


def test_stub_names_everything():
    stub = (INSTALLED / "_residua.pyi").read_text()
    for name in dir(_residua):
        if not name.startswith("__"):
            assert re.search(rf"(def|class) {name}\b|^{name}:", stub, re.M), name


def test_library_names_no_command():
    """Remedies are data, which the command line words as commands and this package as calls."""
    named = []
    for file in sorted((ROOT / "residua").rglob("*.cc")):
        if file.name in ("draft_spec.cc", "summary.cc"):  # texts of files for people, not messages
            continue
        source = re.sub(r"'(?:[^'\\\n]|\\.)'", "", file.read_text())  # a quotation mark as a character
        source = re.sub(r'"\s*\n\s*"', "", source)
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', source):
            if re.search(r"(^| )(--[a-z]+|-o\b|residua (plan|measure|tables|ledger|query|release|check|init)\b)", text):
                named.append(f"{file.name}: {text}")
    assert not named


def test_without_extras(tmp_path):
    """Without matplotlib, tqdm, polars or mbi everything else works, and they are named if missed."""
    script = """
import sys
for name in ("matplotlib", "tqdm", "tqdm.auto", "polars", "mbi", "jax"):
    sys.modules[name] = None
import pandas as pd, residua as rs
plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
release = plan.measure(pd.DataFrame({"sex": ["male"]}), ledger="a.ledger")
for call in (plan.plot_errors, lambda: release.plot("sex"), release.linear_measurements):
    try:
        call()
    except rs.Error as error:
        print(error)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [
        "plots need matplotlib; pip install residua[plot]",
        "plots need matplotlib; pip install residua[plot]",
        "synthetic data needs mbi; pip install residua[synthetic]",
    ]


def test_progress(domain, people):
    """Phases come in order, and the work is what it was without."""
    seen = []

    def show(phase, done, total):
        seen.append((phase, done, total))

    many = rs.Domain({f"c{k}": rs.size(40) for k in range(6)})
    import numpy as np
    import pyarrow as pa

    data = pa.table({f"c{k}": np.arange(500_000) % 40 for k in range(6)})
    rs.plan(many, marginals="<=3", rho=1).measure(data, ledger="a.ledger", progress=show)
    phases = [phase for phase, _, _ in seen]
    assert phases == sorted(phases, key=["Reading", "Measuring"].index)
    assert "Measuring" in phases or "Reading" in phases
    assert all(done <= total for phase, done, total in seen if phase == "Measuring" and total)


def test_progress_that_fails_stops_the_work():
    import numpy as np
    import pyarrow as pa

    class Enough(Exception):
        pass

    def show(phase, done, total):
        raise Enough

    many = rs.Domain({f"c{k}": rs.size(40) for k in range(6)})
    data = pa.table({f"c{k}": np.arange(500_000) % 40 for k in range(6)})
    with pytest.raises(Enough):
        rs.plan(many, marginals="<=3", rho=1).measure(data, ledger="a.ledger", progress=show)
