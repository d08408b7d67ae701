"""A release, and the questions that you can ask of it. Asking costs no privacy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from residua import _residua
from residua._plain import Array
from residua._plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

class Interval(NamedTuple):
    """The two ends of a confidence interval.

    >>> import residua as rs
    >>> rs.Interval(1.0, 2.0).upper
    2.0
    """

    lower: float
    upper: float


@dataclass(frozen=True)
class Estimate:
    """An unbiased estimate, which may be negative, and its exact standard deviation.

    Two estimates of one release share noise, so the error of their difference does not follow from
    the two standard deviations. Use :meth:`Release.compare`.

    >>> import residua as rs
    >>> [round(end, 3) for end in rs.Estimate(100.0, 10.0).interval(0.95)]
    [80.4, 119.6]
    """

    value: float
    std_dev: float
    question: Any = field(default=None, repr=False, compare=False)
    half_step: float = field(default=0.0, repr=False, compare=False)

    @property
    def variance(self) -> float:
        """The square of the standard deviation.

        >>> import residua as rs
        >>> rs.Estimate(100.0, 10.0).variance
        100.0
        """
        return self.std_dev**2

    def interval(self, confidence: float = 0.95) -> Interval:
        """The interval that contains the true number with this probability.

        >>> import residua as rs
        >>> rs.Estimate(0.0, 1.0).interval(0.6827).upper.__round__(3)
        1.0
        """
        factor = _residua.quantile(confidence)
        half = factor * self.std_dev
        if self.half_step > 0:  # noise of releases of residua up to 0.4 may be coarse
            half += _residua.interval_widening(factor, self.variance, self.half_step)
        return Interval(self.value - half, self.value + half)


@dataclass(frozen=True)
class Comparison:
    """Two estimates of one release, with the noise that they share taken into account.

    `ratio` is an interval for the first divided by the second; None if the second is too close to 0
    for its noise. Made by :meth:`Release.compare`.

    >>> import residua as rs
    >>> rs.Comparison.__dataclass_fields__.keys() >= {"difference", "ratio"}
    True
    """

    first: Estimate
    second: Estimate
    covariance: float
    correlation: float
    difference: Estimate
    sum: Estimate
    ratio: Interval | None


def load(path: str | os.PathLike[str]) -> Release:
    """Reads a measurement file, which the command line or :meth:`Release.save` wrote.

    >>> import residua as rs, pandas as pd
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
    >>> people = pd.DataFrame({"sex": ["female", "male", "male"]})
    >>> release = plan.measure(people, ledger="loaded.ledger", to="loaded.parquet")
    >>> rs.load("loaded.parquet").query(sex="male") == release.query(sex="male")
    True
    """
    return Release(_residua.load_release(Path(path)))


def verify(path: str | os.PathLike[str]) -> None:
    """Recomputes the privacy cost of a plan or measurement file; raises :class:`Refused` if the
    file states another.

    >>> import residua as rs
    >>> rs.plan(rs.Domain(a=5), marginals=1, rho=1).save("plan.json")
    >>> rs.verify("plan.json")
    """
    _residua.verify_file(Path(path))


class Release:
    """Noisy measurements with their plan. Made by :meth:`Plan.measure` and :func:`load`.

    >>> import residua as rs, pandas as pd
    >>> people = pd.DataFrame({"age": [3, 50, 70], "sex": ["female", "male", "male"]})
    >>> domain = rs.Domain(age=rs.integers(0, 99), sex=["female", "male"])
    >>> release = rs.plan(domain, marginals="<=2", rho=1).measure(people, ledger="three.ledger")
    >>> release
    <residua.Release: 4 tables of 2 attributes, 303 cells, rho 1>
    """

    def __init__(self, release: _residua.Release, notes: Sequence[str] = ()) -> None:
        self._release = release
        self._plan = Plan(release.plan(), Path.cwd())
        self._notes = list(notes)

    @property
    def plan(self) -> Plan:
        """The plan that was measured.

        >>> release = example_release()
        >>> release.plan.sizes
        {'age': 100, 'sex': 2}
        """
        return self._plan

    @property
    def notes(self) -> list[str]:
        """How many values had no cell when the data was read, and what happened to them.

        These are true counts, not for publication. No file holds them, and nothing prints them
        unless you ask, because notebooks keep what they show.

        >>> import residua as rs, pandas as pd
        >>> domain = rs.Domain(age=rs.integers(0, 99, outside="clamp"))
        >>> people = pd.DataFrame({"age": [3, 120]})
        >>> rs.plan(domain, marginals=1, rho=1).measure(people, ledger="clamped.ledger").notes
        ['age: 1 value clamped (a true count: not for publication)']
        """
        return list(self._notes)

    def table(
        self, *attributes: str, confidence: float = 0.95, answers: str = "planned"
    ) -> pd.DataFrame:
        """The table over these attributes; without any, the total.

        One row per answer. The columns are the attributes, in the domain's order, then `estimate`,
        `std_dev`, `ci_lower` and `ci_upper`. `answers` is "planned" for the attributes' own
        queries, "prefixes" for prefix sums in place of all ranges, or "cells" for the counts.

        >>> release = example_release()
        >>> release.table("age", "sex").columns.tolist()
        ['age', 'sex', 'estimate', 'std_dev', 'ci_lower', 'ci_upper']
        >>> len(release.table())
        1
        """
        return self._frames([self._plan._set(attributes)], confidence, answers)[0]

    def tables(
        self, *, confidence: float = 0.95, answers: str = "planned"
    ) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
        """Every table of the plan, one after the other, with its attributes.

        >>> release = example_release()
        >>> [names for names, table in release.tables()]
        [(), ('age',), ('sex',), ('age', 'sex')]
        """
        sets, cells, _, _ = self._plan._file.errors()
        batch: list[list[int]] = []
        held = 0.0
        for position, table in enumerate(sets):
            batch.append(table)
            held += float(cells[position])
            if held > 1e6 or position + 1 == len(sets):
                frames = self._frames(batch, confidence, answers)
                for of, frame in zip(batch, frames, strict=True):
                    yield self._plan._names(of), frame
                batch, held = [], 0.0

    def estimates(self, *attributes: str, answers: str = "planned") -> Array:
        """The estimates of a table: one axis per attribute, in the domain's order.

        >>> release = example_release()
        >>> release.estimates("age", "sex").shape
        (100, 2)
        """
        table = self._plan._set(attributes)
        values: Array = self._release.tables([table], answers)[0][0]
        return values.reshape(self._shape(table, answers))

    def variances(self, *attributes: str, answers: str = "planned") -> Array:
        """The exact variance of every estimate of a table, in an array of the same shape.

        >>> release = example_release()
        >>> release.variances("sex").shape
        (2,)
        """
        table = self._plan._set(attributes)
        shape = self._shape(table, answers)
        variances: Array = self._release.tables([table], answers)[0][1]
        if variances.size == 1:
            return np.full(shape, variances[0])
        return variances.reshape(shape)

    def query(self, question: str | Mapping[str, Any] | None = None, /, **terms: Any) -> Estimate:
        """The answer to any question on attributes that were measured together.

        A term is a value, a list of values, a range ``(first, last)`` that includes both ends, or
        None for missing values. A range may have None at one end. A range of cuts starts above its
        first number. A numpy array gives every cell of its attribute a weight. A question can also
        be a text, as on the command line: ``"age=18..30 sex=female"``.

        >>> release = example_release()
        >>> adults = release.query(age=(18, 30), sex="female")
        >>> adults.std_dev == release.query("age=18..30 sex=female").std_dev
        True
        """
        asked: Any = question if question is not None else {}
        if isinstance(asked, Mapping):
            asked = {**asked, **terms}
        elif terms:
            raise TypeError("ask by a text or by terms, not both")
        value, variance, half_step = self._release.answer(_worded(asked))
        return Estimate(value, float(np.sqrt(variance)), asked, half_step)

    def covariance(
        self, first: str | Mapping[str, Any] | Estimate, second: str | Mapping[str, Any] | Estimate
    ) -> float:
        """The covariance of the answers to two questions: texts, terms, or answers of
        :meth:`query`.

        >>> release = example_release()
        >>> women, men = release.query(sex="female"), release.query(sex="male")
        >>> release.covariance(women, men) == release.covariance("sex=female", {"sex": "male"})
        True
        """
        return self._release.covariance(_worded(_asked(first)), _worded(_asked(second)))

    def compare(
        self,
        first: str | Mapping[str, Any] | Estimate,
        second: str | Mapping[str, Any] | Estimate,
        *,
        confidence: float = 0.95,
    ) -> Comparison:
        """The difference, sum and ratio of two answers, with correct error bars.

        >>> release = example_release()
        >>> compared = release.compare("sex=female", "sex=male")
        >>> compared.difference.value == compared.first.value - compared.second.value
        True
        """
        a, b = self.query(_asked(first)), self.query(_asked(second))
        shared = self.covariance(a, b)
        ratio = _residua.ratio((a.value, a.variance), (b.value, b.variance), shared, confidence)
        spread = float(np.sqrt(max(0.0, a.variance + b.variance - 2 * shared)))
        both = float(np.sqrt(max(0.0, a.variance + b.variance + 2 * shared)))
        return Comparison(
            a,
            b,
            shared,
            shared / (a.std_dev * b.std_dev),
            Estimate(a.value - b.value, spread, half_step=a.half_step + b.half_step),
            Estimate(a.value + b.value, both, half_step=a.half_step + b.half_step),
            Interval(*ratio) if ratio else None,
        )

    def residuals(self, *attributes: str) -> npt.NDArray[Any]:
        """The noisy numbers of one base mechanism, in one dimension; the last attribute varies
        fastest. They are the counts with ``basis.matrix`` applied along each axis, plus noise.
        They are integers; or multiples of a power of 1/2, as floats, where the noise is so small
        that it was drawn on a finer lattice.

        >>> release = example_release()
        >>> release.residuals("sex").dtype
        dtype('float64')
        """
        values = self._release.residual(self._plan._set(attributes))
        if isinstance(values, list):
            return np.array([int(text) for text in values], dtype=object)
        return np.asarray(values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a measurement file, which is complete: publish it, and ask it questions later.

        >>> example_release().save("saved.parquet")
        """
        self._release.save(Path(path))

    def linear_measurements(self, form: str = "residuals") -> list[Any]:
        """The release as ``mbi.LinearMeasurement`` objects, for synthetic data by Private-PGM.

        With "residuals", each is a base mechanism with the linear map that it measures. Their noise
        is independent, as mbi assumes, so its fit weighs them correctly. With "marginals", each is
        a table of the plan. Tables share noise, which mbi cannot know. Attributes are columns of
        cell numbers, of sizes ``plan.sizes``. Residuals tell mbi little about the total: give it
        ``known_total=release.query().value``.

        Needs mbi (``pip install residua[synthetic]``).

        >>> len(example_release().linear_measurements())
        4
        """
        from residua import _synthetic

        return _synthetic.linear_measurements(self, form)

    def plot(
        self, *attributes: str, confidence: float = 0.95, answers: str = "planned", ax: Axes | None = None
    ) -> Axes:
        """Draws a table of one or two attributes, with its intervals as error bars.

        Needs matplotlib (``pip install residua[plot]``).

        >>> example_release().plot("age", "sex").get_ylabel()
        'count'
        """
        from residua import _plots

        return _plots.plot_table(self, attributes, confidence, answers, ax)

    def _shape(self, table: list[int], answers: str) -> tuple[int, ...]:
        return tuple(len(self._plan._file.labels(i, answers)) for i in table)

    def _frames(
        self, tables: list[list[int]], confidence: float, answers: str
    ) -> list[pd.DataFrame]:
        factor = _residua.quantile(confidence)
        axes = {i: self._axis(i, answers) for i in {i for table in tables for i in table}}
        frames = []
        for table, (values, variances, half_step) in zip(
            tables, self._release.tables(tables, answers), strict=True
        ):
            std_devs = np.sqrt(variances)
            half = factor * std_devs
            if half_step > 0:
                half += _residua.interval_widening(factor, float(variances.min()), half_step)
            if std_devs.size == 1:
                std_devs = np.full(values.size, std_devs[0])
            columns = _spread([axes[i] for i in table])
            named = {self._plan._attributes[i]["name"]: c for i, c in zip(table, columns, strict=True)}
            named.update(
                estimate=values, std_dev=std_devs, ci_lower=values - half, ci_upper=values + half
            )
            frames.append(pd.DataFrame(named, copy=False))
        return frames

    def _axis(self, attribute: int, answers: str) -> pd.Categorical | npt.NDArray[np.int64]:
        """One entry per answer: numbers where the cells are numbers, otherwise labels in order."""
        told = self._plan._attributes[attribute]
        labels = self._plan._file.labels(attribute, answers)
        is_cells = answers == "cells" or told["queries"] == "identity"
        if is_cells and not told["null"] and not told.keys() & {"cuts", "values", "dates", "part"}:
            first = told["integers"][0] if "integers" in told else 0
            return np.arange(first, first + told["size"], dtype=np.int64)
        return pd.Categorical.from_codes(
            np.arange(len(labels)), categories=labels, ordered="values" not in told
        )

    def __repr__(self) -> str:
        return repr(self._plan).replace("Plan", "Release", 1)


