"""The tables of a release: one by one when they are asked for, or all in one."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from residua import _residua
from residua._labels import Axis, Indices, positions
from residua._plain import Array

if TYPE_CHECKING:
    from residua._layout import Answers
    from residua._plan import Plan
    from residua._release import Release

Names = tuple[str, ...]

# As many answers are made at once.
_BATCH_ANSWERS = 1e6


class Tables(Mapping[Names, pd.DataFrame]):
    """Every table of a release by its attributes, made when it is asked for. Made by
    :meth:`Release.tables`.

    >>> release = example_release()
    >>> tables = release.tables()
    >>> list(tables)
    [(), ('age',), ('sex',), ('age', 'sex')]
    >>> len(tables["age", "sex"])
    200
    >>> for names, table in tables.items():
    ...     assert list(table.columns)[: len(names)] == list(names)
    """

    def __init__(self, release: Release, confidence: float, answers: Answers) -> None:
        self._release = release
        self._confidence = confidence
        self._answers = answers
        self._sets = release.plan._layout.table_sets()

    def __getitem__(self, names: Names | str) -> pd.DataFrame:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if wanted not in self:
            raise KeyError(names)
        return self._release.table(*wanted, confidence=self._confidence, answers=self._answers)

    def __contains__(self, names: object) -> bool:
        return (names,) in self._sets if isinstance(names, str) else names in self._sets

    def __iter__(self) -> Iterator[Names]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def items(self) -> ItemsView[Names, pd.DataFrame]:
        """The attributes and the table, one after the other.

        >>> release = example_release()
        >>> [len(table) for names, table in release.tables().items()]
        [1, 100, 2, 200]
        """
        return _Items(self)

    def _each(self) -> Iterator[tuple[Names, pd.DataFrame]]:
        cells = self._release.plan._file.errors()[1]
        batch: list[Names] = []
        held = 0.0
        for position, names in enumerate(self._sets):
            batch.append(names)
            held += float(cells[position])
            if held > _BATCH_ANSWERS or position + 1 == len(self._sets):
                sets = [self._sets[each] for each in batch]
                frames = frames_of(self._release, sets, self._confidence, self._answers)
                yield from zip(batch, frames, strict=True)
                batch, held = [], 0.0

    def __repr__(self) -> str:
        return f"<residua.Tables: {len(self)} tables>"


class _Items(ItemsView[Names, pd.DataFrame]):
    """Makes many tables at a time, which is faster than one by one."""

    _mapping: Tables

    def __iter__(self) -> Iterator[tuple[Names, pd.DataFrame]]:
        return self._mapping._each()


class Adjusted(Mapping[Names, pd.DataFrame]):
    """Tables that look like counts: not negative, or whole, and then biased and without error bars.
    Made by :meth:`Release.adjusted`.

    `max_deviation` says, of non-negative tables, how far an answer is at most from the most likely
    one, in standard deviations of its unbiased estimate.

    >>> adjusted = example_release().adjusted(nonnegative=True, integers=True)
    >>> adjusted["sex"].columns.tolist()
    ['sex', 'adjusted']
    >>> bool((adjusted["age", "sex"]["adjusted"] >= 0).all())
    True
    """

    def __init__(self, release: Release, nonnegative: bool, integers: bool, answers: str) -> None:
        self._release = release
        # Sums and means are not adjusted.
        self._sets = {
            names: table
            for names, table in release.plan._layout.table_sets().items()
            if not has_mean(release.plan, table)
        }
        self._answers = answers
        values, deviation = release._release.adjusted_tables(
            list(self._sets.values()), answers, nonnegative, integers
        )
        self._values: dict[Names, Array] = dict(zip(self._sets, values, strict=True))
        self._is_whole = integers
        self.max_deviation: float = float(deviation)

    def __getitem__(self, names: Names | str) -> pd.DataFrame:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        values = self._values[wanted]
        table = self._sets[wanted]
        columns = _label_columns(self._release.plan, table, self._answers)
        whole = self._is_whole and bool((abs(values) < 2**53).all())
        columns["adjusted"] = values.astype(np.int64) if whole else values
        return pd.DataFrame(columns, copy=False)

    def __iter__(self) -> Iterator[Names]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def __repr__(self) -> str:
        return f"<residua.Adjusted: {len(self)} tables, biased, without error bars>"


def frames_of(
    release: Release, tables: Sequence[Sequence[int]], confidence: float, answers: str
) -> Iterator[pd.DataFrame]:
    """The tables, whose attributes are in the domain's order."""
    plan = release.plan
    factor = _residua.quantile(confidence)
    counted = [list(table) for table in tables if not has_mean(plan, table)]
    numbers = iter(release._release.tables(counted, answers))
    for table in tables:
        if has_mean(plan, table):
            yield _mean_frame(release, table, factor, answers)
            continue
        values, variances, half_step = next(numbers)
        std_devs = np.sqrt(variances)
        half = factor * std_devs
        if half_step > 0:
            half += _residua.interval_widening(factor, float(variances.min()), half_step)
        if std_devs.size == 1:
            std_devs = np.full(values.size, std_devs[0])
        columns = _label_columns(plan, table, answers)
        columns.update(
            estimate=values, std_dev=std_devs, ci_lower=values - half, ci_upper=values + half
        )
        yield pd.DataFrame(columns, copy=False)


