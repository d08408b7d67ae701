"""What a caller passed, as Python's own types: the binding and the TOML writer know no others."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from residua._residua import InputError

Array = npt.NDArray[np.float64]


# More than any argument may have: the binding refuses what is deeper, and what holds itself.
_MOST_LEVELS = 100


def plain(item: Any, levels: int = _MOST_LEVELS) -> Any:
    """Numbers, texts, lists and dictionaries become Python's own, as deep as `levels`; fractions,
    decimals and dates become texts. Anything else stays, and the binding refuses it by name."""
    if isinstance(item, bool | np.bool_):
        return bool(item)
    if isinstance(item, str):
        return str.__str__(item)  # of an enumeration's member, its value
    if isinstance(item, numbers.Integral):
        return int(item)
    if isinstance(item, Fraction | Decimal | datetime.date):
        return str(item)
    if isinstance(item, numbers.Real):
        return float(item)
    if levels == 0:
        return item
    if isinstance(item, Mapping):
        return {_name(key): plain(inner, levels - 1) for key, inner in item.items()}
    if isinstance(item, Sequence) and not isinstance(item, bytes | bytearray | memoryview):
        return [plain(inner, levels - 1) for inner in item]
    if isinstance(item, np.ndarray):
        return [plain(inner, levels - 1) for inner in np.atleast_1d(item)]
    if hasattr(item, "tolist") and not isinstance(item, np.generic):
        return plain(item.tolist(), levels - 1)
    return item


def is_missing(item: Any) -> bool:
    """None, NaN, and pandas' own missing values."""
    if isinstance(item, float | np.floating):
        return bool(np.isnan(item))
    return item is None or item is pd.NA or item is pd.NaT


def counted(count: float, noun: str) -> str:
    """1 table, 2 tables."""
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")


def _name(key: Any) -> str:
    return str.__str__(key) if isinstance(key, str) else str(key)


def matrix(rows: npt.ArrayLike, argument: str) -> Array:
    """A copy, one row per query; `argument` names it in messages."""
    try:
        return np.array(rows, dtype=float, ndmin=2)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{argument}: not a matrix of numbers: {error}; "
            "give one row per query, each with one number per cell"
        ) from None


def _found(argument: str, expected: str, item: Any) -> InputError:
    return InputError(f"{argument}: expected {expected}, found {item!r}")


def number(item: Any, argument: str) -> float:
    if isinstance(item, bool | np.bool_) or not isinstance(item, numbers.Real | Decimal):
        raise _found(argument, "a number", item)
    return float(item)


def whole(item: Any, argument: str) -> int:
    if isinstance(item, bool | np.bool_) or not isinstance(item, numbers.Integral):
        raise _found(argument, "a whole number", item)
    if abs(int(item)) >= 2**31:
        raise _found(argument, "a smaller number", item)
    return int(item)


def flag(item: Any, argument: str) -> bool:
    if not isinstance(item, bool | np.bool_):
        raise _found(argument, "True or False", item)
    return bool(item)


def text(item: Any, argument: str) -> str:
    if not isinstance(item, str):
        raise _found(argument, "a text", item)
    found = str.__str__(item)
    try:
        found.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        raise InputError(f"{argument}: the text {found!a} is not valid Unicode; correct it") from None
    return found


def place(path: Any, argument: str) -> str:
    """A path as text; empty for None."""
    if path is None:
        return ""
    if not isinstance(path, str | os.PathLike):
        raise _found(argument, "a path", path)
    found = os.fspath(path)
    return text(found, argument)
