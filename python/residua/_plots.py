"""Figures of errors and tables. matplotlib is imported only here."""

from __future__ import annotations

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
    if len(attributes) not in (1, 2, 3):
        raise InputError(f"a plot shows a table of one to three attributes, not of {len(attributes)}")
    drawn = _Drawn(release, attributes, confidence, answers)
    if len(attributes) == 3:
        if ax is not None:
            raise InputError("ax: three attributes have several axes; leave it out")
        return _multiples(drawn)
    axes = _axes(ax)
    if len(attributes) == 2:
        mesh = _heatmap(axes, drawn, drawn.estimates, drawn.halves, drawn.limits)
        axes.figure.colorbar(mesh, ax=axes, label="count")
    elif drawn.is_range:
        _ranges(axes, drawn)
    else:
        _bars(axes, drawn)
    axes.set_title(drawn.title, fontsize="medium")
    return axes  # type: ignore[no-any-return]


class _Drawn:
    """A table, with one axis per attribute in the order asked for."""

    def __init__(
        self, release: Release, attributes: tuple[str, ...], confidence: float, answers: Answers
    ) -> None:
        plan = release.plan
        self.names = attributes
        self.labels = [plan.labels(name, answers) for name in attributes]
        self.sizes = [plan.sizes[name] for name in attributes]
        self.cells = plan.labels(attributes[0], "cells")
        kinds = {a["name"]: a["queries"] for a in plan._layout.attributes}
        ranges = [name for name in attributes if kinds[name] == "range" and answers == "planned"]
        if ranges and len(attributes) > 1:
            raise InputError(
                f"'{ranges[0]}' asks for all ranges, too many to show beside another attribute; "
                'set answers to "prefixes" or "cells"'
            )
        self.is_range = bool(ranges)
        table = release.table(*attributes, confidence=confidence, answers=answers)
        shape = [len(labels) for labels in self.labels]
        self.estimates = table["estimate"].to_numpy().reshape(shape)
        self.halves = ((table["ci_upper"] - table["ci_lower"]) / 2).to_numpy().reshape(shape)
        self.limits = min(0.0, float(self.estimates.min())), float(self.estimates.max())
        self.title = f"{100 * confidence:g} % intervals"
        if len(attributes) > 1 or self.is_range:
            self.title = f"grey: the {100 * confidence:g} % interval contains 0"


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
    labels = drawn.labels[0]
    places = np.arange(len(labels))
    is_many = len(labels) > 40
    axes.bar(places, drawn.estimates, width=1.0 if is_many else 0.8, color="#7aa6c2")
    axes.errorbar(
        places, drawn.estimates, yerr=drawn.halves, fmt="none", ecolor="#1b3a4b",
        elinewidth=0.6 if is_many else 1.2, capsize=0 if is_many else 3,
    )
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xlim(-0.7, len(labels) - 0.3)
    _ticks(axes.xaxis, labels, 12)
    _turn(axes, labels[:: -(-len(labels) // 12)])
    axes.set_xlabel(drawn.names[0])
    axes.set_ylabel("count")


def _heatmap(axes: Any, drawn: _Drawn, estimates: Any, halves: Any, limits: tuple[float, float]) -> Any:
    """The first attribute downwards, the second to the right. `limits` are those of the colours."""
    rows, columns = drawn.labels[-2], drawn.labels[-1]
    mesh = axes.imshow(
        estimates, cmap="YlGnBu", vmin=limits[0], vmax=limits[1], aspect="auto", interpolation="nearest"
    )
    _grey(axes, ~(np.abs(estimates) > halves))
    if estimates.size <= 80:
        middle = (limits[0] + limits[1]) / 2
        for (row, column), value in np.ndenumerate(estimates):
            text = f"{round(value):,}\n\u00b1{halves[row, column]:,.0f}"
            colour = "white" if value > max(middle, halves[row, column]) else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize="x-small", color=colour)
    _ticks(axes.xaxis, columns, 12)
    _ticks(axes.yaxis, rows, 20)
    _turn(axes, columns[:: -(-len(columns) // 12)])
    axes.set_xlabel(drawn.names[-1])
    axes.set_ylabel(drawn.names[-2])
    return mesh


def _grey(axes: Any, is_unsure: Any) -> None:
    """Greys the cells whose interval contains 0."""
    shown = np.ma.masked_where(~is_unsure, np.full(is_unsure.shape, 0.82))
    axes.imshow(shown, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")


def _ranges(axes: Any, drawn: _Drawn) -> None:
    """All ranges of one attribute: where each begins and ends."""
    size = drawn.sizes[0]
    estimates = np.full((size, size), np.nan)
    halves = np.zeros((size, size))
    where = np.triu_indices(size)
    estimates[where] = drawn.estimates
    halves[where] = drawn.halves
    mesh = axes.imshow(
        estimates, cmap="YlGnBu", vmin=drawn.limits[0], aspect="auto", interpolation="nearest"
    )
    _grey(axes, np.abs(np.nan_to_num(estimates, nan=np.inf)) <= halves)
    _ticks(axes.xaxis, drawn.cells, 12)
    _ticks(axes.yaxis, drawn.cells, 12)
    _turn(axes, drawn.cells[:: -(-size // 12)])
    axes.set_xlabel(f"{drawn.names[0]}: to")
    axes.set_ylabel(f"{drawn.names[0]}: from")
    axes.figure.colorbar(mesh, ax=axes, label="count")


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
        mesh = _heatmap(axes, drawn, drawn.estimates[number], drawn.halves[number], drawn.limits)
        axes.set_title(f"{drawn.names[0]}: {labels[number]}", fontsize="medium")
        axes.label_outer()
    figure.colorbar(mesh, ax=grid, label="count")
    figure.suptitle(drawn.title, fontsize="medium")
    return grid[0, 0]  # type: ignore[no-any-return]