def has_mean(plan: Plan, table: Sequence[int]) -> bool:
    """Whether the table has a number whose mean is asked."""
    return any("mean" in plan._layout.attributes[i] for i in table)


def _mean_numbers(
    release: Release, table: Sequence[int], factor: float, answers: str
) -> dict[str, Any]:
    [made] = release._release.mean_tables([list(table)], answers, factor)
    counts, count_std_devs, sums, sum_std_devs, means, mean_std_devs, lower, upper = made
    return {
        "estimate": counts,
        "std_dev": count_std_devs,
        "ci_lower": counts - factor * count_std_devs,
        "ci_upper": counts + factor * count_std_devs,
        "sum": sums,
        "sum_std_dev": sum_std_devs,
        "sum_ci_lower": sums - factor * sum_std_devs,
        "sum_ci_upper": sums + factor * sum_std_devs,
        "mean": means,
        "mean_std_dev": mean_std_devs,
        "mean_ci_lower": lower,
        "mean_ci_upper": upper,
        "mean_note": np.where(np.isnan(means), _residua.mean_note, "").astype(object),
    }


def _mean_frame(
    release: Release, table: Sequence[int], factor: float, answers: str
) -> pd.DataFrame:
    others = [i for i in table if "mean" not in release.plan._layout.attributes[i]]
    columns = _label_columns(release.plan, others, answers)
    columns.update(_mean_numbers(release, table, factor, answers))
    return pd.DataFrame(columns, copy=False)


def _label_columns(plan: Plan, table: Sequence[int], answers: str) -> dict[str, Any]:
    """The labels of a table's rows, and the levels of hierarchies beside them. The last attribute
    varies fastest."""
    axes = [plan._layout.axis(i, answers) for i in table]
    columns: dict[str, Any] = {}
    for i, axis, where in zip(table, axes, positions(axes), strict=True):
        columns[plan._layout.columns[i]] = axis.column(where)
        if level := plan._layout.level(i, answers):
            columns[level[0]] = level[1][where]
    return columns


@dataclass(frozen=True, eq=False)
class LongTable:
    """All tables, one below the other. Each attribute has the code of its label in every row; -1
    for missing values and for tables without the attribute. Levels have a column of their own, with
    -1 for tables without the attribute."""

    names: list[str]  # of the tables
    table_codes: npt.NDArray[np.int32]
    attributes: dict[str, tuple[Axis, npt.NDArray[Any]]]
    levels: dict[str, tuple[str, Indices]]  # by the column of the attribute
    numbers: dict[str, Array]

    def to_arrow(self) -> pa.Table:
        columns: dict[str, Any] = {
            "table": _dictionary(self.table_codes, pa.array(self.names, pa.string()))
        }
        for name, (axis, codes) in self.attributes.items():
            columns[name] = _dictionary(codes, _arrow_labels(axis))
            if name in self.levels:
                column, levels = self.levels[name]
                columns[column] = pa.array(levels, mask=levels < 0)
        return pa.table({**columns, **self.numbers})

    def to_pandas(self) -> pd.DataFrame:
        columns: dict[str, Any] = {"table": _categorical(self.table_codes, self.names, False)}
        for name, (axis, codes) in self.attributes.items():
            columns[name] = _categorical(codes, axis.labels, axis.is_ordered)
            if name in self.levels:
                column, levels = self.levels[name]
                columns[column] = pd.arrays.IntegerArray(levels, levels < 0)
        return pd.DataFrame({**columns, **self.numbers}, copy=False)


