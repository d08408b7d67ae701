"""mypy and pyright, in strict mode, on the package and on what its users write. pyright comes as basedpyright, whose wheel
has all that it needs; its strict mode has the same rules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import residua as rs
from conftest import ROOT, python_of

INSTALLED = Path(rs.__file__).parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
assert EXAMPLES


def mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--cache-dir", "mypy", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def pyright(*arguments):
    """What pyright says, as data. Its settings are those of this folder, and its packages those of this Python."""
    found = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [sys.executable, "-m", "basedpyright", "--outputjson", *arguments]
    done = subprocess.run(command, env={**os.environ, "PATH": found}, capture_output=True, text=True)
    assert done.stdout.strip().startswith("{"), done.stdout + done.stderr
    return json.loads(done.stdout)


def faults(*files, mode="strict"):
    """What pyright finds in these files, a line each."""
    folder = Path("checked")
    folder.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, folder)
    settings = {"include": ["checked"], "typeCheckingMode": mode}
    Path("pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    told = pyright()
    assert told["summary"]["filesAnalyzed"] == len(list(folder.iterdir()))
    return [
        f"{Path(fault['file']).name}:{fault['range']['start']['line'] + 1}: {fault['message']}"
        for fault in told["generalDiagnostics"]
        if mode == "strict" or fault["severity"] == "error"
    ]


def test_package():
    """mypy, strictly; the extension by its stub."""
    assert (INSTALLED / "py.typed").exists()
    done = mypy("--config-file", ROOT / "pyproject.toml")
    assert done.returncode == 0, done.stdout


def test_every_public_name_has_a_whole_type():
    told = pyright("--verifytypes", "residua", "--ignoreexternal")["typeCompleteness"]
    unknown = [
        f"{symbol['name']}: {said['message']}"
        for symbol in told["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"]
        for said in symbol["diagnostics"]
    ]
    assert not unknown
    known = {symbol["name"] for symbol in told["symbols"] if symbol["isExported"]}
    assert {f"residua.{name}" for name in rs.__all__} <= known
    assert told["completenessScore"] == 1


def test_examples():
    done = mypy("--strict", *EXAMPLES)
    assert done.returncode == 0, done.stdout
    assert not faults(*EXAMPLES)


WRONG = {
    "marginals=": "margnals=",
    'outside="clamp"': 'outside="clam"',
    "women.interval(0.95)": 'women.interval("0.95")',
    "check.is_ready": "check.ready",
    "rs.between(18, 64), sex": "rs.beteen(18, 64), sex",
}


def test_checkers_find():
    """Both find what would fail when it runs."""
    text = (ROOT / "examples/release_people.py").read_text(encoding="utf-8")
    lines = []
    for right, wrong in WRONG.items():
        lines.append(1 + text[: text.index(right)].count("\n"))
        text = text.replace(right, wrong, 1)
    Path("wrong.py").write_text(text, encoding="utf-8")
    said = mypy("--strict", "wrong.py").stdout
    for found in (said.splitlines()[:-1], faults("wrong.py")):
        places = {int(fault.split(":")[1]) for fault in found if "note:" not in fault}
        assert places >= set(lines), found


def test_page():
    """What docs/python.md shows would be accepted in an editor, which is less strict."""
    Path("page.py").write_text(python_of(ROOT / "docs/python.md"), encoding="utf-8")
    assert not faults("page.py", mode="standard")


def test_example_runs(tmp_path, people_csv):
    shutil.copy(people_csv, "people.csv")  # its ledger is beside it
    example = ROOT / "examples/release_people.py"
    said = subprocess.run([sys.executable, example, "people.csv"], capture_output=True, text=True, check=True)
    assert "women from 18 to 64" in said.stdout
    assert (tmp_path / "people_release/summary.md").exists()
