"""What the columns of a table can hold: public knowledge, stated before any data is read."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from residua import _html
from residua._plain import flag, is_missing, matrix, plain
from residua._residua import InputError, spec_of_domain

Queries = Literal["identity", "prefix", "range", "hierarchy", "mean"] | npt.ArrayLike
LevelWeights = Literal["equal", "answers"] | Iterable[float]
Outside = Literal["error", "clamp", "drop", "null", "other"]
Every = Literal["day", "week", "month", "quarter", "year"]
Part = Literal["weekday", "hour", "month"]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column: its cells, and the questions asked along it.

    Made by :func:`integers`, :func:`numbers`, :func:`cuts`, :func:`values`, :func:`dates`,
    :func:`part` and :func:`size`. `entries` are the entries of its section in a spec file; a matrix is a numpy array
    in place of a file's name.

    >>> import residua as rs
    >>> rs.integers(0, 99, queries="prefix").entries
    {'integers': [0, 99], 'queries': 'prefix'}
    """

    entries: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = {key: item for key, item in self.entries.items() if key != "custom"}
        entries = plain(entries)
        if "custom" in self.entries:
            entries["custom"] = _matrices(self.entries["custom"])
        object.__setattr__(self, "entries", entries)


def _matrices(custom: Any) -> Any:
    if not isinstance(custom, Mapping):
        return custom
    argument = {"matrix": "queries"}
    return {str(key): matrix(rows, argument.get(key, str(key))) for key, rows in custom.items()}


