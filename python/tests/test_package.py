"""What is installed, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
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


def test_program():
    """`residua` and `python -m residua` are the command line."""
    for command in ([Path(sys.prefix, "bin", "residua")], [sys.executable, "-m", "residua"]):
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert rs.__version__ in said.stdout
    failed = subprocess.run([Path(sys.prefix, "bin", "residua"), "plan", "no.toml"], capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr.startswith("residua: no.toml: no such file")


def test_self_contained():
    """The extension and the program need nothing that Linux does not have: what else they need is
    in the wheel, and found there."""
    elsewhere = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1",
                 "libstdc++.so.6", "libz.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    inside = [*(INSTALLED / "_lib").iterdir(), *(INSTALLED.parent / "residua.libs").iterdir()]
    libraries = {file.name for file in inside}
    assert any(name.startswith("libduckdb") for name in libraries)
    assert len(libraries) > 5
    for file in [*INSTALLED.glob("_residua*.so"), INSTALLED / "_bin/residua", *inside]:
        told = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", told))
        assert needed <= elsewhere | libraries, file
        if needed & libraries:
            assert "$ORIGIN" in told, file


def test_loads_nothing_of_the_build():
    """While it works, no library of the packages that it is built with comes from the system."""
    script = """
import pandas as pd, residua as rs
plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
plan.release(pd.DataFrame({"sex": ["male"]}), "released", ledger="a.ledger")
print(open("/proc/self/maps").read())
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    loaded = {Path(line.split(maxsplit=5)[5]) for line in said.splitlines() if ".so" in line}
    built_with = re.compile(r"lib(gmp|gmpxx|mpfr|tbb|fmt|duckdb|tomlplusplus)\b")
    found = [file for file in loaded if built_with.match(file.name)]
    assert len(found) >= 4, loaded
    for file in found:
        assert file.is_relative_to(INSTALLED.parent), file


def test_sdist(tmp_path):
    """The source archive has every file of the repository, and nothing else but what pip asks for."""
    if not (ROOT / ".git").exists():
        pytest.skip("these sources are not those of a repository")
    script = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(tmp_path / f"residua-{rs.__version__}.tar.gz") as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )
    assert packed == {"PKG-INFO", *filter(None, listed.stdout.split("\0"))}


def test_pins():
    """Wheels are built with what pip install would build with."""
    pinned = (ROOT / "scripts/wheel_tools.txt").read_text().lower().replace("_", "-").split()
    for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]:
        assert requirement in pinned


def test_version():
    project = (ROOT / "CMakeLists.txt").read_text()
    assert f"VERSION {rs.__version__}" in project


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

    data = pa.table({f"c{k}": (np.arange(5_000_000) % 40).astype(np.int8) for k in range(6)})
    rs.plan(many, marginals="<=3", rho=1).measure(data, ledger="a.ledger", progress=show)
    phases = [phase for phase, _, _ in seen]
    assert phases == sorted(phases, key=["Reading", "Measuring"].index)
    assert "Measuring" in phases or "Reading" in phases
    # The number of rows, a true count, is not shown as the beginning of measuring.
    assert all(done <= total for phase, done, total in seen if phase == "Measuring")


def test_progress_that_fails_stops_the_work():
    import numpy as np
    import pyarrow as pa

    class Enough(Exception):
        pass

    def show(phase, done, total):
        raise Enough

    many = rs.Domain({f"c{k}": rs.size(40) for k in range(6)})
    data = pa.table({f"c{k}": (np.arange(5_000_000) % 40).astype(np.int8) for k in range(6)})
    with pytest.raises(Enough):
        rs.plan(many, marginals="<=3", rho=1).measure(data, ledger="a.ledger", progress=show)
