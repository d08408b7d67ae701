"""Private-PGM takes what a release exports, and synthetic data is near the release."""

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


@pytest.fixture(scope="module")
def synthetic(measured):
    return measured.synthetic()


class TestSynthetic:
    def test_it_converges(self, measured, synthetic):
        """The tables are as near as the noise lets them be; a short fit says that it is not."""
        assert synthetic.converged
        assert synthetic.model_rms < 1
        assert synthetic.distances["table"].tolist() == ["total", "a", "b", "c", "a x b", "a x c", "b x c"]
        assert synthetic.distances["rms"].max() < 3
        short = measured.synthetic(max_iterations=5)
        assert not short.converged
        assert short.model_rms > 3 * synthetic.model_rms
        assert "did not converge" in repr(short)

    def test_distances_are_of_the_rows(self, measured, synthetic):
        counts = synthetic.frame.groupby(["a", "b"]).size().unstack(fill_value=0)
        counts = counts.reindex(index=range(6), columns=range(5), fill_value=0).to_numpy()
        total = measured.query().value
        z = (counts * total / counts.sum() - measured.estimates("a", "b", answers="cells")) / np.sqrt(
            measured.variances("a", "b", answers="cells")
        )
        told = synthetic.distances.set_index("table").loc["a x b"]
        assert told["rms"] == pytest.approx(np.sqrt((z**2).mean()))
        assert told["max"] == pytest.approx(abs(z).max())

    def test_it_is_like_the_truth(self, truth, synthetic):
        for pair in itertools.combinations(truth, 2):
            ours = synthetic.frame.groupby(list(pair)).size()
            theirs = truth.groupby(list(pair)).size()
            apart = abs(ours.sub(theirs, fill_value=0)).sum() / 2 / len(truth)
            assert apart < 0.05
            assert abs(ours.sub(theirs.sample(frac=1, random_state=1).set_axis(theirs.index), fill_value=0)).sum() > 0.05

    def test_labels_are_decoded(self):
        frame = pd.DataFrame({"sex": ["f", "m", None] * 200, "day": ["2013-01-05", "2013-02-01", "2013-02-02"] * 200})
        domain = rs.Domain(sex=rs.values("f", "m", null=True), day=rs.dates("2013-01-01", "2013-02-28", every="month"))
        release = rs.plan(domain, marginals=2, rho=5).measure(frame, ledger="a.ledger")
        made = release.synthetic(300).frame
        assert len(made) == 300
        assert made["sex"].isna().sum() == pytest.approx(100, abs=15)
        assert made.loc[made["sex"] == "f", "day"].eq(pd.Timestamp("2013-01-01")).mean() > 0.9


def test_messages(measured):
    with pytest.raises(rs.Error, match="form 'tables' is not known; choose residuals or marginals"):
        measured.linear_measurements("tables")
    for argument, message in (
        ({"rows": 0}, "rows is 0; give at least 1"),
        ({"tolerance": 2}, "tolerance is 2"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ):
        with pytest.raises(rs.InputError, match=message):
            measured.synthetic(**argument)