def _attribute(
    cells: Mapping[str, Any],
    queries: Queries,
    null: bool,
    outside: str,
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    entries = dict(cells)
    if column is not None:
        entries["column"] = column
    if flag(null, "null"):
        entries["null"] = True
    if outside != "error":
        entries["outside"] = outside
    is_matrix = not isinstance(queries, str)
    if hierarchy is not None and (is_matrix or queries not in ("identity", "hierarchy")):
        raise InputError("both queries and hierarchy are given; keep one")
    if strategy is not None and not is_matrix:
        raise InputError("strategy is given without a matrix of queries; pass the matrix as queries")
    if level_weights is not None and hierarchy is None:
        raise InputError("level_weights are given without a hierarchy; give one, or leave them out")
    if hierarchy is not None:
        entries["queries"] = "hierarchy"
        entries["hierarchy"] = hierarchy
        if level_weights is not None:
            is_list = isinstance(level_weights, Iterable) and not isinstance(level_weights, str)
            entries["level_weights"] = list(level_weights) if is_list else level_weights
    elif is_matrix:
        entries["queries"] = "custom"
        entries["custom"] = {"matrix": queries}
        if strategy is not None:
            entries["custom"]["strategy"] = strategy
    elif queries != "identity":
        entries["queries"] = queries
    return Attribute(entries)


def integers(
    first: int,
    last: int,
    *,
    queries: Queries = "identity",
    null: bool = False,
    outside: Outside = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    """One cell for each whole number from `first` to `last`.

    `queries` is "identity" (the counts), "prefix" (how many are at most k), "range" (how many are
    from j to k), "mean" (count, sum and mean, of no number by itself; see :func:`numbers`), or a
    matrix with one row per query and one column per cell. With a matrix,
    `strategy` may be another matrix: the rows to measure. `hierarchy` puts cells into groups, as in
    ``{"minors": [0, 1, ...], "adults": [...]}``; a group may hold groups. `null=True` adds a cell
    for missing values. `outside` says what happens to other values: "error", "clamp", "drop" or
    "null". `column` is the data's column, where it is not the attribute's name.

    `level_weights` says what the levels of a hierarchy count for when the noise is chosen: "answers"
    (the default: each answer counts alike, so that the level of single values, which has most of
    them, decides), "equal" (each level counts alike), or one number for each level, that of single
    values first.

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99, queries="prefix", outside="clamp"))
    >>> people.sizes
    {'age': 100}
    """
    return _attribute({"integers": [first, last]}, queries, null, outside, hierarchy, strategy, column, level_weights)


def numbers(
    low: float,
    high: float,
    *,
    step: float = 1,
    null: bool = False,
    outside: Outside = "error",
    column: str | None = None,
) -> Attribute:
    """Numbers from `low` to `high`, of which every table with the attribute has the count, the sum
    and the mean. Values are rounded to the nearest `step`, which must divide the range.

    However wide the range is, it costs no more: a row is split between two cells, `low` and `high`,
    by how near its number is to each. A table has at most one such attribute; rules such as
    ``marginals="<=2"`` ask for no others. `null=True` counts rows without a number; sums and means
    are of the rows with one. The other arguments are those of :func:`integers`.

    >>> import residua as rs
    >>> trips = rs.Domain(fare=rs.numbers(0, 99.5, step=0.25, outside="clamp"), hour=24)
    >>> trips.sizes
    {'fare': 2, 'hour': 24}
    """
    return _attribute({"numbers": [low, high], "step": step}, "mean", null, outside, column=column)


def cuts(
    *at: float,
    queries: Queries = "identity",
    null: bool = False,
    outside: Outside = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    """One cell up to the first cut, one between each cut and the next, and one above the last.

    A number that equals a cut belongs to the cell below the cut. The other arguments are those of
    :func:`integers`.

    >>> import residua as rs
    >>> people = rs.Domain(income=rs.cuts(10_000, 25_000, 50_000, queries="prefix"))
    >>> people.sizes
    {'income': 4}
    """
    if len(at) == 1 and isinstance(at[0], Iterable):
        at = tuple(at[0])
    return _attribute({"cuts": list(at)}, queries, null, outside, hierarchy, strategy, column, level_weights)


def values(
    *listed: Any,
    queries: Queries = "identity",
    null: bool = False,
    outside: Outside = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    """One cell for each listed value: texts, whole numbers, or True and False. A float that is
    whole, such as 1.0, is the whole number.

    Values are compared with the data as text, and with columns of numbers as numbers. With
    `outside="other"` all other values have one more cell, named other. In :class:`Domain`, a list
    means the same. The other arguments are those of :func:`integers`.

    >>> import residua as rs
    >>> people = rs.Domain(
    ...     sex=["female", "male"],
    ...     region=rs.values("N1", "N2", "S1", hierarchy={"north": ["N1", "N2"], "south": ["S1"]}),
    ...     education=rs.values("school", "university", null=True),
    ... )
    >>> people.sizes
    {'sex': 2, 'region': 3, 'education': 3}
    """
    if len(listed) == 1 and not isinstance(listed[0], str) and isinstance(listed[0], Iterable):
        listed = tuple(listed[0])
    cells = {"values": [_label(item) for item in listed]}
    return _attribute(cells, queries, null, outside, hierarchy, strategy, column, level_weights)


def _label(item: Any) -> Any:
    """pandas makes floats of whole numbers where some are missing."""
    if is_missing(item):
        raise InputError(f"{item} is among the values; missing values have a cell with null=True")
    is_whole = isinstance(item, float | np.floating) and float(item).is_integer()
    return int(item) if is_whole else item


def dates(
    first: str | datetime.date,
    last: str | datetime.date,
    *,
    every: Every = "day",
    queries: Queries = "identity",
    null: bool = False,
    outside: Outside = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    """One cell for each "day", "week", "month", "quarter" or "year" from `first` to `last`.

    Dates of the data are written like 2013-01-31; times are cut off. A time with a zone is taken in
    UTC. The other arguments are those of :func:`integers`.

    >>> import residua as rs
    >>> rs.Domain(day=rs.dates("2013-01-01", "2013-12-31", every="month")).sizes
    {'day': 12}
    """
    cells = {"dates": [first, last], "every": every}
    return _attribute(cells, queries, null, outside, hierarchy, strategy, column, level_weights)


def part(
    of: Part,
    *,
    queries: Queries = "identity",
    null: bool = False,
    outside: Outside = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
    column: str | None = None,
    level_weights: LevelWeights | None = None,
) -> Attribute:
    """The "weekday", "hour" or "month" of a date or a time: Monday to Sunday, 0 to 23, January to
    December. The other arguments are those of :func:`integers`.

    >>> import residua as rs
    >>> rs.Domain(weekday=rs.part("weekday", column="day")).sizes
    {'weekday': 7}
    """
    return _attribute({"part": of}, queries, null, outside, hierarchy, strategy, column, level_weights)


def size(
    cells: int, *, queries: Queries = "identity", null: bool = False, outside: Outside = "error"
) -> Attribute:
    """This many cells, numbered from 0, for trying things out. In :class:`Domain`, a number means
    the same.

    >>> import residua as rs
    >>> rs.Domain(a=rs.size(7), b=4).sizes
    {'a': 7, 'b': 4}
    """
    return _attribute({"size": cells}, queries, null, outside)


def _period(day: str, every: str) -> int:
    """Consecutive numbers for consecutive periods."""
    date = datetime.date.fromisoformat(day)
    months = 12 * date.year + date.month - 1
    numbers = {"week": (date.toordinal() - 1) // 7, "month": months, "quarter": months // 3}
    return {"day": date.toordinal(), "year": date.year, **numbers}[every]


def _num_cells(entries: Mapping[str, Any]) -> int:
    if "numbers" in entries or entries.get("queries") == "mean":
        cells = 2
    elif "integers" in entries:
        cells = int(entries["integers"][1]) - int(entries["integers"][0]) + 1
    elif "cuts" in entries:
        cells = len(entries["cuts"]) + 1
    elif "values" in entries:
        cells = len(entries["values"]) + (entries.get("outside") == "other")
    elif "dates" in entries:
        first, last = (_period(day, entries.get("every", "day")) for day in entries["dates"])
        cells = last - first + 1
    elif "part" in entries:
        cells = {"weekday": 7, "hour": 24, "month": 12}.get(entries["part"], 0)
    else:
        cells = int(entries["size"])
    return cells + bool(entries.get("null"))


def _checked_size(name: str, entries: Mapping[str, Any]) -> int:
    try:
        return _num_cells(entries)
    except (ValueError, TypeError, KeyError, OverflowError):
        spec_of_domain({name: dict(entries)})  # says what is wrong with them
        raise


class Domain(Mapping[str, Attribute]):
    """The columns to release, in order, each with the values that it can have.

    The domain is public knowledge; never read it from the data that you release. A list means
    :func:`values` and a number means :func:`size`. Put names that are not valid in Python into a
    dictionary.

    >>> import residua as rs
    >>> people = rs.Domain(
    ...     {"net income": rs.cuts(10_000, 25_000)}, age=rs.integers(0, 99), sex=["female", "male"])
    >>> people
    Domain(net income: 3, age: 100, sex: 2)
    """

    def __init__(self, columns: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._attributes = {
            str(name): _as_attribute(str(name), what)
            for name, what in {**(columns or {}), **more}.items()
        }

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of cells of each column.

        >>> import residua as rs
        >>> rs.Domain(sex=["female", "male"]).sizes
        {'sex': 2}
        """
        return {name: _checked_size(name, attribute.entries) for name, attribute in self.items()}

    def _repr_html_(self) -> str:
        rows = [(name, self.sizes[name], _described(a.entries)) for name, a in self.items()]
        return _html.table("residua.Domain", ("attribute", "cells", "values"), rows)

    def __repr__(self) -> str:
        return "Domain(" + ", ".join(f"{name}: {n}" for name, n in self.sizes.items()) + ")"


def _as_attribute(name: str, what: Any) -> Attribute:
    if isinstance(what, Attribute):
        return what
    if isinstance(what, int) and not isinstance(what, bool):
        return size(what)
    if isinstance(what, Iterable) and not isinstance(what, str | Mapping):
        return values(*what)
    raise InputError(
        f"column '{name}' is described by {what!r}; give a list of its values, residua.integers, residua.cuts, or a number of cells"
    )


def _described(entries: Mapping[str, Any]) -> str:
    """The entries in a few words."""
    words = []
    for key, item in entries.items():
        if key == "custom":
            continue
        listed = item if isinstance(item, list) else [item]
        shown = ", ".join(map(str, listed[:8])) + (", ..." if len(listed) > 8 else "")
        words.append(f"{key}: {', '.join(item) if isinstance(item, dict) else shown}")
    return "; ".join(words)
