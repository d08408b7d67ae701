"""What must not happen: spends that are lost, noise that can be foretold."""

from __future__ import annotations

import inspect
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import residua as rs
from residua import _residua


@pytest.fixture
def sexes():
    return pd.DataFrame({"sex": ["female", "male", "male"]})


@pytest.fixture
def small():
    return rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=0.5)


def kinds(ledger):
    return rs.Ledger(ledger).entries()["kind"].tolist()


def test_a_ledger_is_needed_for_rows_in_memory(small, sexes):
    with pytest.raises(rs.Error, match="name the one that their budget is kept in"):
        small.measure(sexes)


def test_measured_once(small, sexes):
    small.measure(sexes, ledger="a.ledger")
    with pytest.raises(rs.Refused, match=r"measured before, into \(in memory\).*again=True"):
        small.measure(sexes, ledger="a.ledger")
    assert kinds("a.ledger") == ["granted", "spent", "refused"]


def test_overspending_is_refused_until_granted(small, sexes):
    small.measure(sexes, ledger="a.ledger")
    with pytest.raises(rs.Refused, match=r'Ledger\("a.ledger"\).grant\(rho=0.5, reason=...\)'):
        small.measure(sexes, ledger="a.ledger", again=True)
    rs.Ledger("a.ledger").grant(rho=0.5, reason="a test")
    small.measure(sexes, ledger="a.ledger", again=True)
    assert kinds("a.ledger") == ["granted", "spent", "refused", "granted", "spent"]
    granted, spent = rs.Ledger("a.ledger").balance
    assert granted == 1
    assert spent == small.privacy.pcost


def test_a_file_has_its_ledger_beside_it(small, sexes):
    sexes.to_csv("sexes.csv", index=False)
    small.measure("sexes.csv", to="m.parquet")
    assert kinds("sexes.csv.ledger") == ["granted", "spent"]
    assert rs.Ledger("sexes.csv.ledger").entries()["what"].iloc[1] == str(Path("m.parquet").absolute())
    with pytest.raises(rs.Refused, match="exists already.*choose another path"):
        small.measure("sexes.csv", to="m.parquet", again=True)


def test_a_ledger_beside_the_data_is_not_bypassed(small, sexes):
    sexes.to_csv("sexes.csv", index=False)
    small.measure("sexes.csv")
    with pytest.raises(rs.Refused, match="sexes.csv.ledger: this plan was measured before"):
        small.measure("sexes.csv", ledger="b.ledger")
    with pytest.raises(rs.Refused, match="sexes.csv.ledger: the budget does not allow it"):
        small.measure("sexes.csv", ledger="b.ledger", again=True)
    rs.Ledger("sexes.csv.ledger").grant(rho=1, reason="a test")
    with pytest.warns(UserWarning, match="sexes.csv.ledger lies beside the data, and b.ledger was named"):
        small.measure("sexes.csv", ledger="b.ledger", again=True)
    assert kinds("b.ledger") == ["granted", "spent"]
    assert kinds("sexes.csv.ledger")[-1] == "spent"
    assert rs.Ledger("sexes.csv.ledger").entries()["note"].iloc[-1].endswith("b.ledger")


def test_data_with_several_names_needs_its_ledger_named(small, sexes):
    sexes.to_csv("sexes.csv", index=False)
    os.link("sexes.csv", "linked.csv")
    with pytest.raises(rs.Refused, match="2 names"):
        small.measure("linked.csv")
    assert not Path("linked.csv.ledger").exists()
    small.measure("linked.csv", ledger="linked.csv.ledger")


def test_bad_values_spend_nothing(small):
    with pytest.raises(rs.Error, match="has the value 'other'"):
        small.measure(pd.DataFrame({"sex": ["other"]}), ledger="a.ledger")
    assert not Path("a.ledger").exists()


def test_a_draft_is_refused(sexes):
    Path("draft.toml").write_text(
        '[attributes.sex]\nvalues = ["female", "male"]\ncheck = "read from the data"\n'
        "[workload]\nmarginals = 1\n[privacy]\nrho = 1\n"
    )
    with pytest.raises(rs.Refused, match="sex"):
        rs.plan("draft.toml").measure(sexes, ledger="a.ledger")
    assert not Path("a.ledger").exists()


@pytest.mark.parametrize(("phase", "to"), [("Reading", None), ("Measuring", None), ("Measuring", "m.parquet")])
def test_interrupted_in_each_phase(phase, to):
    """Before noise nothing is spent; once noise may have been drawn, it counts."""

    def show(now, done, total):
        if now == phase:
            os.kill(os.getpid(), signal.SIGINT)

    domain = rs.Domain({f"c{k}": rs.size(80) for k in range(7)})
    rows = pa.table({f"c{k}": np.arange(3_000_000) % 80 for k in range(7)})
    plan = rs.plan(domain, marginals="<=3", rho=1)
    with pytest.raises(KeyboardInterrupt) as stopped:
        plan.measure(rows, ledger="a.ledger", to=to, progress=show)
    notes = " ".join(getattr(stopped.value, "__notes__", []))
    assert "stopped before it was done" in notes
    if phase == "Reading":
        assert list(Path.cwd().iterdir()) == []
        return
    assert kinds("a.ledger") == ["granted", "reserved"]
    assert [path.name for path in Path.cwd().iterdir()] == ["a.ledger"]
    assert "the spend stays reserved as entry 2" in notes
    with pytest.raises(rs.Refused, match=r'was interrupted.*residua.Ledger\("a.ledger"\).forgive'):
        plan.measure(rows, ledger="a.ledger", to=to)
    rs.Ledger("a.ledger").forgive(2, reason="a test; nothing was published")
    assert rs.Ledger("a.ledger").balance.spent == 0


