"""Choosing the noise, without data, and looking at what it will do."""

from __future__ import annotations

import functools
import itertools
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from residua import _data, _residua
from residua._attributes import Domain
from residua._progress import Show, shower
from residua._spec import Spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from residua._release import Release

Array = npt.NDArray[np.float64]
Loss = Callable[[Array], tuple[float, npt.ArrayLike]]


@dataclass(frozen=True)
class Privacy:
    """What a plan costs, in every unit, each rounded up.

    `rho` is of zero-concentrated and `mu` of Gaussian differential privacy; `epsilon` holds at
    `delta`. All are proven for the discrete noise that is added. `pcost`, twice rho, and `mu2`, the
    square of mu, are exact; what was allowed, `budget_pcost`, limits the first for budgets in rho
    and pcost, the second for budgets in mu and epsilon. `mu` and `mu2` may be None for plans of
    residua up to 0.4. `neighbours` says in words which two tables can hardly be told apart.

    >>> import residua as rs
    >>> privacy = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho="1/3").privacy
    >>> privacy.budget_pcost, privacy.pcost <= privacy.budget_pcost
    (Fraction(2, 3), True)
    >>> privacy
    <residua.Privacy: rho 0.333334, mu 0.816497, epsilon 4.94192 at delta 1e-09; add or remove one row>
    """

    pcost: Fraction
    mu2: Fraction | None
    budget_pcost: Fraction
    rho: float
    mu: float | None
    epsilon: float
    delta: float
    neighbours: str

    def __repr__(self) -> str:
        return (
            f"<residua.Privacy: rho {_text_above(self.rho)}, "
            + ("" if self.mu is None else f"mu {_text_above(self.mu)}, ")
            + f"epsilon {_text_above(self.epsilon)} at delta {_residua.text_above(repr(self.delta))}; "
            f"{self.neighbours}>"
        )


def _text_above(number: float) -> str:
    """Six digits, never below the number."""
    return _residua.text_above(str(Fraction(number)))


@dataclass(frozen=True, eq=False)
class Basis:
    """An attribute's residual basis: what is measured of it, and what its answers are made of.

    `matrix` is applied along the attribute's axis of the counts before noise is added, all integers;
    `queries` are its questions, a row each. With sigma2 the variance of a base mechanism, it adds
    sigma2 times the product over its attributes of `residual_covariance`, and over the table's other
    attributes of `constant_covariance`, to the covariance of the answers of a table.
    `privacy_cost` is what it costs at variance 1: `squared_sensitivity` / `variance_factor`.

    >>> import residua as rs
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
    >>> plan.basis("sex").matrix.tolist()
    [[1, -1], [-1, 1]]
    """

    matrix: npt.NDArray[np.int64]
    queries: Array
    residual_covariance: Array
    constant_covariance: Array
    privacy_cost: float
    squared_sensitivity: int
    variance_factor: int


def plan(
    what: Domain | Spec | str | os.PathLike[str],
    *,
    loss: Loss | None = None,
    basis: str = "oblique",
    tolerance: float = 1e-6,
    **more: Any,
) -> Plan:
    """Chooses the noise for what is asked, optimally, from public knowledge alone. No data is read.

    `what` is a :class:`Domain`, a :class:`Spec` or the path of a spec file. The arguments of
    :class:`Spec` say the rest, or take precedence over it.

    `loss` is an objective of one's own: a function of the tables' mean variances, a numpy array in
    the order of ``Spec.tables``, that returns its value and its gradient. It must be convex and must
    not fall where a variance grows. `basis`: "oblique", the best, or "orthogonal". `tolerance`: the
    relative gap to the optimum to stop at.

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99, queries="prefix"), sex=["female", "male"])
    >>> plan = rs.plan(people, marginals="<=2", objective="max-variance", rho=0.5)
    >>> plan
    <residua.Plan: 4 tables of 2 attributes, 303 cells, rho 0.5>

    A loss of one's own, here the sum of squares:

    >>> rs.plan(people, marginals=1, rho=0.5, loss=lambda v: ((v ** 2).sum(), 2 * v)).converged
    True
    """
    spec = _as_spec(what, more)
    checked = None if loss is None else _ConvexLoss(loss)
    with spec._described() as described:
        file = _residua.make_plan(described, basis, tolerance, checked)
    return Plan(file, spec.folder)


