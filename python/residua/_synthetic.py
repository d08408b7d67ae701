"""Synthetic data by Private-PGM. mbi is imported only here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from residua._plain import Array
from residua._residua import Error, InputError

if TYPE_CHECKING:
    from residua._release import Release


@dataclass(frozen=True, eq=False)
class ResidualQuery:
    """The linear map of a base mechanism: a matrix along each axis of the marginal; the result has
    one dimension. It is equal to itself alone: comparing matrices would take jax longer than the
    fit."""

    matrices: tuple[Array, ...]

    def __call__(self, factor: Any) -> Any:
        import jax.numpy as jnp

        values = factor.values
        for axis, matrix in enumerate(self.matrices):
            values = jnp.moveaxis(jnp.tensordot(jnp.asarray(matrix), values, (1, axis)), 0, axis)
        return values.reshape(-1)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Rows that nobody has, whose tables are near those of a release. Made by
    :meth:`Release.synthetic`.

    `frame` holds the rows, with labels. `distances` has one row per table of the plan: the root mean
    square (`rms`) and the largest distance (`max`) of the counts of the rows from the estimates of
    the release, in standard deviations of the estimates. A release itself is at a distance of about
    1 from the truth. `model_rms` is the root mean square over all tables of the model, before it is
    turned into rows. `converged` says whether the fit reached its tolerance within `iterations`
    steps.

    The rows follow from the release alone, so they cost no privacy. They have no error bars: count
    in the release, and use the rows where a program needs rows.

    >>> import residua as rs
    >>> rs.Synthetic.__dataclass_fields__.keys() >= {"frame", "distances"}
    True
    """

    frame: pd.DataFrame
    distances: pd.DataFrame
    model_rms: float
    converged: bool
    iterations: int

    def __repr__(self) -> str:
        return (
            f"<residua.Synthetic: {len(self.frame):,} rows; its tables are {self.distances['rms'].max():.2g} "
            f"standard deviations from the release (root mean square of the worst table)"
            + ("" if self.converged else "; the fit did not converge")
            + ">"
        )


def _mbi() -> Any:
    try:
        with warnings.catch_warnings():
            # It warns of single precision, which is set for each fit, and of a cache.
            warnings.simplefilter("ignore")
            import mbi
    except ImportError:
        raise Error("synthetic data needs mbi; pip install residua[synthetic]") from None
    return mbi


def _check_no_means(release: Release) -> None:
    """The cells of a number whose mean is asked hold parts of rows."""
    for attribute in release.plan._layout.attributes:
        if "mean" in attribute:
            raise InputError(
                f"synthetic data has no place for '{attribute['name']}', whose mean alone was "
                "measured; plan a release without it"
            )


def synthesize(release: Release, rows: int | None, tolerance: float, most: int) -> Synthetic:
    if rows is not None and rows < 1:
        raise InputError(f"rows is {rows}; give at least 1")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance is {tolerance}; it must lie between 0 and 1, such as 0.02")
    if most < 1:
        raise InputError(f"max_iterations is {most}; give at least 1")
    _check_no_means(release)
    mbi = _mbi()
    import jax

    plan = release.plan
    # Attributes of no table have no counts: their labels would be chosen by nothing.
    named = {name for table in plan.tables for name in table}
    sizes = {name: size for name, size in plan.sizes.items() if name in named}
    total = max(1.0, release.query().value)
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
        model, of_model, steps, converged = _fit(release, domain, total, tolerance, most)
        drawn = model.synthetic_data(rows=round(total) if rows is None else rows)
        columns = {name: np.asarray(drawn.to_dict()[name]) for name in sizes}
    distances = []
    scale = total / len(next(iter(columns.values())))
    for table in plan.tables:
        counts = np.zeros([sizes[name] for name in table])
        np.add.at(counts, tuple(columns[name] for name in table), scale if table else total)
        z = _distance(release, table, counts)
        name = " x ".join(table) or "total"
        distances.append((name, float(np.sqrt((z**2).mean())), float(abs(z).max())))
    frame = pd.DataFrame(
        {
            name: plan._layout.axis(plan._layout.index(name), "cells").column(columns[name].astype(np.int64))
            for name in sizes
        }
    )
    every = np.concatenate(of_model) if of_model else np.zeros(1)
    return Synthetic(
        frame,
        pd.DataFrame(distances, columns=["table", "rms", "max"]),
        float(np.sqrt((every**2).mean())),
        converged,
        steps,
    )


# So many steps are taken between two looks at how far the fit has moved.
_ROUND = 500


def _fit(
    release: Release, domain: Any, total: float, tolerance: float, most: int
) -> tuple[Any, list[Array], int, bool]:
    """Rounds of mirror descent, until one moves the tables by less than `tolerance`, the root mean
    square in standard deviations. Also the distances of the model's tables from the release."""
    mbi = _mbi()
    loss = mbi.marginal_loss.from_linear_measurements(
        linear_measurements(release, "residuals"), domain
    )
    fitter = mbi.estimation.MirrorDescent()
    tables = [table for table in release.plan.tables if table]
    model = None
    last: Array | None = None
    done = 0
    while True:
        steps = min(_ROUND, most - done)
        model = fitter.estimate(domain, loss, known_total=total, iters=steps, warm_start=model)
        done += steps
        of_tables = [
            _distance(release, table, np.asarray(model.project(table).values)) for table in tables
        ]
        now = np.concatenate([*of_tables, np.zeros(1)])
        moved = np.inf if last is None else float(np.sqrt(((now - last) ** 2).mean()))
        if moved < tolerance or done >= most:
            return model, of_tables, done, moved < tolerance
        last = now


def _distance(release: Release, table: tuple[str, ...], counts: Array) -> Array:
    """Of every cell, in standard deviations of its estimate."""
    estimates = release.estimates(*table, answers="cells")
    std_devs = np.sqrt(release.variances(*table, answers="cells"))
    return np.asarray((counts - estimates) / std_devs).ravel()


def linear_measurements(release: Release, form: str) -> list[Any]:
    _check_no_means(release)
    mbi = _mbi()
    if form == "residuals":
        return [_residual(mbi, release, names) for names in release.plan.base_mechanisms]
    if form == "marginals":
        return [m for names in release.plan.tables for m in _marginal(mbi, release, names)]
    raise InputError(f"form '{form}' is not known; choose residuals or marginals")


def _residual(mbi: Any, release: Release, names: tuple[str, ...]) -> Any:
    # Divided by the scale of the basis, so that the numbers fit single precision.
    bases = [release.plan.basis(name) for name in names]
    scales = [float(b.squared_sensitivity) ** 0.5 for b in bases]
    scale = float(np.prod(scales))
    variance = Fraction(release._release.residual_variance(release.plan._layout.ordered_set(names)[0]))
    matrices = tuple(b.matrix / s for b, s in zip(bases, scales, strict=True))
    values = release.residuals(*names).astype(float) / scale
    stddev = float(variance) ** 0.5 / scale
    if not names:
        # The total itself; mbi looks for such measurements to estimate it.
        return mbi.LinearMeasurement(values, names, stddev=stddev)
    return mbi.LinearMeasurement(values, names, stddev=stddev, query=ResidualQuery(matrices))


def _marginal(mbi: Any, release: Release, names: tuple[str, ...]) -> list[Any]:
    estimates = release.estimates(*names, answers="cells").ravel()
    variances = release.variances(*names, answers="cells").ravel()
    # mbi takes one standard deviation for all cells; where they differ, the mean variance.
    return [mbi.LinearMeasurement(estimates, names, stddev=float(np.sqrt(variances.mean())))]
