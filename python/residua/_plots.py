"""Figures of errors and tables. matplotlib is imported only here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from residua._residua import Error, InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from residua._layout import Answers
    from residua._release import Release


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error("plots need matplotlib; pip install residua[plot]") from None
    return pyplot


def _axes(ax: Axes | None) -> Any:
    return _pyplot().subplots(layout="constrained")[1] if ax is None else ax


def plot_errors(errors: pd.DataFrame, ax: Axes | None) -> Axes:
    axes = _axes(ax)
    for order, tables in errors.groupby("order"):
        axes.scatter(
            tables["cells"],
            tables["max_std_dev"] ** 2,
            s=18,
            alpha=0.7,
            label="total" if order == 0 else f"{order}-way",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    # 40 in place of 4 x 10^1.
    from matplotlib.ticker import LogFormatter

    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter())
    variances = errors["max_std_dev"] ** 2
    if variances.max() < 1.2 * variances.min():
        # All alike: a narrow scale would show rounding as if it were unfairness.
        axes.set_ylim(variances.min() / 3, variances.max() * 3)
    axes.set_xlabel("cells of the table")
    axes.set_ylabel("variance of its worst cell")
    axes.legend(title="tables")
    return axes  # type: ignore[no-any-return]


def plot_table(
    release: Release, attributes: tuple[str, ...], confidence: float, answers: Answers, ax: Axes | None
) -> Axes:
    drawn = _Drawn(release, attributes, confidence, answers)
    if len(drawn.names) == 3:
        if ax is not None:
            raise InputError("ax: three attributes have several axes; leave it out")
        return _multiples(drawn)
    axes = _axes(ax)
    if len(drawn.names) == 2:
        mesh = _heatmap(axes, drawn, ...)
        axes.figure.colorbar(mesh, ax=axes, label=drawn.what)
    elif drawn.is_range:
        _ranges(axes, drawn)
    else:
        _bars(axes, drawn)
    axes.set_title(drawn.title, fontsize="medium")
    return axes  # type: ignore[no-any-return]


class _Drawn:
    """A table, with one axis per attribute in the order asked for: its counts, or the means of a
    number. That number has no axis; where there is no other attribute, the total has one."""

    def __init__(
        self, release: Release, attributes: tuple[str, ...], confidence: float, answers: Answers
    ) -> None:
        plan = release.plan
        told = [plan._layout.attributes[i] for i in plan._layout.ordered_set(attributes)[0]]
        numbers = [a["name"] for a in told if "mean" in a]
        self.names = tuple(name for name in attributes if name not in numbers)
        if not attributes or len(self.names) > 3:
            raise InputError(f"a plot shows a table of one to three attributes, not of {len(self.names)}")
        self.labels = [plan.labels(name, answers) for name in self.names]
        self.sizes = [plan.sizes[name] for name in self.names]
        kinds = {a["name"]: a["queries"] for a in told}
        ranges = [name for name in self.names if kinds[name] == "range" and answers == "planned"]
        if ranges and len(self.names) > 1:
            raise InputError(
                f"'{ranges[0]}' asks for all ranges, too many to show beside another attribute; "
                'set answers to "prefixes" or "cells"'
            )
        self.is_range = bool(ranges)
        self.cells = plan.labels(ranges[0], "cells") if ranges else []
        table = release.table(*attributes, confidence=confidence, answers=answers)
        if not self.names:
            self.names, self.labels = ("",), [["total"]]
        shape = [len(labels) for labels in self.labels]
        self.is_mean = bool(numbers)
        self.what = f"mean of {numbers[0]}" if numbers else "count"
        of = ["mean", "mean_ci_lower", "mean_ci_upper"] if numbers else ["estimate", "ci_lower", "ci_upper"]
        self.estimates, self.lower, self.upper = (table[c].to_numpy().reshape(shape) for c in of)
        # A mean of too few rows is missing.
        known = self.estimates[~np.isnan(self.estimates)]
        ends = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        self.limits = ends if self.is_mean else (min(0.0, ends[0]), ends[1])
        self.is_unsure = (
            np.isnan(self.estimates) if self.is_mean else (self.lower <= 0) & (self.upper >= 0)
        )
        self.title = f"{100 * confidence:g} % intervals"
        if len(self.names) == 1 and not self.is_range:
            self.title += ", none where there are too few rows" if self.is_unsure.any() and self.is_mean else ""
        elif self.is_mean:
            self.title = "grey: too few rows for a mean"
        else:
            self.title = f"grey: the {100 * confidence:g} % interval contains 0"

    def text(self, estimate: float, lower: float, upper: float) -> str:
        """As many digits as the interval supports."""
        half = (upper - lower) / 2
        if not self.is_mean:
            return f"{round(estimate):,}\n\u00b1{half:,.0f}"
        digits = min(max(0, 1 - math.floor(math.log10(half))), 6) if half > 0 else 6
        return f"{estimate:,.{digits}f}\n\u00b1{half:,.{digits}f}"


def _ticks(axis: Any, labels: Sequence[str], most: int) -> None:
    """Labels that have room: all of them, or every so many."""
    step = -(-len(labels) // most)
    axis.set_ticks(range(0, len(labels), step), labels=list(labels)[::step])


def _turn(axes: Any, labels: Sequence[str]) -> None:
    """Long labels below an axis are turned."""
    if sum(map(len, labels)) > 45 or max(map(len, labels)) > 12:
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")


def _bars(axes: Any, drawn: _Drawn) -> None:
    """Bars of counts; points of means, whose distance to 0 says nothing."""
    labels = drawn.labels[0]
    places = np.arange(len(labels))
    is_many = len(labels) > 40
    if not drawn.is_mean:
        axes.bar(places, drawn.estimates, width=1.0 if is_many else 0.8, color="#7aa6c2")
        axes.axhline(0, color="black", lw=0.8)
    # Of a mean that is an end of its range, the interval may begin there.
    reach = np.maximum([drawn.estimates - drawn.lower, drawn.upper - drawn.estimates], 0)
    axes.errorbar(
        places, drawn.estimates, yerr=reach, fmt="o" if drawn.is_mean else "none", color="#7aa6c2",
        ecolor="#1b3a4b", elinewidth=0.6 if is_many else 1.2, capsize=0 if is_many else 3,
    )
    axes.set_xlim(-0.7, len(labels) - 0.3)
    _ticks(axes.xaxis, labels, 12)
    _turn(axes, labels[:: -(-len(labels) // 12)])
    axes.set_xlabel(drawn.names[0])
    axes.set_ylabel(drawn.what)


def _heatmap(axes: Any, drawn: _Drawn, of_first: Any) -> Any:
    """The last attribute but one downwards, the last to the right; `of_first` is the place of a
    label of the first of three, or ``...``."""
    estimates, lower, upper = (a[of_first] for a in (drawn.estimates, drawn.lower, drawn.upper))
    limits = drawn.limits
    rows, columns = drawn.labels[-2], drawn.labels[-1]
    mesh = axes.imshow(
        estimates, cmap="YlGnBu", vmin=limits[0], vmax=limits[1], aspect="auto", interpolation="nearest"
    )
    is_unsure = drawn.is_unsure[of_first]
    _grey(axes, is_unsure)
    if estimates.size <= 80:
        middle = (limits[0] + limits[1]) / 2
        for (row, column), value in np.ndenumerate(estimates):
            if np.isnan(value):
                continue
            text = drawn.text(value, lower[row, column], upper[row, column])
            colour = "white" if value > middle and not is_unsure[row, column] else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize="x-small", color=colour)
    _ticks(axes.xaxis, columns, 12)
    _ticks(axes.yaxis, rows, 20)
    _turn(axes, columns[:: -(-len(columns) // 12)])
    axes.set_xlabel(drawn.names[-1])
    axes.set_ylabel(drawn.names[-2])
    return mesh


def _grey(axes: Any, is_unsure: Any) -> None:
    """Greys these cells."""
    shown = np.ma.masked_where(~is_unsure, np.full(is_unsure.shape, 0.82))
    axes.imshow(shown, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")


def _ranges(axes: Any, drawn: _Drawn) -> None:
    """All ranges of one attribute: where each begins and ends."""
    size = drawn.sizes[0]
    estimates = np.full((size, size), np.nan)
    is_unsure = np.zeros((size, size), dtype=bool)
    where = np.triu_indices(size)
    estimates[where] = drawn.estimates
    is_unsure[where] = drawn.is_unsure
    mesh = axes.imshow(
        estimates, cmap="YlGnBu", vmin=drawn.limits[0], aspect="auto", interpolation="nearest"
    )
    _grey(axes, is_unsure)
    _ticks(axes.xaxis, drawn.cells, 12)
    _ticks(axes.yaxis, drawn.cells, 12)
    _turn(axes, drawn.cells[:: -(-size // 12)])
    axes.set_xlabel(f"{drawn.names[0]}: to")
    axes.set_ylabel(f"{drawn.names[0]}: from")
    axes.figure.colorbar(mesh, ax=axes, label=drawn.what)


def _multiples(drawn: _Drawn) -> Axes:
    """A heatmap of the other two for each label of the first attribute."""
    labels = drawn.labels[0]
    if len(labels) > 16:
        raise InputError(
            f"'{drawn.names[0]}' has {len(labels)} labels, and each has a picture of its own; "
            "put the attribute with the fewest labels first"
        )
    columns = min(4, len(labels))
    rows = -(-len(labels) // columns)
    figure, grid = _pyplot().subplots(
        rows, columns, figsize=(1.2 + 4.2 * columns, 1.2 + 3.2 * rows), sharex=True, sharey=True,
        layout="constrained", squeeze=False,
    )
    mesh = None
    for number, axes in enumerate(grid.ravel()):
        if number >= len(labels):
            axes.set_visible(False)
            continue
        mesh = _heatmap(axes, drawn, number)
        axes.set_title(f"{drawn.names[0]}: {labels[number]}", fontsize="medium")
        axes.label_outer()
    figure.colorbar(mesh, ax=grid, label=drawn.what)
    figure.suptitle(drawn.title, fontsize="medium")
    return grid[0, 0]  # type: ignore[no-any-return]
