"""Private-PGM takes what a release exports, and fits it."""

from __future__ import annotations

import itertools

import jax
import mbi
import numpy as np
import pandas as pd
import pytest

import residua as rs

jax.config.update("jax_enable_x64", True)


@pytest.fixture(scope="module")
def truth():
    bits = np.random.default_rng(5)
    a = bits.integers(0, 6, 20_000)
    b = (a + bits.integers(0, 3, 20_000)) % 5
    c = (b > 2) ^ (bits.random(20_000) < 0.1)
    return pd.DataFrame({"a": a, "b": b, "c": c.astype(int)})


@pytest.fixture(scope="module")
def measured(truth, tmp_path_factory):
    domain = rs.Domain(a=rs.integers(0, 5, queries="prefix"), b=rs.size(5), c=rs.size(2))
    ledger = tmp_path_factory.mktemp("synthetic") / "a.ledger"
    return rs.plan(domain, marginals="<=2", rho=0.05).measure(truth, ledger=ledger)


def factor(frame, names, sizes):
    counts = np.zeros([sizes[name] for name in names])
    np.add.at(counts, tuple(frame[name] for name in names), 1 if names else len(frame))
    return mbi.Factor(mbi.Domain(names, counts.shape), counts)


@pytest.mark.parametrize("form", ["residuals", "marginals"])
def test_measurements_are_of_the_truth(measured, truth, form):
    """Each differs from the same query of the true marginal by noise of its standard deviation."""
    sizes = measured.plan.sizes
    errors = []
    for measurement in measured.linear_measurements(form):
        true_answers = np.asarray(measurement.query(factor(truth, measurement.clique, sizes))).ravel()
        errors.append((np.asarray(measurement.noisy_measurement) - true_answers) / measurement.stddev)
    z = np.concatenate(errors)
    assert abs(z).max() < 6
    assert 0.15 < (z**2).mean() < 4


@pytest.mark.parametrize("form", ["residuals", "marginals"])
def test_synthetic_data(measured, truth, form):
    sizes = measured.plan.sizes
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    model = mbi.estimation.MirrorDescent().estimate(
        domain, measured.linear_measurements(form), known_total=measured.query().value, iters=400
    )
    synthetic = model.synthetic_data(rows=len(truth))
    for pair in itertools.combinations(sizes, 2):
        ours = np.asarray(synthetic.project(pair).datavector())
        theirs = np.asarray(factor(truth, pair, sizes).values).ravel()
        assert abs(ours - theirs).sum() / 2 / len(truth) < 0.05


def test_messages(measured):
    with pytest.raises(rs.Error, match="form 'tables' is not known; choose residuals or marginals"):
        measured.linear_measurements("tables")
