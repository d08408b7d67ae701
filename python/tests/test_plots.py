"""The figures show what the tables hold."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

import residua as rs


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_errors(domain):
    plan = rs.plan(domain, marginals="<=3", rho=0.5)
    ax = plan.plot_errors()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    drawn = np.vstack([group.get_offsets() for group in ax.collections])
    errors = plan.errors()
    assert sorted(drawn[:, 0]) == sorted(errors["cells"])
    assert np.allclose(sorted(drawn[:, 1]), sorted(errors["max_std_dev"] ** 2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["total", "1-way", "2-way", "3-way"]


def test_equal_errors_look_equal():
    plan = rs.plan(rs.Domain(a=9, b=5), marginals="<=2", rho=1, objective="max-variance")
    low, high = plan.plot_errors().get_ylim()
    assert high > 5 * low


def test_table(release):
    ax = release.plot("age", confidence=0.9, answers="cells")
    table = release.table("age", confidence=0.9, answers="cells")
    line, _, (bars,) = ax.containers[0]
    assert np.allclose(line.get_ydata(), table["estimate"])
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert np.allclose(ends, table[["ci_lower", "ci_upper"]])
    assert ax.get_title() == "90 % intervals"


def test_two_attributes(release):
    figure, mine = pyplot.subplots()
    ax = release.plot("sex", "income", ax=mine)
    assert ax is mine
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["female", "male"]
    assert ax.get_xlabel() == "income"
    with pytest.raises(rs.Error, match="one attribute or two, not of 0"):
        release.plot()
