"""Two figures. matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from residua._residua import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from residua._release import Release


def _axes(ax: Axes | None) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error("plots need matplotlib; pip install residua[plot]") from None
    return pyplot.subplots(layout="constrained")[1]


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
    variances = errors["max_std_dev"] ** 2
    if variances.max() < 1.2 * variances.min():
        # All alike: a narrow scale would show rounding as if it were unfairness.
        axes.set_ylim(variances.min() / 3, variances.max() * 3)
    axes.set_xlabel("cells of the table")
    axes.set_ylabel("variance of its worst cell")
    axes.legend(title="tables")
    return axes  # type: ignore[no-any-return]


def plot_table(
    release: Release, attributes: tuple[str, ...], confidence: float, answers: str, ax: Axes | None
) -> Axes:
    if len(attributes) not in (1, 2):
        raise Error(f"a plot shows a table of one attribute or two, not of {len(attributes)}")
    table = release.table(*attributes, confidence=confidence, answers=answers)
    along, *by = sorted(attributes, key=lambda name: -len(release.plan.labels(name, answers)))
    axes = _axes(ax)
    groups = table.groupby(by[0], observed=True) if by else [("", table)]
    for number, (name, group) in enumerate(groups):
        _draw(axes, group, along, str(name), offset=0.12 * number)
    axes.set_xlabel(along)
    axes.set_ylabel("count")
    axes.set_title(f"{100 * confidence:g} % intervals", fontsize="medium")
    if by:
        axes.legend(title=by[0])
    return axes  # type: ignore[no-any-return]


def _draw(axes: Any, table: pd.DataFrame, along: str, label: str, offset: float) -> None:
    is_number = pd.api.types.is_numeric_dtype(table[along])
    places = np.asarray(table[along]) if is_number else np.arange(len(table))
    half = (table["ci_upper"] - table["ci_lower"]) / 2
    axes.errorbar(
        places + offset, table["estimate"], yerr=half, fmt="o", ms=3, lw=1, capsize=2, label=label
    )
    if not is_number:
        # Labels that have room.
        step = max(1, len(table) // 12)
        names = table[along].astype(str)
        axes.set_xticks(places[::step], names.iloc[::step], rotation=30, ha="right")
