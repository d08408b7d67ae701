"""The labels of a table's rows, with their types: numbers, truth values and dates as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Axis:
    """The answers along one attribute. `labels` holds those that are there; `codes` has the place
    of each answer's label, or -1 for the answer of missing values."""

    labels: pd.Index[Any]
    codes: Indices
    is_ordered: bool
    is_typed: bool  # shown as the values themselves, and not as categories

    def __len__(self) -> int:
        return len(self.codes)

    def column(self, indices: Indices) -> Any:
        """The labels of the answers with these indices, for a DataFrame."""
        codes = self.codes[indices]
        if not self.is_typed:
            dtype = pd.CategoricalDtype(self.labels, self.is_ordered)
            return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)
        if len(self.labels) == len(self.codes):
            return self.labels.to_numpy()[codes]
        # pandas' own numbers and truth values have nothing that is missing.
        nullable = {np.dtype(np.int64): "Int64", np.dtype(np.bool_): "boolean"}
        kind = nullable.get(self.labels.dtype)
        values = self.labels.array if kind is None else pd.array(self.labels.to_numpy(), dtype=kind)
        return values.take(codes, allow_fill=True)


def axis(attribute: Mapping[str, Any], texts: Sequence[str], is_cells: bool) -> Axis:
    """The axis of an attribute of a plan, whose answers have these labels as text."""
    is_there = np.array([not (attribute["null"] and text == "null") for text in texts])
    codes = np.where(is_there, np.cumsum(is_there) - 1, -1)
    there = [text for text, keep in zip(texts, is_there, strict=True) if keep]
    typed = _typed(attribute, there) if is_cells else None
    labels: pd.Index[Any] = pd.Index(there, dtype="str") if typed is None else typed
    return Axis(labels, codes, "values" not in attribute, typed is not None)


def _typed(attribute: Mapping[str, Any], texts: Sequence[str]) -> pd.Index[Any] | None:
    """The labels of cells as what they are; None for texts."""
    if "cuts" in attribute:
        return None
    if "dates" in attribute:
        return _starts(attribute["every"], texts)
    if "part" in attribute and attribute["part"] != "hour":
        return None
    if texts and all(text in ("true", "false") for text in texts):
        return pd.Index([text == "true" for text in texts], dtype=bool)
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        return None
    # 007 is a name.
    if not texts or [str(number) for number in numbers] != list(texts):
        return None
    if max(map(abs, numbers)) >= 2**63:
        return None
    return pd.Index(numbers, dtype=np.int64)


def _starts(every: str, texts: Sequence[str]) -> pd.Index[Any]:
    """The first day of each period."""
    if every == "week":
        days = [np.datetime64(pd.Timestamp.fromisocalendar(int(t[:4]), int(t[6:]), 1), "D") for t in texts]
    elif every == "quarter":
        days = [np.datetime64(f"{t[:4]}-{3 * int(t[6:]) - 2:02}-01") for t in texts]
    else:
        days = [np.datetime64(text, "D") for text in texts]
    return pd.DatetimeIndex(np.array(days, dtype="datetime64[s]"))


def positions(axes: Sequence[Axis]) -> list[Indices]:
    """For each axis, the index along it of every answer of the table."""
    shape = [len(axis) for axis in axes]
    all_positions = []
    for k, size in enumerate(shape):
        along = np.arange(size).reshape([-1 if i == k else 1 for i in range(len(shape))])
        all_positions.append(np.broadcast_to(along, shape).ravel())
    return all_positions
