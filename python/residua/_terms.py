"""The terms of a question: a value, several values, a range, or a weight for each cell."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from residua._plain import Array, is_missing, text
from residua._residua import InputError

# A question as the binding takes it: words, and the attributes that have weights.
Worded = tuple[str, list[tuple[str, list[float]]]]


@dataclass(frozen=True, eq=False)
class Term:
    """What a question asks of one attribute. Made by :func:`isin`, :func:`between` and
    :func:`weights`.

    >>> import residua as rs
    >>> isinstance(rs.between(18, 30), rs.Term)
    True
    """

    kind: str
    items: tuple[Any, ...] | Array

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, list(self.items)[:5])) + (", ..." if len(self.items) > 5 else "")
        return f"residua.{self.kind}({shown})"


def isin(*labels: Any) -> Term:
    """Any of these labels, as a term of a question; None is the missing value.

    In a question, a list, a set, an array or a Series of labels means the same.

    >>> import residua as rs
    >>> release = example_release()
    >>> release.query(age=rs.isin(3, 50)) == release.query(age=[3, 50])
    True
    """
    if len(labels) == 1 and isinstance(labels[0], Iterable) and not isinstance(labels[0], str | Mapping):
        labels = tuple(labels[0])
    return Term("isin", labels)


def between(first: Any = None, last: Any = None) -> Term:
    """All labels from `first` to `last`, both included, as a term of a question. Without one of
    them the range is open. A range of cuts starts above its first number.

    In a question, a tuple of two means the same.

    >>> import residua as rs
    >>> release = example_release()
    >>> release.query(age=rs.between(18, 30)) == release.query(age=(18, 30))
    True
    """
    return Term("between", (first, last))


def weights(of_cells: npt.ArrayLike) -> Term:
    """A weight for every cell of an attribute, in the order of ``plan.labels(name, "cells")``, as a
    term of a question: any linear question.

    >>> import residua as rs
    >>> release = example_release()
    >>> sum_of_ages = release.query(age=rs.weights(range(100)))
    >>> sum_of_ages.std_dev > 0
    True
    """
    try:
        array = np.array(list(of_cells) if isinstance(of_cells, range) else of_cells, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights: {error}; give one number for each cell") from None
    if array.ndim != 1:
        raise InputError(f"weights: expected one dimension, found {array.ndim}; give one number for each cell")
    return Term("weights", array)


def worded(question: Any, every: Mapping[str, str]) -> Worded:
    """The question for the library. `every` has the periods of the attributes that count dates."""
    if isinstance(question, str):
        return text(question, "question"), []
    if not isinstance(question, Mapping):
        raise InputError(
            f"a question is a text, a dictionary or terms, not {type(question).__name__}"
        )
    words = []
    weighted = []
    for name, what in question.items():
        term = _term(str(name), what)
        if term.kind == "weights":
            of_cells = np.asarray(term.items, dtype=float).tolist()
            weighted.append((text(str(name), "question"), of_cells))
        else:
            words.append(_words(str(name), term, every.get(str(name), "")))
    return text(" ".join(words), "question"), weighted


def _term(name: str, what: Any) -> Term:
    if isinstance(what, Term):
        return what
    if isinstance(what, Mapping):
        raise InputError(
            f"'{name}' asks for a dictionary; list the labels, or give residua.weights(...) one weight for each cell"
        )
    if isinstance(what, tuple):
        if len(what) != 2:
            raise InputError(
                f"'{name}' asks for a tuple of {len(what)}; (first, last) is a range, and a list holds values"
            )
        return between(*what)
    if isinstance(what, list | set | frozenset | range | np.ndarray | pd.Series | pd.Index):
        return isin(*np.ravel(what) if isinstance(what, np.ndarray) else what)
    if isinstance(what, Sequence) and not isinstance(what, str | bytes):
        return isin(*what)
    return isin(what)


def _words(name: str, term: Term, every: str) -> str:
    items = list(term.items)
    if term.kind == "between":
        first, last = items
        ends = ["" if first is None else _quoted(first, every), ""]
        ends[1] = "" if last is None else _quoted(last, every, is_last=True)
        return f"{_quoted(name)}={ends[0]}..{ends[1]}"
    texts = [_quoted(item, every) for item in items]
    if len(set(texts)) < len(texts) and all(isinstance(i, int | float | np.number) for i in items):
        raise InputError(
            f"'{name}' asks for a label twice; a weight for each cell is residua.weights(...)"
        )
    return f"{_quoted(name)}=" + "|".join(texts)


def _quoted(item: Any, every: str = "", is_last: bool = False) -> str:
    if is_missing(item):
        return "null"
    if isinstance(item, bool | np.bool_):
        shown = "true" if item else "false"
    elif isinstance(item, float | np.floating) and float(item).is_integer():
        shown = str(int(item))
    elif isinstance(item, datetime.date | np.datetime64):
        shown = _date_text(pd.Timestamp(item), every, is_last)
    else:
        shown = str(item)
    return '"' + shown.replace('"', '""') + '"'


def _date_text(moment: pd.Timestamp, every: str, is_last: bool) -> str:
    """A day, or the label of the period that begins on it, or ends if it is the last of a range."""
    day = moment.date()
    if every in ("", "day"):
        return str(day if moment == pd.Timestamp(day) else moment)
    period = pd.Period(day, freq={"week": "W", "month": "M", "quarter": "Q", "year": "Y"}[every])
    edge = period.end_time if is_last else period.start_time
    if edge.date() != day:
        return str(day)
    if every == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    if every == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}" + (f"-{day.month:02}" if every == "month" else "")