def _spread(axes: Sequence[Any]) -> list[Any]:
    """The columns of a table with these axes; the last axis varies fastest."""
    shape = [len(axis) for axis in axes]
    columns = []
    for k, axis in enumerate(axes):
        is_labels = isinstance(axis, pd.Categorical)
        entries = np.asarray(axis.codes if is_labels else axis)
        along = entries.reshape([-1 if i == k else 1 for i in range(len(shape))])
        column = np.broadcast_to(along, shape).ravel()
        if is_labels:
            column = pd.Categorical.from_codes(column, dtype=axis.dtype, validate=False)
        columns.append(column)
    return columns


def _asked(question: Any) -> Any:
    if not isinstance(question, Estimate):
        return question
    if question.question is None:
        raise _residua.Error("this estimate was not made by query; ask by a text or by terms")
    return question.question


def _quoted(item: Any) -> str:
    if item is None:
        return "null"
    if isinstance(item, bool | np.bool_):
        item = "true" if item else "false"
    return '"' + str(item).replace('"', '""') + '"'


def _term(name: str, what: Any) -> str:
    if isinstance(what, tuple):
        if len(what) != 2:
            raise _residua.Error(
                f"'{name}' asks for a tuple of {len(what)}; (first, last) is a range, and a list holds values"
            )
        ends = ["" if end is None else _quoted(end) for end in what]
        return f"{_quoted(name)}={ends[0]}..{ends[1]}"
    items = what if isinstance(what, list | set | frozenset | range) else [what]
    return f"{_quoted(name)}=" + "|".join(_quoted(item) for item in items)


def _worded(question: Any) -> tuple[str, list[tuple[str, list[float]]]]:
    """The question as text for the library, and the attributes that have weights."""
    if isinstance(question, str):
        return question, []
    words = [_term(n, w) for n, w in question.items() if not isinstance(w, np.ndarray)]
    weights = [(n, w.astype(float).tolist()) for n, w in question.items() if isinstance(w, np.ndarray)]
    return " ".join(words), weights
