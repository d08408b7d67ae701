"""Sums and means of a number."""

import subprocess
import sys
from pathlib import Path

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


def test_one_parquet_file(measured):
    measured.save("f.parquet")
    program = Path(sys.prefix, "bin", "residua")
    subprocess.run([program, "tables", "f.parquet", "--one-file", "-o", "all.parquet"], check=True, capture_output=True)
    file = pd.read_parquet("all.parquet")
    for name in "carrier", "month":
        rows = file[file["table"] == f"{name}_x_delay"]
        expected = measured.table(name, "delay")
        for column in "estimate", "sum", "sum_std_dev", "mean", "mean_std_dev", "mean_ci_lower", "mean_ci_upper":
            assert rows[column].tolist() == pytest.approx(expected[column].tolist(), rel=1e-12, nan_ok=True)
        assert rows["mean_note"].tolist() == expected["mean_note"].tolist()
    assert file[file["table"] == "carrier"]["mean"].isna().all()


def test_what_has_no_mean(measured):
    with pytest.raises(rs.InputError, match="neither a sum nor a mean"):
        measured.mean("month")
    with pytest.raises(rs.InputError, match="only the sum and the mean of 'delay'"):
        measured.query(delay=5)
    with pytest.raises(rs.InputError, match="has a mean"):
        measured.estimates("carrier", "delay")
    with pytest.raises(rs.InputError, match="does not divide"):
        rs.plan(rs.Domain(a=rs.numbers(0, 1, step=0.3)), marginals=1, rho=1)
    with pytest.raises(rs.InputError, match=r"^domain\['a'\].numbers: 'inf' is not a number; write"):
        rs.plan(rs.Domain(a=rs.numbers(0, np.inf)), marginals=1, rho=1)
    for ask in measured.query, lambda mean: measured.compare(mean, "carrier=AA"):
        with pytest.raises(rs.InputError, match="asks for a mean; ask Release.mean for it, and compare"):
            ask("mean(delay) carrier=AA")
    with pytest.raises(rs.InputError, match="names 'delay' twice; its mean and its sum are of all rows"):
        measured.mean("delay", delay=None)
    assert ("delay",) not in measured.adjusted()


def known(flights):
    return flights.dropna().assign(delay=lambda f: f["delay"].clip(-60, 600))


def domain_of_means():
    return rs.Domain(
        carrier=["AA", "DL", "ZZ"],
        month=rs.integers(1, 12),
        delay=rs.numbers(-60, 600, step=0.5, outside="clamp", null=True),
    )


def assert_near_the_truth(release, flights):
    """Every count, sum and mean by carrier is within six standard deviations."""
    table = release.table("carrier", "delay").set_index("carrier")
    for carrier, rows in known(flights).groupby("carrier"):
        row = table.loc[carrier]
        assert abs(row["estimate"] - len(rows)) < 6 * row["std_dev"]
        assert abs(row["sum"] - rows["delay"].sum()) < 6 * row["sum_std_dev"]
        assert abs(row["mean"] - rows["delay"].mean()) < 6 * row["mean_std_dev"]
    return table


def test_two_releases_are_combined(flights):
    rs.Ledger.create("f.ledger", rho=10, reason="a test")
    domain = domain_of_means()
    first = rs.plan(domain, marginals="<=1", rho=0.5).measure(flights, ledger="f.ledger")
    plan = rs.plan(domain, marginals="<=2", rho=0.5, after=first)
    both = rs.combine(first, plan.measure(flights, ledger="f.ledger"))
    table = assert_near_the_truth(both, flights)
    fresh = rs.plan(domain, marginals="<=2", rho=0.5).measure(flights, ledger="f.ledger")
    assert (
        table["sum_std_dev"] < fresh.table("carrier", "delay").set_index("carrier")["sum_std_dev"]
    ).all()
    # Of the same number of all rows, weighed by precision.
    sums = [release.sum("delay") for release in (first, both)]
    assert sums[1].std_dev < sums[0].std_dev
    assert both.mean("delay").std_dev < first.mean("delay").std_dev
    with pytest.raises(rs.InputError, match="share noise"):
        both.mean("delay").minus(first.mean("delay"))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_neighbours(flights, neighbours):
    plan = rs.plan(domain_of_means(), marginals="<=2", rho=5, neighbours=neighbours)
    assert_near_the_truth(plan.measure(flights, ledger="f.ledger"), flights)


