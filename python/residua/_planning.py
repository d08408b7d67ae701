"""Choosing the noise, without data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from residua import _residua
from residua._attributes import Domain
from residua._combination import releases_of
from residua._plain import Array, number, text
from residua._plan import Plan
from residua._release import Release
from residua._spec import Settings, Spec, check_settings

Loss = Callable[[Array], tuple[float, npt.ArrayLike]]


def plan(
    what: Domain | Spec | str | os.PathLike[str],
    *,
    loss: Loss | None = None,
    basis: Literal["oblique", "orthogonal"] = "oblique",
    tolerance: float = 1e-6,
    after: Release | Sequence[Release] = (),
    **more: Unpack[Settings],
) -> Plan:
    """Chooses the best noise for a domain and its tables. It reads no data.

    `what` is a :class:`Domain`, a :class:`Spec` or the path of a spec file. The other arguments are
    those of :class:`Spec`; they replace what a spec says.

    `loss` is your own objective: a function of the mean variances of the tables, a numpy array in
    the order of ``Spec.tables``. It returns its value and its gradient. It must be convex and must
    not fall where a variance grows. `basis` is "oblique", the best, or "orthogonal". `tolerance` is
    the relative gap to the optimum at which to stop.

    `after` are earlier releases of the same data, which the new one will be combined with
    (:func:`combine`): the noise is chosen given what they know, and the errors and the loss of the
    plan are those of all together. The budget is that of the new release alone.

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99, queries="prefix"), sex=["female", "male"])
    >>> plan = rs.plan(people, marginals="<=2", objective="max-variance", rho=0.5)
    >>> plan
    <residua.Plan: 4 tables of 2 attributes, 303 cells, rho 0.5>

    A second release of the same data:

    >>> same = rs.Domain(age=rs.integers(0, 99), sex=["female", "male"])
    >>> second = rs.plan(same, marginals=1, rho=0.5, after=example_release())
    >>> second.rmse < rs.plan(same, marginals=1, rho=0.5).rmse
    True

    Your own loss, here the sum of squares:

    >>> rs.plan(people, marginals=1, rho=0.5, loss=lambda v: ((v ** 2).sum(), 2 * v)).converged
    True
    """
    spec = _as_spec(what, more)
    if loss is not None and not callable(loss):
        raise _residua.InputError(f"loss: expected a function, found {loss!r}")
    checked = None if loss is None else _ConvexLoss(loss)
    chosen = text(basis, "basis"), number(tolerance, "tolerance")
    earlier = releases_of(after)
    if earlier and loss is not None:
        raise _residua.InputError("after: a loss of your own is planned for from nothing only")
    return Plan(_residua.make_plan(spec._spec, *chosen, checked, earlier), spec.folder)


def _as_spec(what: Domain | Spec | str | os.PathLike[str], more: Settings) -> Spec:
    check_settings(more)
    if isinstance(what, Domain):
        return Spec(what, **more)
    if not isinstance(what, Spec | str | os.PathLike):
        raise _residua.InputError(
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
        try:
            value, slopes = self._function(variances.copy())
            gradient = np.asarray(slopes, dtype=float).ravel()
            at = float(value)
        except (TypeError, ValueError) as error:
            raise _residua.InputError(
                f"loss: {error}; it returns its value, a number, and its gradient, one number per table"
            ) from error
        if gradient.shape == variances.shape:
            self._compare(variances, at, gradient)
        return at, gradient.tolist()

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
            raise _residua.InputError(
                "loss: it is not convex, or its gradient is not its derivative; check both"
            )
