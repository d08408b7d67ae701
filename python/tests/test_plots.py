"""The figures show what the tables hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
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


def heatmap_of(ax):
    """What the colours show, and which cells are grey."""
    colours, grey = ax.images
    return np.asarray(colours.get_array()), ~np.ma.getmaskarray(grey.get_array())


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_one_attribute(release):
    """Bars at their labels, with the intervals as error bars."""
    ax = release.plot("education", confidence=0.9)
    table = release.table("education", confidence=0.9)
    assert np.allclose([bar.get_height() for bar in ax.patches], table["estimate"])
    assert np.allclose([bar.get_x() + bar.get_width() / 2 for bar in ax.patches], range(7))
    [segments] = [c.get_segments() for c in ax.collections]
    ends = np.array([segment[:, 1] for segment in segments])
    assert np.allclose(ends, table[["ci_lower", "ci_upper"]])
    assert labels_of(ax.xaxis) == [*table["education"].iloc[:-1], "null"]
    assert ax.get_title() == "90 % intervals"
    many = release.plot("age", answers="cells")
    assert len(many.patches) == 100
    assert labels_of(many.xaxis)[:2] == ["0", "9"]


@pytest.mark.parametrize("order", [("sex", "income"), ("income", "sex")])
def test_two_attributes(release, order):
    """Every cell is where its labels are."""
    figure, mine = pyplot.subplots()
    ax = release.plot(*order, ax=mine)
    assert ax is mine
    shown, grey = heatmap_of(ax)
    table = release.table(*order)
    rows, columns = labels_of(ax.yaxis), labels_of(ax.xaxis)
    assert (ax.get_ylabel(), ax.get_xlabel()) == order
    for _, row in table.iterrows():
        place = rows.index(row[order[0]]), columns.index(row[order[1]])
        assert shown[place] == row["estimate"]
        assert grey[place] == (row["ci_lower"] <= 0 <= row["ci_upper"])
    assert grey.sum() < grey.size


def test_three_attributes(people, domain):
    release = rs.plan(domain, marginals=3, rho=0.5).measure(people, ledger="a.ledger")
    figure = release.plot("sex", "education", "income").figure
    pictures = [ax for ax in figure.axes if ax.images and ax.get_title()]
    assert [ax.get_title() for ax in pictures] == ["sex: female", "sex: male"]
    for ax, estimates in zip(pictures, release.estimates("sex", "education", "income"), strict=True):
        assert np.array_equal(heatmap_of(ax)[0], estimates)
    with pytest.raises(rs.InputError, match="put the attribute with the fewest labels first"):
        release.plot("age", "sex", "income")


def test_ranges(people):
    domain = rs.Domain(age=rs.integers(0, 9, queries="range", outside="clamp"), sex=["female", "male"])
    release = rs.plan(domain, marginals="<=2", rho=0.5).measure(people, ledger="a.ledger")
    shown, _ = heatmap_of(release.plot("age"))
    assert shown[2, 5] == pytest.approx(release.query(age=(2, 5)).value)
    assert np.isnan(shown[5, 2])
    with pytest.raises(rs.InputError, match="too many to show beside another attribute"):
        release.plot("age", "sex")
    assert heatmap_of(release.plot("age", "sex", answers="cells"))[0].shape == (10, 2)


def test_messages(release):
    with pytest.raises(rs.InputError, match="one to three attributes, not of 0"):
        release.plot()


@pytest.fixture
def means():
    rows = pd.DataFrame({"side": ["a", "b"] * 300, "age": [0, 1, 2] * 200, "x": [2.0, 10.0] * 300})
    domain = rs.Domain(
        side=["a", "b", "none"], age=rs.integers(0, 2, queries="range"), x=rs.numbers(-10, 10, null=True)
    )
    tables = [["x"], ["side", "x"], ["age", "x"], ["side", "age", "x"]]
    return rs.plan(domain, tables=tables, rho=10).measure(rows, ledger="means.ledger")


def test_means(means):
    """Points with their intervals, and none of too few rows."""
    ax = means.plot("x", "side")
    table = means.table("x", "side")
    assert np.isnan(table["mean"].iloc[2])
    [segments] = [c.get_segments() for c in ax.collections]
    ends = np.array([segment[:, 1] for segment in segments if len(segment)])
    known = table[["mean_ci_lower", "mean_ci_upper"]].to_numpy()[:2]
    assert np.allclose(ends[: len(known)], known)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("mean of x", "side")
    assert "too few rows" in ax.get_title() and not ax.patches
    assert labels_of(means.plot("x").xaxis) == ["total"]


def test_maps_of_means(means):
    shown, grey = heatmap_of(means.plot("side", "age", "x", answers="cells"))
    expected = means.table("side", "age", "x", answers="cells")["mean"].to_numpy().reshape(3, 3)
    assert np.array_equal(shown[:2], expected[:2])
    assert grey[2].all() and not grey[:2].any()
    shown, _ = heatmap_of(means.plot("age", "x"))
    assert shown[0, 2] == pytest.approx(means.mean("x").value, abs=1)
    with pytest.raises(rs.InputError, match="too many to show beside another attribute"):
        means.plot("side", "age", "x")
