"""What a table's columns can hold: public knowledge, said before any data is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from residua._residua import Error

Queries = str | npt.ArrayLike


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column: its cells, and the questions asked along it.

    Made by :func:`integers`, :func:`cuts`, :func:`values` and :func:`size`. `entries` are the keys
    of its section in a spec file.

    >>> import residua as rs
    >>> rs.integers(0, 99, queries="prefix").entries
    {'integers': [0, 99], 'queries': 'prefix'}
    """

    entries: Mapping[str, Any] = field(default_factory=dict)


def _attribute(
    cells: Mapping[str, Any],
    queries: Queries,
    null: bool,
    outside: str,
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
) -> Attribute:
    entries = dict(cells)
    if null:
        entries["null"] = True
    if outside != "error":
        entries["outside"] = outside
    if hierarchy is not None:
        entries["queries"] = "hierarchy"
        entries["hierarchy"] = hierarchy
    elif not isinstance(queries, str):
        entries["queries"] = "custom"
        entries["custom"] = {"matrix": np.atleast_2d(np.asarray(queries, dtype=float))}
        if strategy is not None:
            entries["custom"]["strategy"] = np.atleast_2d(np.asarray(strategy, dtype=float))
    elif queries != "identity":
        entries["queries"] = queries
    return Attribute(entries)


def integers(
    first: int,
    last: int,
    *,
    queries: Queries = "identity",
    null: bool = False,
    outside: str = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
) -> Attribute:
    """A cell for each whole number from `first` to `last`.

    `queries`: "identity" (the counts), "prefix" (how many are at most k), "range" (from j to k), or
    a matrix with one row per question and one column per cell; with a matrix, `strategy` may say which rows
    are measured. `hierarchy` groups cells, ``{"minors": [0, 1, ...], "adults": [...]}``.
    `null`: one more cell, for missing values. `outside`: what happens to other values, "error",
    "clamp", "drop" or "null".

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99, queries="prefix", outside="clamp"))
    >>> people.sizes
    {'age': 100}
    """
    return _attribute({"integers": [first, last]}, queries, null, outside, hierarchy, strategy)


def cuts(
    *at: float,
    queries: Queries = "identity",
    null: bool = False,
    outside: str = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
) -> Attribute:
    """Cells up to the first cut, between one and the next, and above the last.

    A number that equals a cut lies below it. The other arguments are those of :func:`integers`.

    >>> import residua as rs
    >>> people = rs.Domain(income=rs.cuts(10_000, 25_000, 50_000, queries="prefix"))
    >>> people.sizes
    {'income': 4}
    """
    if len(at) == 1 and isinstance(at[0], Iterable):
        at = tuple(at[0])
    return _attribute({"cuts": list(at)}, queries, null, outside, hierarchy, strategy)


def values(
    *listed: Any,
    queries: Queries = "identity",
    null: bool = False,
    outside: str = "error",
    hierarchy: Mapping[str, Any] | None = None,
    strategy: npt.ArrayLike | None = None,
) -> Attribute:
    """A cell for each listed value: texts, whole numbers, or True and False.

    Values are compared with the data as text. A plain list in :class:`Domain` means the same. The
    other arguments are those of :func:`integers`.

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
    if any(item is None for item in listed):
        raise Error("None is among the values; missing values have a cell with null=True")
    return _attribute({"values": list(listed)}, queries, null, outside, hierarchy, strategy)


def size(
    cells: int, *, queries: Queries = "identity", null: bool = False, outside: str = "error"
) -> Attribute:
    """So many cells, 0 to `cells` - 1, for exploring; a plain number in :class:`Domain` means the same.

    >>> import residua as rs
    >>> rs.Domain(a=rs.size(7), b=4).sizes
    {'a': 7, 'b': 4}
    """
    return _attribute({"size": cells}, queries, null, outside)


def _num_cells(entries: Mapping[str, Any]) -> int:
    if "integers" in entries:
        cells = int(entries["integers"][1]) - int(entries["integers"][0]) + 1
    elif "cuts" in entries:
        cells = len(entries["cuts"]) + 1
    elif "values" in entries:
        cells = len(entries["values"])
    else:
        cells = int(entries["size"])
    return cells + bool(entries.get("null"))


class Domain(Mapping[str, Attribute]):
    """The columns that are asked about, in order, each with the values that it can have.

    Public knowledge: never read from the data that is released. Lists stand for :func:`values`,
    numbers for :func:`size`. Names that are no Python names go into a dictionary.

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
        return {name: _num_cells(attribute.entries) for name, attribute in self.items()}

    def __repr__(self) -> str:
        return "Domain(" + ", ".join(f"{name}: {n}" for name, n in self.sizes.items()) + ")"


def _as_attribute(name: str, what: Any) -> Attribute:
    if isinstance(what, Attribute):
        return what
    if isinstance(what, int) and not isinstance(what, bool):
        return size(what)
    if isinstance(what, Iterable) and not isinstance(what, str | Mapping):
        return values(*what)
    raise Error(
        f"column '{name}' is described by {what!r}; give a list of its values, residua.integers, residua.cuts, or a number of cells"
    )
