"""A plan: the noise to add, what it costs and what errors it leads to."""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from residua import _data, _html, _residua, spark
from residua._basis import Basis, table_covariances
from residua._check import Check
from residua._errors import errors_of, level_errors_of
from residua._layout import Answers, Layout, checked_answers
from residua._ledger import warn_of_two_ledgers
from residua._plain import Array, counted, flag, number, place, text, whole
from residua._privacy import Privacy, text_above
from residua._progress import Show, shower

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from residua._release import Release


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Reads a plan file, which the command line or :meth:`Plan.save` wrote. A file that was changed
    is refused.

    >>> import residua as rs
    >>> rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1).save("plan.json")
    >>> rs.load_plan("plan.json")
    <residua.Plan: 1 table of 1 attribute, 2 cells, rho 1>
    """
    return Plan(_residua.read_plan(Path(path)), Path(path).parent.absolute())


class Plan:
    """The noise to add, chosen without data. Made by :func:`plan` and :func:`load_plan`.

    >>> import residua as rs
    >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=0.5)
    >>> plan.rmse < plan.max_std_dev
    True
    """

    def __init__(self, file: _residua.PlanFile, folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._layout = Layout(file)
        self._summary = file.summary()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of cells of each attribute.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=1, rho=1).sizes
        {'a': 5, 'b': 3}
        """
        return {a["name"]: a["size"] for a in self._layout.attributes}

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
    def parts(self) -> list[Plan]:
        """Of a combined release (:func:`combine`), the plans of what it combines; otherwise empty.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=0.5).parts
        []
        """
        return [Plan(part, self._folder) for part in self._file.parts()]

    @property
    def loss(self) -> float:
        """The value of the objective.

        >>> import residua as rs
        >>> round(rs.plan(rs.Domain(a=5), marginals=1, pcost=1, objective="max-variance").loss, 6)
        1.0
        """
        return float(self._summary["loss"])

    @property
    def relative_gap(self) -> float:
        """How far the loss is at most above the least possible with these bases: a proven fraction.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).relative_gap < 1e-6
        True
        """
        return float(self._summary["relative_gap"])

    @functools.cached_property
    def above_lower_bound(self) -> float | None:
        """How far the loss is at most above that of any mechanism of the same privacy cost.

        The loss is at most ``1 + above_lower_bound`` times the least that any mechanism can reach.
        None where no bound is proven: for replaced rows, and for a loss of your own.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).above_lower_bound < 1e-6
        True
        """
        above: float | None = self._file.above_lower_bound()
        return above

    @property
    def converged(self) -> bool:
        """Whether the gap is within the tolerance.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).converged
        True
        """
        return bool(self._summary["converged"])

    @property
    def rmse(self) -> float:
        """The root of the mean variance over all counts of all tables.

        >>> import residua as rs
        >>> round(rs.plan(rs.Domain(a=5), marginals=1, pcost=1).rmse, 6)
        1.0
        """
        return float(self._summary["rmse"])

    @property
    def max_std_dev(self) -> float:
        """The largest standard deviation of any count.

        Where sums are published, it is also the largest of these, as sums of ``value - LOW`` in
        units of ``HIGH - LOW``.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=4), marginals="<=2", max_std_dev=20).max_std_dev <= 20
        True
        """
        return float(np.sqrt(self._summary["max_variance"]))

    @property
    def tables(self) -> list[tuple[str, ...]]:
        """The tables to release, smaller ones first.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals="<=1", rho=1).tables
        [(), ('a',), ('b',)]
        """
        return list(self._layout.table_sets())

    def errors(self) -> pd.DataFrame:
        """The error of every table, before any data is read.

        One row per table: its name, its number of attributes (`order`) and of counts (`cells`);
        `std_dev`, the root of the mean variance of its counts; `max_std_dev`, that of its worst
        count.

        If the plan has means, two columns are added, which are empty for tables without: of the
        sums, `sum_std_dev` in the unit of the number; and `mean_std_dev_times_rows`. The standard
        deviation of the mean of n rows is at most the latter over n.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals="<=1", pcost=2).errors().round(3)
           table  order  cells  std_dev  max_std_dev
        0  total      0      1    1.088        1.088
        1      a      1      5    1.031        1.031
        2      b      1      3    0.989        0.989

        >>> minutes = rs.Domain(delay=rs.integers(-60, 600, queries="mean"))
        >>> rs.plan(minutes, marginals=1, pcost=2).errors().round(1).iloc[0].to_dict()
        {'table': 'delay', 'order': 1, 'cells': 1, 'std_dev': 1.0, 'max_std_dev': 1.0, 'sum_std_dev': 426.4, 'mean_std_dev_times_rows': 466.7}
        """
        return errors_of(self._file, self._layout)

    def level_errors(self) -> pd.DataFrame:
        """The errors of each level of each hierarchy, in all tables with the attribute.

        `level` is 0 for single values. `places` is how many groups or values the level has,
        `example` the first of them. `std_dev` and `max_std_dev` are as in :meth:`errors`.

        >>> import residua as rs
        >>> region = rs.values("N1", "N2", "S1", "S2", hierarchy={"north": ["N1", "N2"], "south": ["S1", "S2"]})
        >>> rs.plan(rs.Domain(region=region), marginals=1, rho=1).level_errors()[["level", "places", "example"]]
           level  places example
        0      1       2   north
        1      0       4      N1
        """
        return level_errors_of(self._file)

    @property
    def base_mechanisms(self) -> list[tuple[str, ...]]:
        """The attribute sets that are measured. Each has its own noise.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5, b=3), marginals=2, rho=1).base_mechanisms
        [(), ('a',), ('b',), ('a', 'b')]
        """
        return [self._layout.names(table) for table in self._file.mechanisms()[0]]

    @property
    def noise_scales(self) -> Array:
        """The standard deviation of the noise of each base mechanism, in the same order.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, pcost=1).noise_scales.shape
        (2,)
        """
        variances: Array = self._file.mechanisms()[1]
        return np.sqrt(variances)

    def noise_variance(self, *attributes: str) -> Fraction:
        """The variance of the noise of one base mechanism, exactly.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(a=5), marginals=1, pcost=1)
        >>> bool(plan.noise_variance("a") > 0)
        True
        """
        return Fraction(self._file.noise_variance(self._layout.ordered_set(attributes)[0]))

    def basis(self, attribute: str) -> Basis:
        """The residual basis of an attribute, as numpy arrays.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(age=rs.integers(0, 9, queries="prefix")), marginals=1, rho=1)
        >>> plan.basis("age").matrix.shape
        (9, 10)
        """
        told = self._file.basis(self._layout.index(attribute))
        for name in ("squared_sensitivity", "variance_factor"):
            told[name] = int(told[name])
        return Basis(**told)

    def labels(self, attribute: str, answers: Answers = "planned") -> list[str]:
        """The labels of the answers along an attribute, as text.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(age=rs.integers(0, 2, queries="prefix")), marginals=1, rho=1)
        >>> plan.labels("age"), plan.labels("age", answers="cells")
        (['<=0', '<=1', '<=2'], ['0', '1', '2'])
        """
        return list(self._file.labels(checked_answers(answers))[self._layout.index(attribute)])

    def variances(self, *attributes: str) -> Array:
        """The variance of every answer of a table: one axis per attribute, in the order asked for.

        >>> import residua as rs
        >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals=2, pcost=1)
        >>> plan.variances("a", "b").shape
        (5, 3)
        """
        table, order = self._layout.ordered_set(attributes)
        return np.asarray(self._file.variances(table)).transpose(order)

    def covariances(self, *attributes: str) -> Array:
        """The covariance matrix of all answers of a table; of the attributes, in the order asked
        for, the last varies fastest.

        >>> import residua as rs, numpy as np
        >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals=2, pcost=1)
        >>> full = plan.covariances("a", "b")
        >>> np.allclose(np.diag(full), plan.variances("a", "b").ravel())
        True
        """
        ordered, order = self._layout.ordered_set(attributes)
        table = [ordered[k] for k in order]
        bases = [self.basis(self._layout.attributes[i]["name"]) for i in table]

        def noise_variance(inside: Sequence[bool]) -> float:
            subset = sorted(i for i, is_inside in zip(table, inside, strict=True) if is_inside)
            return float(Fraction(self._file.noise_variance(subset)))

        return table_covariances(bases, noise_variance)

    def verify(self) -> None:
        """Recomputes the privacy cost in exact rationals; raises :class:`Refused` if the plan
        states another.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=1).verify()
        """
        self._file.verify()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a plan file, which the command line can measure and verify.

        >>> import residua as rs
        >>> rs.plan(rs.Domain(a=5), marginals=1, rho=1).save("plan.json")
        """
        self._file.write(self._folder, Path(path))

    def check(self, data: Any = None, *, progress: bool | Show | None = None) -> Check:
        """Tries the plan on the data: what would stop a release, and what one should know before.
        Nothing is spent or written.

        The result contains true properties of the data: it is for you, not for publication.

        >>> import residua as rs, pandas as pd
        >>> plan = rs.plan(rs.Domain(age=rs.integers(0, 99)), marginals=1, rho=1)
        >>> plan.check(pd.DataFrame({"age": [3, 120]})).is_ready
        False
        """
        rows = _data.rows_of(data, self._layout.data_columns())
        with shower(progress) as show:
            given = _residua.GivenData(rows.stream, rows.source, "", False, 0, show, None)
            return Check(**_residua.check(self._file, self._folder, given))

    def measure(
        self,
        data: Any = None,
        *,
        ledger: str | os.PathLike[str] | None = None,
        to: str | os.PathLike[str] | None = None,
        again: bool = False,
        allow_drops: bool = False,
        threads: int = 0,
        progress: bool | Show | None = None,
    ) -> Release:
        """Counts, adds noise and records the spend in the ledger.

        `data` is a pandas or polars DataFrame or LazyFrame, a pyarrow Table or dataset, a DuckDB
        relation, anything with ``__arrow_c_stream__``, an iterable of such batches, the path of a
        CSV, Parquet or JSON file, a pattern such as ``"people-*.parquet"``, or a Spark DataFrame,
        which is counted on its cluster (:mod:`residua.spark`). Without it, the data is where the
        spec of the plan says. `ledger` is the file that keeps the budget of this
        data. A data file has its ledger beside it, named after it. For anything else, name one, and
        always the same for the same data. If you name another ledger for a file that has one beside
        it, the spend is recorded in both, and a warning says so.

        The spend is in the ledger, on disk, before noise is drawn. With `to`, the measurements are
        also written to that file, and the spend is confirmed once the file is complete: use it
        where a release must not be lost. Without it, the release is in memory and the spend is
        confirmed once all is measured; it counts whether you save the release or not.

        A plan is measured once; `again=True` is a new spend. If one attribute drops more than nine
        tenths of the rows, :class:`Refused` is raised before anything is spent, unless
        `allow_drops` is True. `threads` is 0 for one per processor. `progress` shows a bar for work
        over a second if tqdm is installed; False shows none. Ctrl-C stops the work. If noise may
        have been drawn by then, the spend stays reserved.

        >>> import residua as rs, pandas as pd
        >>> people = pd.DataFrame({"sex": ["female", "male", "male"]})
        >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
        >>> release = plan.measure(people, ledger="people.ledger")
        >>> list(release.table("sex").columns)
        ['sex', 'estimate', 'std_dev', 'ci_lower', 'ci_upper']
        """
        from residua._release import Release

        with self._given(data, ledger, allow_drops, threads, progress) as given:
            measured = _residua.measure(
                self._file, self._folder, given, place(to, "to"), flag(again, "again")
            )
        warn_of_two_ledgers(measured)
        return Release(measured.release, measured.notes)

    def release(
        self,
        data: Any = None,
        folder: str | os.PathLike[str] = "release",
        *,
        ledger: str | os.PathLike[str] | None = None,
        after: Release | Sequence[Release] = (),
        same_data: bool = False,
        format: Literal["csv", "parquet"] = "csv",
        confidence: float = 0.95,
        title: str = "",
        description: str = "",
        publisher: str = "",
        date: str = "",
        contact: str = "",
        licence: str = "",
        allow_drops: bool = False,
        threads: int = 0,
        progress: bool | Show | None = None,
    ) -> Release:
        """Makes a whole release in one folder, as the command line does: the plan, the
        measurements, every table, and a page and a summary for readers. The folder can be published
        as it is.

        After an interruption, the same call continues and spends nothing twice. A folder that is
        complete is read again; its data is not. `data`, `ledger` and the other arguments are those
        of :meth:`measure`; the texts go into the page and the summary.

        `after` are the earlier releases that the plan was made after (:func:`plan`), in the same
        order. The new measurement is combined with them: tables, page and summary are the best
        estimates of all together, and so is what is returned. The spend is that of the plan alone.
        Releases of other data are refused before anything is spent; vouch for releases of residua
        up to 0.4, which do not say which data they measure, with `same_data`.

        >>> import residua as rs, pandas as pd
        >>> people = pd.DataFrame({"sex": ["female", "male", "male"]})
        >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
        >>> release = plan.release(people, "published", ledger="p.ledger", title="Three people")
        >>> import pathlib
        >>> sorted(path.name for path in pathlib.Path("published").iterdir())
        ['index.html', 'measurements.parquet', 'plan.json', 'summary.md', 'tables']

        A second release of the same data:

        >>> grant = rs.Ledger("p.ledger").grant(rho=1, reason="a second release")
        >>> more = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1, after=release)
        >>> both = more.release(people, "published_2", ledger="p.ledger", after=release)
        >>> both.query(sex="male").std_dev < release.query(sex="male").std_dev
        True
        """
        from residua._combination import releases_of
        from residua._release import Release

        texts = {
            "title": title,
            "description": description,
            "publisher": publisher,
            "date": date,
            "contact": contact,
            "licence": licence,
        }
        told = {name: text(item, name) for name, item in texts.items()}
        output = Path(place(folder, "folder"))
        kind, level = text(format, "format"), number(confidence, "confidence")
        earlier = releases_of(after), flag(same_data, "same_data")
        with self._given(data, ledger, allow_drops, threads, progress) as given:
            made = _residua.release(
                self._file, self._folder, given, output, kind, level, told, *earlier
            )
        warn_of_two_ledgers(made)
        for note in made.combination:
            warnings.warn(note, stacklevel=2)
        return Release(made.release, made.notes)

    @contextlib.contextmanager
    def _given(
        self, data: Any, ledger: Any, allow_drops: Any, threads: Any, progress: Any
    ) -> Iterator[_residua.GivenData]:
        """The arguments that measuring and releasing share."""
        settings = (
            place(ledger, "ledger"), flag(allow_drops, "allow_drops"), whole(threads, "threads")
        )
        parts = spark.counting(data, self._layout.data_columns(), self._file.identifier())
        rows = _data.rows_of(None if parts else data, self._layout.data_columns())
        with shower(progress) as show:
            yield _residua.GivenData(rows.stream, rows.source, *settings, show, parts)

    def plot_errors(self, ax: Axes | None = None) -> Axes:
        """Draws the variance of each table against its number of cells, by order, on log axes.

        Needs matplotlib (``pip install residua[plot]``).

        >>> import residua as rs
        >>> ax = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=1).plot_errors()
        >>> ax.get_xlabel()
        'cells of the table'
        """
        from residua import _plots

        return _plots.plot_errors(self.errors(), ax)

    def _error_rows(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        errors = self.errors().drop(columns="order")
        return list(errors.columns), list(errors.itertuples(index=False, name=None))

    def __repr__(self) -> str:
        s = self._summary
        return (
            f"<residua.Plan: {counted(s['num_tables'], 'table')} of "
            f"{counted(len(self._layout.attributes), 'attribute')}, {counted(s['num_cells'], 'cell')}, "
            f"rho {text_above(self.privacy.rho)}>"
        )

    def _repr_html_(self) -> str:
        return _html.table(repr(self)[1:-1], *self._error_rows())

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_json, (self._file.to_json(), self._folder)


def _from_json(content: str, folder: Path) -> Plan:
    return Plan(_residua.plan_from_json(content), folder)
