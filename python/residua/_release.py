"""A release, and the questions that you can ask of it. Asking costs no privacy."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from residua import _estimate, _html, _residua, _terms
from residua._estimate import Comparison, Estimate, Mean
from residua._layout import Answers, checked_answers
from residua._page import Page, write_page
from residua._plain import Array, flag, number, place, whole
from residua._plan import Plan
from residua._spec import Spec
from residua._tables import Adjusted, Tables, frames_of, long_table

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from residua._synthetic import Synthetic

Question = str | Mapping[str, Any]

def load_release(path: str | os.PathLike[str]) -> Release:
    """Reads a measurement file, which the command line or :meth:`Release.save` wrote, or that of a
    release folder. :func:`load` is the same.

    >>> import residua as rs, pandas as pd
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=1)
    >>> people = pd.DataFrame({"sex": ["female", "male", "male"]})
    >>> release = plan.measure(people, ledger="loaded.ledger", to="loaded.parquet")
    >>> rs.load_release("loaded.parquet").query(sex="male") == release.query(sex="male")
    True
    """
    file = Path(path)
    if file.is_dir():
        combined = file / "combined.parquet"  # of a release after earlier ones
        file = combined if combined.exists() else file / "measurements.parquet"
    return Release(_residua.load_release(file))


# The name of this function up to version 0.4.
load = load_release


def _from_bytes(content: bytes) -> Release:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "release.parquet")
        file.write_bytes(content)
        return load_release(file)


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
        self, *attributes: str, confidence: float = 0.95, answers: Answers = "planned"
    ) -> pd.DataFrame:
        """The table over these attributes; without any, the total.

        One row per answer. The columns are the attributes, in the order asked for, then `estimate`,
        `std_dev`, `ci_lower` and `ci_upper`. An attribute that has one of these names gets a "_" at
        its end. A table with a number whose mean is asked has one row per answer of the others:
        `estimate` counts the rows that have a number, and then come `sum`, `sum_std_dev`,
        `sum_ci_lower`, `sum_ci_upper`, `mean`, `mean_std_dev`, `mean_ci_lower`, `mean_ci_upper` and
        `mean_note`. Where the rows are too few for a mean, the note says so and the mean is
        missing. An attribute with a hierarchy has a second column, such as `district_level`: 0 for
        values, 1 for groups of them, and so on. `answers` is "planned" for the attributes' own
        queries, "prefixes" for prefix sums in place of all ranges, or "cells" for the counts.

        The labels of cells have their types, so that the table can be merged with other data: whole
        numbers and truth values are such, dates are the first day of their period, and missing
        values are missing. All other labels are categories, in order.

        >>> release = example_release()
        >>> release.table("sex", "age").columns.tolist()
        ['sex', 'age', 'estimate', 'std_dev', 'ci_lower', 'ci_upper']
        >>> release.table("age")["age"].dtype
        dtype('int64')
        >>> len(release.table())
        1
        """
        kind = checked_answers(answers)
        table, order = self._plan._layout.ordered_set(attributes)
        [frame] = frames_of(self, [table], number(confidence, "confidence"), kind)
        # A number whose mean is asked has no column.
        order = tuple(k for k in order if "mean" not in self._plan._layout.attributes[table[k]])
        table = [i for i in table if "mean" not in self._plan._layout.attributes[i]]
        order = tuple(sorted(order).index(k) for k in order)
        if list(order) == sorted(order):
            return frame
        shape = self._plan._layout.shape(table, kind)
        rows = np.arange(len(frame)).reshape(shape).transpose(order).ravel()
        columns = [name for k in order for name in self._plan._layout.label_columns(table[k], kind)]
        return frame.iloc[rows][[*columns, *frame.columns[len(columns) :]]].reset_index(drop=True)

    def tables(self, *, confidence: float = 0.95, answers: Answers = "planned") -> Tables:
        """Every table of the plan by its attributes, made when it is asked for.

        >>> release = example_release()
        >>> for names, table in release.tables().items():
        ...     print(names, len(table))
        () 1
        ('age',) 100
        ('sex',) 2
        ('age', 'sex') 200
        """
        level = number(confidence, "confidence")
        _residua.quantile(level)
        return Tables(self, level, checked_answers(answers))

    def adjusted(
        self, *, nonnegative: bool = True, integers: bool = False, answers: Answers = "planned"
    ) -> Adjusted:
        """The tables as readers may expect counts to be: the most likely ones that are not negative
        and agree with each other; or whole numbers; or both. They are biased and have no error
        bars. Give them to people, and estimate from :meth:`tables`.

        >>> adjusted = example_release().adjusted(nonnegative=True)
        >>> adjusted.max_deviation < 0.1
        True
        >>> float(adjusted["age"]["adjusted"].min()) >= 0
        True
        """
        settings = flag(nonnegative, "nonnegative"), flag(integers, "integers")
        if not any(settings):
            raise _residua.InputError("nothing is to be adjusted; set nonnegative or integers")
        return Adjusted(self, *settings, checked_answers(answers))

    def to_arrow(self, *, confidence: float = 0.95, answers: Answers = "planned") -> pa.Table:
        """All tables as one long ``pyarrow.Table``: the column `table`, one column per attribute,
        `estimate`, `std_dev`, `ci_lower` and `ci_upper`.

        `table` and the attributes are dictionary-encoded. An attribute is null in the rows of
        tables that do not have it, and for missing values. Levels of hierarchies are beside their
        attributes, as in :meth:`table`.

        >>> example_release().to_arrow().column_names
        ['table', 'age', 'sex', 'estimate', 'std_dev', 'ci_lower', 'ci_upper']
        """
        return long_table(self, number(confidence, "confidence"), checked_answers(answers)).to_arrow()

    def to_pandas(self, *, confidence: float = 0.95, answers: Answers = "planned") -> pd.DataFrame:
        """All tables as one long DataFrame, with the columns of :meth:`to_arrow` as categories.

        >>> frame = example_release().to_pandas()
        >>> len(frame), len(frame[frame["table"] == "age_x_sex"])
        (303, 200)
        """
        return long_table(self, number(confidence, "confidence"), checked_answers(answers)).to_pandas()

    def to_polars(self, *, confidence: float = 0.95, answers: Answers = "planned") -> pl.DataFrame:
        """All tables as one long polars DataFrame, with the columns of :meth:`to_arrow`.

        Needs polars (``pip install residua[polars]``).

        >>> example_release().to_polars().height
        303
        """
        try:
            import polars
        except ImportError:
            raise _residua.Error("to_polars needs polars; pip install residua[polars]") from None
        made = polars.from_arrow(self.to_arrow(confidence=confidence, answers=answers))
        assert isinstance(made, polars.DataFrame)
        return made

    def estimates(self, *attributes: str, answers: Answers = "planned") -> Array:
        """The estimates of a table: one axis per attribute, in the order asked for.

        >>> release = example_release()
        >>> release.estimates("sex", "age").shape
        (2, 100)
        """
        kind = checked_answers(answers)
        table, order = self._plan._layout.ordered_set(attributes)
        values: Array = self._release.tables([table], kind)[0][0]
        return values.reshape(self._plan._layout.shape(table, kind)).transpose(order)

    def variances(self, *attributes: str, answers: Answers = "planned") -> Array:
        """The exact variance of every estimate of a table, in an array of the same shape.

        >>> release = example_release()
        >>> release.variances("sex").shape
        (2,)
        """
        kind = checked_answers(answers)
        table, order = self._plan._layout.ordered_set(attributes)
        shape = self._plan._layout.shape(table, kind)
        variances: Array = self._release.tables([table], kind)[0][1]
        if variances.size == 1:
            variances = np.full(shape, variances[0])
        return variances.reshape(shape).transpose(order)

    def query(self, question: Question | None = None, /, **terms: Any) -> Estimate:
        """The answer to any question on attributes that were measured together.

        A term is a label, a list or an array of labels, a range ``(first, last)`` that includes
        both ends, or None for missing values. :func:`isin`, :func:`between` and :func:`weights` say
        the same in words; weights, one for each cell, are said in no other way. A range may have
        None at one end. A range of cuts starts above its first number. Dates are dates or texts. A
        question can also be a text, as on the command line: ``"age=18..30 sex=female"``.

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
        value, variance, half_step = self._release.answer(self._worded(asked))
        return Estimate(value, float(np.sqrt(variance)), asked, half_step, self)

    def sum(self, name: str, question: Mapping[str, Any] | None = None, /, **terms: Any) -> Estimate:
        """The sum of a number whose mean was measured (:func:`numbers`), over the rows that have
        one, and that the terms of :meth:`query` choose.

        >>> release = example_means()
        >>> release.sum("delay", carrier="AA") == release.query('sum(delay) carrier=AA')
        True
        """
        low, high = self._ends(name)
        return self._moment(name, [low, high], {**(question or {}), **terms})

    def mean(self, name: str, question: Mapping[str, Any] | None = None, /, **terms: Any) -> Mean:
        """The mean of a number whose mean was measured (:func:`numbers`), over the rows that have
        one, and that the terms of :meth:`query` choose.

        >>> release = example_means()
        >>> delay = release.mean("delay", carrier="AA")
        >>> delay.ratio == delay.sum.value / delay.count.value
        True
        """
        asked = {**(question or {}), **terms}
        total = self.sum(name, asked)
        low, high = self._release.mean_range(self._worded(total.question))
        return Mean(total, self._moment(name, [1.0, 1.0], asked), (low, high))

    def _ends(self, name: str) -> tuple[float, float]:
        for attribute in self._plan._layout.attributes:
            if attribute["name"] == name and "mean" in attribute:
                low, high = attribute["mean"]
                return float(low), float(high)
        self._plan._layout.ordered_set((name,))  # refuses an unknown name
        raise _residua.InputError(f"'{name}' was counted, and has neither a sum nor a mean")

    def _moment(self, name: str, of_ends: list[float], asked: Mapping[str, Any]) -> Estimate:
        if name in asked:
            raise _residua.InputError(
                f"the question names '{name}' twice; its mean and its sum are of all rows that have a number"
            )
        cells = self._plan.sizes[name]
        return self.query({**asked, name: _terms.weights(of_ends + [0.0] * (cells - 2))})

    def covariance(self, first: Question | Estimate, second: Question | Estimate) -> float:
        """The covariance of two answers: of texts or terms, which are asked of this release, or of
        answers of :meth:`query`. Answers of different releases have independent noise, so that it
        is 0. Not so if one is combined from the other: :class:`InputError`.

        >>> release = example_release()
        >>> women, men = release.query(sex="female"), release.query(sex="male")
        >>> release.covariance(women, men) == release.covariance("sex=female", {"sex": "male"})
        True
        """
        return _estimate.covariance(self._estimate(first), self._estimate(second))

    def compare(
        self,
        first: Question | Estimate,
        second: Question | Estimate,
        *,
        confidence: float = 0.95,
    ) -> Comparison:
        """The difference, sum and ratio of two answers, with correct error bars.

        Texts and terms are asked of this release. Answers of :meth:`query` may be of any: two
        releases, whether of the same data or not, have independent noise.

        >>> release = example_release()
        >>> compared = release.compare("sex=female", "sex=male")
        >>> compared.difference.value == compared.first.value - compared.second.value
        True
        """
        level = number(confidence, "confidence")
        return _estimate.compare(self._estimate(first), self._estimate(second), level)

    def _estimate(self, question: Question | Estimate) -> Estimate:
        return question if isinstance(question, Estimate) else self.query(question)

    def _worded(self, question: Any) -> _terms.Worded:
        every = {a["name"]: a["every"] for a in self._plan._layout.attributes if "every" in a}
        return _terms.worded(question, every)

    def residuals(self, *attributes: str) -> npt.NDArray[Any]:
        """The noisy numbers of one base mechanism, in one dimension; of the attributes, in the
        domain's order, the last varies fastest. They are the counts with ``basis.matrix`` applied along each axis, plus noise.
        They are integers; or multiples of a power of 1/2, as floats, where the noise is so small
        that it was drawn on a finer lattice.

        >>> release = example_release()
        >>> release.residuals("sex").dtype
        dtype('float64')
        """
        values = self._release.residual(self._plan._layout.ordered_set(attributes)[0])
        if isinstance(values, list):
            return np.array([int(text) for text in values], dtype=object)
        return np.asarray(values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a measurement file, which is complete: publish it, and ask it questions later.

        >>> example_release().save("saved.parquet")
        """
        self._release.save(Path(path))

    def page(
        self,
        path: str | os.PathLike[str] = "index.html",
        *,
        spec: Spec | str | os.PathLike[str] | None = None,
        max_bytes: int = _residua.default_page_bytes,
        confidence: float = 0.95,
    ) -> Page:
        """Writes one HTML file in which readers look at the tables and ask questions, without a
        server or a network. Nothing of it depends on the data but the noisy values.

        The section ``[release]`` of the spec file `spec` has the title, the description, the
        publisher, the contact and the licence. If the page would be larger than `max_bytes`, the
        largest tables are left out; the page says so, and so does a warning. `confidence` is that
        of the intervals that the page begins with.

        >>> page = example_release().page("people.html")
        >>> page.num_tables, page.left_out
        (4, [])
        """
        page = write_page(
            self, place(path, "path"), spec, whole(max_bytes, "max_bytes"),
            number(confidence, "confidence"),
        )
        if page.left_out:
            warnings.warn(
                f"{page.path}: {len(page.left_out)} of {len(page.left_out) + page.num_tables} tables "
                f"did not fit, the largest {page.left_out[0]}; allow more max_bytes",
                stacklevel=2,
            )
        return page

    def synthetic(
        self, rows: int | None = None, *, tolerance: float = 0.02, max_iterations: int = 20_000
    ) -> Synthetic:
        """Rows that nobody has, whose tables are near those of the release, by Private-PGM.

        It fits a model to all measurements, until 500 further steps move its tables by less than
        `tolerance` standard deviations (root mean square), and draws `rows` rows of it; without
        `rows`, as many as the release estimates. The result has the rows, with labels, and says how far their tables are from the
        release, in standard deviations. It costs no privacy.

        Needs mbi (``pip install residua[synthetic]``).

        >>> synthetic = example_release().synthetic(1000)
        >>> synthetic.frame.columns.tolist(), len(synthetic.frame)
        (['age', 'sex'], 1000)
        >>> synthetic.distances.columns.tolist()
        ['table', 'rms', 'max']
        """
        from residua import _synthetic

        return _synthetic.synthesize(
            self,
            None if rows is None else whole(rows, "rows"),
            number(tolerance, "tolerance"),
            whole(max_iterations, "max_iterations"),
        )

    def linear_measurements(
        self, form: Literal["residuals", "marginals"] = "residuals"
    ) -> list[Any]:
        """The release as ``mbi.LinearMeasurement`` objects, for synthetic data by Private-PGM.

        With "residuals", each is a base mechanism with the linear map that it measures. Their noise
        is independent, as mbi assumes, so its fit weighs them correctly. With "marginals", each is
        a table of the plan. Tables share noise, which mbi cannot know. Attributes are columns of
        cell numbers, of sizes ``plan.sizes``. Residuals tell mbi little about the total: give it
        ``known_total=release.query().value``.

        Needs mbi (``pip install residua[synthetic]``). :meth:`synthetic` does it all.

        >>> len(example_release().linear_measurements())
        4
        """
        from residua import _synthetic

        return _synthetic.linear_measurements(self, form)

    def plot(
        self,
        *attributes: str,
        confidence: float = 0.95,
        answers: Answers = "planned",
        ax: Axes | None = None,
    ) -> Axes:
        """Draws a table: of one attribute bars with error bars, of two a heatmap with the first
        attribute downwards, of three a heatmap of the last two for each label of the first.

        In heatmaps, cells whose interval contains 0 are grey: their counts may be noise alone.
        Of an attribute that asks for all ranges, the picture shows where each begins and ends.
        Of a table with a number whose mean is asked, it shows the means by the other attributes:
        points with their intervals, or heatmaps in which cells of too few rows are grey.
        Returns the axes; of three attributes the first of them, whose `figure` has all.

        Needs matplotlib (``pip install residua[plot]``).

        >>> example_release().plot("age").get_ylabel()
        'count'
        """
        from residua import _plots

        return _plots.plot_table(self, attributes, confidence, answers, ax)

    def __reduce__(self) -> tuple[Any, ...]:
        # The notes are true counts, and stay where they are.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "release.parquet")
            self.save(file)
            return _from_bytes, (file.read_bytes(),)

    def __repr__(self) -> str:
        return repr(self._plan).replace("Plan", "Release", 1)

    def _repr_html_(self) -> str:
        return _html.table(repr(self)[1:-1], *self._plan._error_rows())