def long_table(release: Release, confidence: float, answers: str) -> LongTable:
    plan = release.plan
    all_sets = list(plan._layout.table_sets().values())
    sets = [table for table in all_sets if not has_mean(plan, table)]
    estimates, std_devs, reaches, sizes = release._release.long_tables(sets, answers, confidence)
    numbers = {
        "estimate": estimates,
        "std_dev": std_devs,
        "ci_lower": estimates - reaches,
        "ci_upper": estimates + reaches,
    }
    # Tables with means come last; they have columns that the others lack.
    with_means = [table for table in all_sets if has_mean(plan, table)]
    factor = _residua.quantile(confidence)
    made = [_mean_numbers(release, table, factor, answers) for table in with_means]
    if made:
        numbers = {
            name: np.concatenate([_column(numbers, name, len(estimates)), *(m[name] for m in made)])
            for name in made[0]
        }
        sizes = np.concatenate([sizes, [len(m["estimate"]) for m in made]])
        estimates = numbers["estimate"]
    names = plan._file.table_names([*sets, *with_means])
    sets += [[i for i in table if "mean" not in plan._layout.attributes[i]] for table in with_means]
    axes = {i: plan._layout.axis(i, answers) for i in sorted({i for table in sets for i in table})}
    codes = {
        i: np.full(len(estimates), -1, dtype=np.min_scalar_type(-len(axis.labels) - 1))
        for i, axis in axes.items()
    }
    levels = {
        i: (*level, np.full(len(estimates), -1))
        for i in axes
        if (level := plan._layout.level(i, answers))
    }
    begin = 0
    for table, size in zip(sets, sizes.tolist(), strict=True):
        shape = [len(axes[i]) for i in table]
        for k, i in enumerate(table):
            along = [-1 if j == k else 1 for j in range(len(shape))]
            rows = slice(begin, begin + size)
            codes[i][rows].reshape(shape)[...] = axes[i].codes.reshape(along)
            if i in levels:
                _, of_answers, of_rows = levels[i]
                of_rows[rows].reshape(shape)[...] = of_answers.reshape(along)
        begin += size
    return LongTable(
        names,
        np.repeat(np.arange(len(sets), dtype=np.int32), sizes),
        {plan._layout.columns[i]: (axes[i], codes[i]) for i in axes},
        {plan._layout.columns[i]: (column, of_rows) for i, (column, _, of_rows) in levels.items()},
        numbers,
    )


def _column(numbers: dict[str, Array], name: str, size: int) -> npt.NDArray[Any]:
    """A column of tables without means, where these have it."""
    if name in numbers:
        return numbers[name]
    return np.full(size, "" if name == "mean_note" else np.nan, dtype=object if name == "mean_note" else float)


def _categorical(codes: npt.NDArray[Any], labels: Any, ordered: bool) -> pd.Categorical:
    dtype = pd.CategoricalDtype(pd.Index(labels), ordered)
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def _dictionary(codes: npt.NDArray[Any], labels: pa.Array) -> pa.DictionaryArray:
    is_missing = codes < 0
    indices = pa.array(codes, mask=is_missing) if is_missing.any() else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, labels)


def _arrow_labels(axis: Axis) -> pa.Array:
    if isinstance(axis.labels, pd.DatetimeIndex):
        return pa.array(axis.labels.to_numpy().astype("datetime64[D]"))
    return pa.array(axis.labels.to_numpy(), from_pandas=True)
