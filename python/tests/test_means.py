"""Sums and means of a number."""

import numpy as np
import pandas as pd
import pytest
import residua as rs


@pytest.fixture
def flights():
    random = np.random.default_rng(4)
    carrier = random.choice(["AA", "DL"], 5000)
    delay = np.where(carrier == "AA", 10.0, 3.0) + random.normal(0, 40, 5000).round()
    delay[::20] = np.nan
    return pd.DataFrame({"carrier": carrier, "month": random.integers(1, 13, 5000), "delay": delay})


@pytest.fixture
def measured(flights):
    domain = rs.Domain(
        carrier=["AA", "DL", "ZZ"],
        month=rs.integers(1, 12),
        delay=rs.numbers(-60, 600, step=0.5, outside="clamp", null=True),
    )
    return rs.plan(domain, marginals="<=2", rho=20).measure(flights, ledger="f.ledger")


def test_means_are_near_the_truth(flights, measured):
    known = flights.dropna().assign(delay=lambda f: f["delay"].clip(-60, 600))
    truth = known[known["carrier"] == "AA"]["delay"]
    table = measured.table("carrier", "delay").set_index("carrier")
    assert list(table.columns[:4]) == ["estimate", "std_dev", "ci_lower", "ci_upper"]
    row = table.loc["AA"]
    for name, true in ("estimate", len(truth)), ("sum", truth.sum()), ("mean", truth.mean()):
        std_dev = row["std_dev" if name == "estimate" else f"{name}_std_dev"]
        assert abs(row[name] - true) < 6 * std_dev
    mean = measured.mean("delay", carrier="AA")
    assert mean.value == pytest.approx(row["mean"])
    assert mean.std_dev == pytest.approx(row["mean_std_dev"])
    assert mean.interval().lower == pytest.approx(row["mean_ci_lower"])
    assert measured.sum("delay", carrier="AA").value == pytest.approx(row["sum"])
    assert measured.query("sum(delay) carrier=AA").value == pytest.approx(row["sum"])
    apart = mean.minus(measured.mean("delay", carrier="DL"))
    assert apart.value == pytest.approx(row["mean"] - table.loc["DL", "mean"])
    assert 0 < apart.std_dev < mean.std_dev + measured.mean("delay", carrier="DL").std_dev
    assert list(table["mean_note"])[:2] == ["", ""]


def test_the_order_of_attributes(measured):
    table = measured.table("delay", "month")
    assert table.columns[0] == "month" and len(table) == 12
    assert measured.table("delay").shape[0] == 1


def test_all_tables_at_once(measured):
    frame = measured.to_pandas()
    rows = frame[frame["table"] == "carrier_x_delay"]
    expected = measured.table("carrier", "delay")
    assert np.allclose(rows["mean"], expected["mean"], equal_nan=True)
    assert frame[frame["table"] == "carrier"]["mean"].isna().all()
    assert measured.to_arrow().num_rows == len(frame)
    assert {len(table) for _, table in measured.tables().items()} >= {1, 3, 12}


def test_what_has_no_mean(measured):
    with pytest.raises(rs.InputError, match="neither a sum nor a mean"):
        measured.mean("month")
    with pytest.raises(rs.InputError, match="only the sum and the mean of 'delay'"):
        measured.query(delay=5)
    with pytest.raises(rs.InputError, match="has a mean"):
        measured.estimates("carrier", "delay")
    with pytest.raises(rs.InputError, match="does not divide"):
        rs.plan(rs.Domain(a=rs.numbers(0, 1, step=0.3)), marginals=1, rho=1)
    assert ("delay",) not in measured.adjusted()
