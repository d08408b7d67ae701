"""Every test runs in a folder of its own, on made-up people."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

import residua as rs

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="session")
def ctrl_c():
    """A shell starts its jobs in the background with Ctrl-C ignored, and Python leaves that so: tests of it would fail."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def cli():
    """The command line that comes with the package."""
    program = Path(os.environ.get("RESIDUA_CLI", Path(rs.__file__).parent / "_bin" / "residua"))
    assert program.exists(), f"{program}: install the package first, or name the program in RESIDUA_CLI"

    def run(*arguments, exit_code=0):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == exit_code, done.stderr
        return done.stdout if exit_code == 0 else done.stderr

    return run


@pytest.fixture(scope="session")
def people_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    made = subprocess.run(
        [sys.executable, ROOT / "examples/make_people.py", "3000"], capture_output=True, check=True
    )
    path.write_bytes(made.stdout)
    return path


@pytest.fixture(scope="session")
def people(people_csv):
    return pd.read_csv(people_csv)


@pytest.fixture
def domain():
    return rs.Domain(
        age=rs.integers(0, 99, queries="prefix", outside="clamp"),
        sex=["female", "male"],
        education=rs.values(
            "primary", "secondary", "vocational", "bachelor", "master", "doctorate", null=True
        ),
        income=rs.cuts(5000, 10_000, 20_000, 40_000, 80_000),
    )


@pytest.fixture
def release(domain, people):
    return rs.plan(domain, marginals="<=2", rho=0.5).measure(people, ledger="people.ledger")


def python_of(page):
    """The code of a page of the documentation, in order, as one script."""
    text = page.read_text(encoding="utf-8")
    blocks = [block.partition("\n```")[0] for block in text.split("```python\n")[1:]]
    assert blocks
    return "\n".join(blocks)


def example_release():
    frame = pd.DataFrame({"age": [3, 50, 70], "sex": ["female", "male", "male"]})
    domain = rs.Domain(age=rs.integers(0, 99), sex=["female", "male"])
    ledger = f"example{len(list(Path.cwd().glob('example*')))}.ledger"
    return rs.plan(domain, marginals="<=2", rho=1).measure(frame, ledger=ledger)


def example_means():
    frame = pd.DataFrame(
        {"carrier": ["AA"] * 300 + ["DL"] * 200, "delay": [20] * 250 + [30, 10] * 25 + [20] * 200}
    )
    domain = rs.Domain(
        carrier=["AA", "DL", "ZZ"], delay=rs.integers(-60, 600, queries="mean", outside="clamp")
    )
    ledger = f"example{len(list(Path.cwd().glob('example*')))}.ledger"
    return rs.plan(domain, marginals="<=2", rho=50).measure(frame, ledger=ledger)


def example_ledger():
    before = set(Path.cwd().glob("example*"))
    example_release()
    return (set(Path.cwd().glob("example*")) - before).pop()
