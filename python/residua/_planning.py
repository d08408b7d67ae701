"""Choosing the noise, without data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from residua import _residua
from residua._attributes import Domain
from residua._plain import Array
from residua._plan import Plan
from residua._spec import Spec

Loss = Callable[[Array], tuple[float, npt.ArrayLike]]


def plan(
    what: Domain | Spec | str | os.PathLike[str],
    *,
    loss: Loss | None = None,
    basis: str = "oblique",
    tolerance: float = 1e-6,
    **more: Any,
) -> Plan:
    """Chooses the best noise for a domain and its tables. It reads no data.

    `what` is a :class:`Domain`, a :class:`Spec` or the path of a spec file. The other arguments are
    those of :class:`Spec`; they replace what a spec says.

    `loss` is your own objective: a function of the mean variances of the tables, a numpy array in
    the order of ``Spec.tables``. It returns its value and its gradient. It must be convex and must
    not fall where a variance grows. `basis` is "oblique", the best, or "orthogonal". `tolerance` is
    the relative gap to the optimum at which to stop.

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99, queries="prefix"), sex=["female", "male"])
    >>> plan = rs.plan(people, marginals="<=2", objective="max-variance", rho=0.5)
    >>> plan
    <residua.Plan: 4 tables of 2 attributes, 303 cells, rho 0.5>

    Your own loss, here the sum of squares:

    >>> rs.plan(people, marginals=1, rho=0.5, loss=lambda v: ((v ** 2).sum(), 2 * v)).converged
    True
    """
    spec = _as_spec(what, more)
    checked = None if loss is None else _ConvexLoss(loss)
    return Plan(_residua.make_plan(spec._spec, basis, tolerance, checked), spec.folder)


def _as_spec(what: Domain | Spec | str | os.PathLike[str], more: Mapping[str, Any]) -> Spec:
    if isinstance(what, Domain):
        return Spec(what, **more)
    if not isinstance(what, Spec | str | os.PathLike):
        raise _residua.Error(
            "what: expected a residua.Domain, a residua.Spec or the path of a spec file, "
            f"found {type(what).__name__}"
        )
    spec = what if isinstance(what, Spec) else Spec.read(what)
    return spec.replace(**more) if more else spec


class _ConvexLoss:
    """The caller's loss. A convex function lies above all its tangents: each value is compared with
    the tangent at the first point, and the first value with the tangent at each point."""

    def __init__(self, function: Loss) -> None:
        self._function = function
        self._first: tuple[Array, float, Array] | None = None

    def __call__(self, variances: Array) -> tuple[float, list[float]]:
        value, slopes = self._function(variances.copy())
        gradient = np.asarray(slopes, dtype=float).ravel()
        number = float(value)
        if gradient.shape == variances.shape:
            self._compare(variances, number, gradient)
        return number, gradient.tolist()

    def _compare(self, variances: Array, value: float, gradient: Array) -> None:
        if self._first is None:
            self._first = (variances.copy(), value, gradient)
            return
        start, start_value, start_gradient = self._first
        step = variances - start
        slack = 1e-7 * (abs(value) + abs(start_value) + abs(gradient) @ abs(step))
        above = value >= start_value + start_gradient @ step - slack
        below = start_value >= value - gradient @ step - slack
        if np.isfinite(value) and not (above and below):
            raise _residua.Error(
                "loss: it is not convex, or its gradient is not its derivative; check both"
            )