def _as_spec(what: Domain | Spec | str | os.PathLike[str], more: Mapping[str, Any]) -> Spec:
    if isinstance(what, Domain):
        return Spec(what, **more)
    if not isinstance(what, Spec | str | os.PathLike):
        raise _residua.Error(
            f"a plan is made for a residua.Domain, a residua.Spec or the path of a spec file, not for {type(what).__name__}"
        )
    spec = what if isinstance(what, Spec) else Spec.read(what)
    return spec.replace(**more) if more else spec


class _ConvexLoss:
    """The caller's loss; every value is held against the first point's tangent, and the other way
    round: a convex function lies above all its tangents."""

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


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Reads a plan file, the command line's own; one that was changed is refused.

    >>> import residua as rs
    >>> rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1).save("plan.json")
    >>> rs.load_plan("plan.json")
    <residua.Plan: 1 tables of 1 attributes, 2 cells, rho 1>
    """
    return Plan(_residua.read_plan(Path(path)), Path(path).parent.absolute())


class Plan:
    """The noise to be added, chosen without data; made by :func:`plan` and :func:`load_plan`.

    >>> import residua as rs
    >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=0.5)
    >>> plan.rmse < plan.max_std_dev
    True
    """

    def __init__(self, file: _residua.PlanFile, folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._attributes = file.attributes()
        self._summary = file.summary()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of cells of each attribute.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=1, rho=1).sizes
        {'a': 5, 'b': 3}
        """
        return {a["name"]: a["size"] for a in self._attributes}

    @property
    def privacy(self) -> Privacy:
        """What the plan costs.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=0.5).privacy.neighbours
        'add or remove one row'
        """
        told = self._file.privacy()
        told["pcost"] = Fraction(told["pcost"])
        told["budget_pcost"] = Fraction(told["budget_pcost"])
        told["mu2"] = None if told["mu2"] is None else Fraction(told["mu2"])
        return Privacy(**told)

    @property
    def loss(self) -> float:
        """The objective at this noise.

        >>> import residua as rs
        >>> round(rs.plan(rs.Domain(a=5), marginals=1, pcost=1, objective="max-variance").loss, 6)
        1.0
        """
        return float(self._summary["loss"])

    @property
    def relative_gap(self) -> float:
        """The loss is at most this far, relatively, above the least possible: proven.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).relative_gap < 1e-6
        True
        """
        return float(self._summary["relative_gap"])

    @functools.cached_property
    def above_lower_bound(self) -> float | None:
        """No mechanism of the same privacy cost has a loss smaller by more than this fraction: the
        loss is at most ``1 + above_lower_bound`` times the least that any can reach, whatever it
        measures. None where no bound is proven: rows replaced, or a loss of your own.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).above_lower_bound < 1e-6
        True
        """
        above: float | None = self._file.above_lower_bound()
        return above

    @property
    def converged(self) -> bool:
        """Whether the gap came within the tolerance.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).converged
        True
        """
        return bool(self._summary["converged"])

    @property
    def rmse(self) -> float:
        """The root of the mean variance over all cells of all tables.

        >>> import residua as rs
        >>> round(rs.plan(rs.Domain(a=5), marginals=1, pcost=1).rmse, 6)
        1.0
        """
        return float(self._summary["rmse"])

    @property
    def max_std_dev(self) -> float:
        """The largest standard deviation of any cell.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=4), marginals="<=2", max_std_dev=20).max_std_dev <= 20
        True
        """
        return float(np.sqrt(self._summary["max_variance"]))

    @property
    def tables(self) -> list[tuple[str, ...]]:
        """The tables that were asked for, smaller ones first.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals="<=1", rho=1).tables
        [(), ('a',), ('b',)]
        """
        return [self._names(table) for table in self._file.errors()[0]]

    def errors(self) -> pd.DataFrame:
        """The error of every table, before any data is read.

        A row a table: its name, number of attributes (`order`) and `cells`; `std_dev`, the root of
        its cells' mean variance; `max_std_dev`, of its worst cell.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals="<=1", pcost=2).errors().round(3)
           table  order  cells  std_dev  max_std_dev
        0  total      0      1    1.299        1.299
        1      a      1      5    0.903        0.903
        2      b      1      3    0.996        0.996
        """
        tables, cells, mean, largest = self._file.errors()
        whole = cells.astype(np.int64) if (cells < 2**53).all() else cells
        return pd.DataFrame(
            {
                "table": [" x ".join(self._names(table)) or "total" for table in tables],
                "order": np.array([len(table) for table in tables], dtype=np.int64),
                "cells": whole,
                "std_dev": np.sqrt(mean),
                "max_std_dev": np.sqrt(largest),
            }
        )

    @property
    def base_mechanisms(self) -> list[tuple[str, ...]]:
        """The attribute sets that are measured, each with noise of its own.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).base_mechanisms
        [(), ('a',), ('b',), ('a', 'b')]
        """
        return [self._names(table) for table in self._file.mechanisms()[0]]

    @property
    def noise_scales(self) -> Array:
        """The standard deviation of each base mechanism's noise, in their order.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, pcost=1).noise_scales.shape
        (2,)
        """
        variances: Array = self._file.mechanisms()[1]
        return np.sqrt(variances)

    def noise_variance(self, *attributes: str) -> Fraction:
        """The exact variance of one base mechanism's noise.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(a=5), marginals=1, pcost=1)
        >>> bool(plan.noise_variance("a") > 0)
        True
        """
        return Fraction(self._file.noise_variance(self._set(attributes)))

    def basis(self, attribute: str) -> Basis:
        """The residual basis of an attribute, as numpy arrays.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(age=rs.integers(0, 9, queries="prefix")), marginals=1, rho=1)
        >>> plan.basis("age").matrix.shape
        (9, 10)
        """
        told = self._file.basis(self._set((attribute,))[0])
        for name in ("squared_sensitivity", "variance_factor"):
            told[name] = int(told[name])
        return Basis(**told)

    def labels(self, attribute: str, answers: str = "planned") -> list[str]:
        """What the answers along an attribute are called.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(age=rs.integers(0, 2, queries="prefix")), marginals=1, rho=1)
        >>> plan.labels("age"), plan.labels("age", answers="cells")
        (['<=0', '<=1', '<=2'], ['0', '1', '2'])
        """
        return self._file.labels(self._set((attribute,))[0], answers)

    def variances(self, *attributes: str) -> Array:
        """The variance of every answer of a table, an axis an attribute in the domain's order.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals=2, pcost=1)
        >>> plan.variances("a", "b").shape
        (5, 3)
        """
        return self._file.variances(self._set(attributes))

    def covariances(self, *attributes: str) -> Array:
        """The covariance matrix of all answers of a table, the last attribute fastest.

        >>> import residua as rs, numpy as np
        >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals=2, pcost=1)
        >>> full = plan.covariances("a", "b")
        >>> np.allclose(np.diag(full), plan.variances("a", "b").ravel())
        True
        """
        table = self._set(attributes)
        bases = [self.basis(self._attributes[i]["name"]) for i in table]
        num_answers = int(np.prod([len(b.queries) for b in bases], dtype=float))
        if num_answers > 20_000:
            raise _residua.Error(
                f"the covariance matrix of {num_answers} answers does not fit memory; ask for variances, or for a smaller table"
            )
        total = np.zeros((num_answers, num_answers))
        for inside in itertools.product((False, True), repeat=len(table)):
            term: npt.NDArray[Any] = np.ones((1, 1))
            for is_inside, basis in zip(inside, bases, strict=True):
                factor = basis.residual_covariance if is_inside else basis.constant_covariance
                term = np.kron(term, factor)
            subset = [i for i, is_inside in zip(table, inside, strict=True) if is_inside]
            total += float(Fraction(self._file.noise_variance(subset))) * term
        return total

    def verify(self) -> None:
        """Recomputes the privacy cost in exact rationals; raises :class:`Refused` if it is not so.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=1).verify()
        """
        self._file.verify()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file, which the command line measures and verifies.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=1).save("plan.json")
        """
        self._file.write(self._folder, Path(path))

    def measure(
        self,
        data: Any = None,
        *,
        ledger: str | os.PathLike[str] | None = None,
        to: str | os.PathLike[str] | None = None,
        again: bool = False,
        threads: int = 0,
        progress: bool | Show | None = None,
    ) -> Release:
        """Counts, adds noise, records the spend in the ledger. The only thing that reads data.

        `data`: a pandas or polars DataFrame, a pyarrow Table, anything with ``__arrow_c_stream__``,
        or the path of a CSV, Parquet or JSON file; where the plan's spec says, if it is left out.
        `ledger`: where the budget of this data is kept. A file has its ledger beside it, named
        after it; rows in memory need one named, always the same for the same data. If you name
        another for a file that has one beside it, the spend is in both, and a warning says so.

        The spend is in the ledger, on disk, before noise is drawn. `to` writes the measurement file
        as well, and confirms the spend once it is complete: use it where a release must not be
        lost. Otherwise the release is in memory, the spend is confirmed once all is measured, and
        it counts whether or not it is saved later.

        A plan is measured once; `again` is a new spend. `threads`: 0 for one per processor.
        `progress`: a bar by tqdm, if it is installed, for work over a second; False for none.
        Ctrl-C stops, and the ledger tells the truth: what may have met noise stays reserved.

        >>> import residua as rs, pandas as pd
        >>> people = pd.DataFrame({"sex": ["female", "male", "male"]})
        >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
        >>> release = plan.measure(people, ledger="people.ledger")
        >>> list(release.table("sex").columns)
        ['sex', 'estimate', 'std_dev', 'ci_lower', 'ci_upper']
        """
        from residua._release import Release

        columns = [a["name"] for a in self._attributes]
        if identifier := self._file.identifier():
            columns.append(identifier)
        rows = _data.rows_of(data, columns)
        with shower(progress) as show:
            measured = _residua.measure(
                self._file,
                self._folder,
                rows.stream,
                rows.source,
                "" if ledger is None else os.fspath(ledger),
                "" if to is None else os.fspath(to),
                again,
                threads,
                show,
            )
        if measured.ledger_beside:
            warnings.warn(
                f"{measured.ledger_beside} lies beside the data, and {measured.ledger} was named; "
                "the spend is in both ledgers",
                stacklevel=2,
            )
        return Release(measured.release, measured.notes)

    def plot_errors(self, ax: Axes | None = None) -> Axes:
        """Draws each table's variance against its number of cells, by order, on log axes.

        Needs matplotlib (``pip install residua[plot]``).

        >>> import residua as rs
        >>> ax = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=1).plot_errors()
        >>> ax.get_xlabel()
        'cells of the table'
        """
        from residua import _plots

        return _plots.plot_errors(self.errors(), ax)

    def _set(self, names: tuple[str, ...]) -> list[int]:
        return self._file.find_set([str(name) for name in names])

    def _names(self, table: list[int]) -> tuple[str, ...]:
        return tuple(self._attributes[i]["name"] for i in table)

    def __repr__(self) -> str:
        s = self._summary
        return (
            f"<residua.Plan: {s['num_tables']:,.0f} tables of {len(self._attributes)} attributes, "
            f"{s['num_cells']:,.0f} cells, rho {_text_above(self.privacy.rho)}>"
        )
