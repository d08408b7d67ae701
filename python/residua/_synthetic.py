"""A release as measurements for Private-PGM. mbi is imported only here."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from residua._residua import Error

if TYPE_CHECKING:
    from residua._release import Release


@dataclass(frozen=True)
class ResidualQuery:
    """The linear map of a base mechanism: a matrix along each axis of the marginal; the result has
    one dimension."""

    matrices: tuple[tuple[tuple[float, ...], ...], ...]

    def __call__(self, factor: Any) -> Any:
        import jax.numpy as jnp

        values = factor.values
        for axis, matrix in enumerate(self.matrices):
            values = jnp.moveaxis(jnp.tensordot(jnp.asarray(matrix), values, (1, axis)), 0, axis)
        return values.reshape(-1)


def linear_measurements(release: Release, form: str) -> list[Any]:
    try:
        import mbi
    except ImportError:
        raise Error("synthetic data needs mbi; pip install residua[synthetic]") from None
    if form == "residuals":
        return [_residual(mbi, release, names) for names in release.plan.base_mechanisms]
    if form == "marginals":
        return [m for names in release.plan.tables for m in _marginal(mbi, release, names)]
    raise Error(f"form '{form}' is not known; choose residuals or marginals")


def _residual(mbi: Any, release: Release, names: tuple[str, ...]) -> Any:
    # Divided by the scale of the basis, so that the numbers fit single precision.
    bases = [release.plan.basis(name) for name in names]
    scales = [float(b.squared_sensitivity) ** 0.5 for b in bases]
    scale = float(np.prod(scales))
    variance = Fraction(release._release.residual_variance(release.plan._set(names)))
    matrices = tuple(
        tuple(tuple(float(entry) for entry in row) for row in b.matrix / s)
        for b, s in zip(bases, scales, strict=True)
    )
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