def test_planning_is_interrupted():
    calls = []

    def loss(variances):
        calls.append(variances)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return variances @ variances, 2 * variances

    slow = rs.Domain(a=rs.size(300, queries="range"), b=rs.size(50, queries="prefix"))
    with pytest.raises(KeyboardInterrupt):
        rs.plan(slow, marginals="<=2", rho=1, loss=loss)


INTERRUPTED = """
import sys, numpy as np, pyarrow as pa, residua as rs
data = pa.table({f"c{i}": np.arange(300_000, dtype=np.int64) * (i + 7) % 30 for i in range(8)})
domain = rs.Domain({f"c{i}": rs.size(30) for i in range(8)})
plan = rs.plan(domain, marginals="<=3", rho=1)
print("ready", flush=True)
try:
    release = plan.measure(data, ledger="c.ledger", to=sys.argv[1] or None, progress=False)
    print("done", flush=True)
except KeyboardInterrupt as stopped:
    print("stopped", *getattr(stopped, "__notes__", []), flush=True)
"""


@pytest.mark.parametrize("to", ["", "c.parquet"])
def test_interrupted_at_random_moments(to, tmp_path):
    """Ctrl-C leaves no half file, and a ledger that counts whatever may have met noise."""
    seen = set()
    longest = 2.0
    for attempt in range(9):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED, to], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        start = time.monotonic()
        if attempt > 0:
            time.sleep(random.uniform(0, longest))
            process.send_signal(signal.SIGINT)
        said = process.stdout.read()
        process.wait()
        if attempt == 0:
            longest = time.monotonic() - start
        ledger = folder / "c.ledger"
        state = kinds(ledger)[1:] if ledger.exists() else []
        seen.add(tuple(state))
        left = sorted(path.name for path in folder.iterdir() if path.name != "c.ledger")
        if said.startswith("done"):
            assert state == ["spent"]
        else:
            assert process.returncode in (0, -signal.SIGINT, 130, 1)
        if "stays reserved" in said:
            assert state == ["reserved"]
            assert 'residua.Ledger("c.ledger").forgive(2, reason=...)' in said
        if state == ["reserved"]:
            assert left == []
            rs.Ledger(ledger).forgive(2, reason="a test; nothing was published")
        if left:
            assert left == ["c.parquet"]
            assert state == ["spent"]
            rs.verify(folder / "c.parquet")
    assert ("spent",) in seen


def test_noise_cannot_be_foretold(sexes):
    """No seed of any kind makes two measurements alike."""
    drawn = set()
    plan = rs.plan(rs.Domain(a=rs.size(50)), marginals=1, rho=0.001)
    frame = pd.DataFrame({"a": [1]})
    for attempt in range(3):
        random.seed(0)
        np.random.seed(0)
        os.environ.update(RESIDUA_SEED="0", PYTHONHASHSEED="0")
        drawn.add(tuple(plan.measure(frame, ledger=f"{attempt}.ledger").residuals("a")))
    assert len(drawn) == 3


def test_no_seed_is_reachable():
    """Neither by the package's names and arguments nor by those of the extension under it."""
    texts = [(Path(rs.__file__).parent / "_residua.pyi").read_text()]
    for name in rs.__all__:
        item = getattr(rs, name)
        texts.append(name)
        for function in [item, *vars(item).values()] if inspect.isclass(item) else [item]:
            if inspect.isfunction(function):
                texts.append(f"{function.__name__}{inspect.signature(function)}")
    assert any("def measure(" in text for text in texts)
    for word in ("seed", "insecure", "bits", "random"):
        assert not [text for text in texts if word in text.lower()]


def test_nothing_of_the_library_is_exported():
    """Only Python's door: no symbol lets another library in the process draw or replace noise."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", _residua.__file__], capture_output=True, text=True, check=True
    )
    exported = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert exported == {"PyInit__residua"}
    content = Path(_residua.__file__).read_bytes()
    for word in (b"InsecureContinuousGaussian", b"DeterministicBits"):
        assert word not in content


def test_an_epsilon_budget_is_on_the_gaussian_curve():
    domain = rs.Domain(sex=["female", "male"])
    plan = rs.plan(domain, marginals=1, epsilon=1, delta=1e-9)
    privacy = plan.privacy
    assert 0.0331 < privacy.mu2 <= privacy.budget_pcost < 0.033115
    assert privacy.pcost < privacy.mu2 <= privacy.mu**2 * (1 + 1e-15)
    assert 0.999 < privacy.epsilon <= 1
    frame = pd.DataFrame({"sex": ["male", "female"]})
    plan.measure(frame, ledger="curve.ledger")
    ledger = rs.Ledger("curve.ledger")
    assert ledger.balance.granted == 0
    assert ledger.balance_mu2 == (privacy.budget_pcost, privacy.mu2)
    with pytest.raises(rs.Refused, match=r"mu\^2 .* was spent"):
        rs.plan(domain, marginals=1, epsilon=2, delta=1e-9).measure(frame, ledger="curve.ledger")
    ledger.grant(epsilon=2, delta=1e-9, reason="a test")
    rs.plan(domain, marginals=1, epsilon=2, delta=1e-9).measure(frame, ledger="curve.ledger")
    assert "mu^2" in repr(ledger)
    with pytest.raises(rs.Error, match="a grant needs rho, mu, or epsilon with delta"):
        ledger.grant(reason="nothing")