def test_rows_of_identifiers(flights):
    # At most two rows of each: none is left out, and the noise is twice as large.
    flights = flights.assign(tail=np.arange(len(flights)) // 2)
    domain = domain_of_means()
    plan = rs.plan(domain, marginals="<=2", rho=5, identifier="tail", max_rows=2)
    table = assert_near_the_truth(plan.measure(flights, ledger="f.ledger"), flights)
    alone = rs.plan(domain, marginals="<=2", rho=5).measure(flights, ledger="other.ledger")
    expected = 2 * alone.table("carrier", "delay")["sum_std_dev"].to_numpy()
    assert table["sum_std_dev"].to_numpy() == pytest.approx(expected, rel=1e-3)


def test_means_are_in_their_range():
    rows = pd.DataFrame({"side": ["low", "high", "few"] * 300, "x": [0.0, 10.0, 5.0] * 300})
    rows = rows[rows["side"] != "few"]
    domain = rs.Domain(side=["low", "high", "few"], x=rs.numbers(0, 10))
    for k in range(5):
        release = rs.plan(domain, marginals="<=2", rho=0.1).measure(rows, ledger=f"{k}.ledger")
        table = release.table("side", "x").set_index("side")
        assert table[["mean", "mean_ci_lower", "mean_ci_upper"]].dropna().stack().between(0, 10).all()
        for side in ("low", "high"):
            mean = release.mean("x", side=side)
            assert mean.range == (0, 10)
            assert mean.value == pytest.approx(min(max(mean.ratio, 0), 10))
            assert mean.value == pytest.approx(table.loc[side, "mean"])
            assert mean.interval() == pytest.approx(
                tuple(table.loc[side, ["mean_ci_lower", "mean_ci_upper"]])
            )
        # Noise alone makes no mean at this confidence, except once in a million times.
        surely = release.table("side", "x", confidence=1 - 1e-6).set_index("side")
        assert list(surely["mean_note"]) == ["", "", "too few rows"]
        few = release.mean("x", side="few")
        assert few.interval(1 - 1e-6) is None
        if few.interval() is None:
            with pytest.raises(rs.InputError, match="too few rows"):
                few.minus(release.mean("x", side="low"))
        # Rows that are subtracted make no mean.
        apart = release.mean("x", side=rs.weights([1.0, -1.0, 0.0]))
        assert apart.range == (float("-inf"), float("inf"))


def test_errors_of_counts_sums_and_means(flights, measured):
    errors = measured.plan.errors().set_index("table")
    told = {"total": 1, "carrier": 3, "month": 12, "delay": 1, "carrier x delay": 3}
    assert {name: errors["cells"][name] for name in told} == told
    assert errors[["sum_std_dev", "mean_std_dev_times_rows"]].loc["carrier"].isna().all()
    for names in (("delay",), ("carrier", "delay"), ("month", "delay")):
        table, of = measured.table(*names), errors.loc[" x ".join(names)]
        assert table["std_dev"].to_numpy() == pytest.approx(of["std_dev"], rel=1e-6)
        assert table["sum_std_dev"].to_numpy() == pytest.approx(of["sum_std_dev"], rel=1e-6)
        known = table.dropna(subset=["mean"])
        most = of["mean_std_dev_times_rows"] / known["estimate"]
        assert (known["mean_std_dev"] <= most * (1 + 1e-6)).all()
    squares = (errors["cells"] * errors["std_dev"] ** 2).sum() / errors["cells"].sum()
    assert measured.plan.rmse == pytest.approx(np.sqrt(squares), rel=1e-9)


def test_max_std_dev_bounds_counts():
    domain = rs.Domain(carrier=["AA", "DL"], delay=rs.integers(0, 1000, queries="mean"))
    plan = rs.plan(domain, tables=[["carrier", "delay"]], max_std_dev=5)
    assert plan.max_std_dev <= 5
    errors = plan.errors().iloc[0]
    assert errors["max_std_dev"] <= 5
    assert errors["sum_std_dev"] <= 5 * 1000
