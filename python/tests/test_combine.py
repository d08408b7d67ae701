"""Several releases of the same data."""

import numpy as np
import pandas as pd
import pytest

import residua as rs


@pytest.fixture
def frame():
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {"age": random.integers(0, 10, 300), "sex": random.choice(["female", "male"], 300)}
    )


@pytest.fixture
def same():
    return rs.Domain(age=rs.integers(0, 9, queries="prefix"), sex=["female", "male"])


@pytest.fixture
def ledger():
    rs.Ledger.create("same.ledger", rho=10, reason="a test")
    return "same.ledger"


def test_the_second_is_planned_given_the_first(frame, same, ledger):
    first = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    plan = rs.plan(same, marginals="<=2", rho=0.25, after=first)
    assert plan.rmse < rs.plan(same, marginals="<=2", rho=0.25).rmse
    assert plan.relative_gap < 1e-6
    assert plan.privacy.pcost <= 0.5
    both = rs.combine(first, plan.measure(frame, ledger=ledger))
    assert both.plan.privacy.pcost == first.plan.privacy.pcost + plan.privacy.pcost
    assert [part.privacy.rho for part in both.plan.parts] == [
        first.plan.privacy.rho,
        plan.privacy.rho,
    ]
    # The errors are those that the plan said.
    cells = both.variances("age", "sex")
    told = plan.errors()
    assert told["std_dev"].iloc[-1] == pytest.approx(cells.mean() ** 0.5, rel=1e-9)
    estimate = both.query(sex="female")
    assert estimate.release is both
    assert estimate.std_dev < first.query(sex="female").std_dev


def test_combined_estimates_are_means_by_precision(frame, same, ledger):
    plan = rs.plan(same, marginals="<=1", rho=0.5)
    a = plan.measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=1, after=a).measure(frame, ledger=ledger)
    both = rs.combine(a, b)
    left, right, middle = (release.query("") for release in (a, b, both))
    weights = np.array([1 / left.variance, 1 / right.variance])
    assert middle.variance == pytest.approx(1 / weights.sum(), rel=1e-9)
    mean = weights @ [left.value, right.value] / weights.sum()
    assert middle.value == pytest.approx(mean, abs=1e-4 * middle.std_dev)


def test_saved_and_loaded(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger, to="a.parquet")
    b = rs.plan(same, marginals="<=1", rho=0.5, after=a).measure(frame, ledger=ledger)
    both = rs.combine(rs.load("a.parquet"), b)
    both.save("both.parquet")
    rs.verify("both.parquet")
    assert rs.load("both.parquet").query(sex="male") == both.query(sex="male")
    with pytest.raises(rs.Refused, match="measurement in common"):
        rs.combine(rs.load("both.parquet"), a)
    with pytest.raises(rs.Refused, match="not measured itself"):
        both.plan.measure(frame, ledger=ledger)


def test_refusals(frame, same, ledger):
    plan = rs.plan(same, marginals="<=1", rho=0.5)
    a = plan.measure(frame, ledger=ledger)
    with pytest.raises(rs.Refused, match="measurement in common"):
        rs.combine(a, a)
    with pytest.raises(rs.Error, match="at least two"):
        rs.combine(a)
    with pytest.raises(rs.InputError, match="expected residua.Release"):
        rs.combine(a, plan)
    other = plan.measure(frame, ledger="other.ledger")
    with pytest.raises(rs.Refused, match="different data"):
        rs.combine(a, other)
    with pytest.raises(rs.InputError, match="expected a residua.Release"):
        rs.plan(same, marginals=1, rho=1, after=[plan])
    with pytest.raises(rs.InputError, match="loss of your own"):
        rs.plan(same, marginals=1, rho=1, after=a, loss=lambda v: (v.sum(), np.ones_like(v)))


def test_estimates_that_share_noise_are_not_taken_for_independent(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=0.5, after=a).measure(frame, ledger=ledger)
    both = rs.combine(a, b)
    assert a.covariance(a.query(sex="male"), b.query(sex="male")) == 0
    with pytest.raises(rs.InputError, match="share noise"):
        both.compare(both.query(sex="male"), a.query(sex="male"))


def test_what_cannot_be_combined_is_left_out_with_a_warning(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=0.5, basis="orthogonal").measure(frame, ledger=ledger)
    with pytest.warns(UserWarning, match="age"):
        both = rs.combine(a, b)
    assert both.query(sex="male").variance < a.query(sex="male").variance


def test_a_whole_release_needs_the_earlier_ones(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    more = rs.plan(same, marginals="<=1", rho=0.5, after=a)
    spent = len(rs.Ledger(ledger).entries())
    with pytest.raises(rs.Refused, match="combine it with those"):
        more.release(frame, "folder", ledger=ledger)
    assert len(rs.Ledger(ledger).entries()) == spent
