"""Rows from a DataFrame, an Arrow table or a file, without a copy where Arrow allows it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from residua._residua import Error


@dataclass(frozen=True)
class Rows:
    """A capsule with an Arrow stream, or the path of a file. With neither, the plan says where the
    data is."""

    stream: Any = None
    source: str = ""


def rows_of(data: Any, columns: Sequence[str]) -> Rows:
    """The rows of `data`. Only `columns` are converted."""
    if data is None:
        return Rows()
    if isinstance(data, str | os.PathLike):
        return Rows(source=os.fspath(data))
    if isinstance(data, pd.DataFrame):
        data = _arrow_of_pandas(data, columns)
    elif isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    elif _is_polars(data) and hasattr(data, "collect"):
        raise Error("a polars LazyFrame has no rows yet; pass its collect()")
    if not hasattr(data, "__arrow_c_stream__"):
        raise Error(
            f"rows cannot be read from {type(data).__module__}.{type(data).__qualname__}; pass a pandas or polars DataFrame, a pyarrow Table, or the path of a file"
        )
    return Rows(stream=_selected(data, columns).__arrow_c_stream__())


def _selected(data: Any, columns: Sequence[str]) -> Any:
    """Only these columns, if the table can select them, so that no other is converted. If one is
    missing, all columns, for the message that lists them."""
    if isinstance(data, pa.Table):
        names = data.column_names
    elif _is_polars(data):
        names = data.columns
    else:
        return data
    if any(names.count(name) != 1 for name in columns):
        return data
    return data.select(list(columns))


def _is_polars(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "polars"


def _arrow_of_pandas(frame: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    names = list(frame.columns)
    if any(names.count(name) != 1 for name in columns):
        # The library says what is wrong with the names; it needs no rows for that.
        frame = frame.iloc[:0].set_axis([str(name) for name in names], axis=1)
        columns = list(frame.columns)
        return pa.Table.from_arrays([pa.nulls(0)] * len(columns), names=columns)
    arrays = [_column(frame[name], name) for name in columns]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _column(series: pd.Series[Any], name: str) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(series, from_pandas=True)
    except OverflowError:
        # Whole numbers past 64 bits: as text they keep their digits.
        return pa.array([None if pd.isna(item) else str(item) for item in series], pa.string())
    except (pa.ArrowException, TypeError, ValueError) as error:
        kinds = sorted({type(item).__name__ for item in series.dropna().head(100_000)})
        raise Error(
            f"the data: column '{name}' cannot be read: it holds {', '.join(kinds)}; convert it to one of them, such as frame['{name}'].astype(str)"
        ) from error
