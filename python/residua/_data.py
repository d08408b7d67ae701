"""Rows from whatever holds them, without a copy where Arrow allows it."""

from __future__ import annotations

import glob
import gzip
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from residua import spark
from residua._plain import text
from residua._residua import InputError, NotFoundError


@dataclass(frozen=True)
class Rows:
    """A capsule with an Arrow stream, or the path of a file. With neither, the plan says where the
    data is."""

    stream: Any = None
    source: str = ""


def rows_of(data: Any, columns: Sequence[str] | None) -> Rows:
    """The rows of `data`. Only `columns` are converted; None: all."""
    if data is None:
        return Rows()
    spark.refuse(data)
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        if not isinstance(path, str):
            raise InputError(f"data: expected a path as text, found {path!r}")
        path = text(path, "data")
        if not glob.has_magic(path) or os.path.exists(path):
            return Rows(source=path)
        data = _files(path)
    return Rows(stream=_stream(data, columns).__arrow_c_stream__())


def _stream(data: Any, columns: Sequence[str] | None) -> Any:
    """Something with an Arrow stream of these columns, and perhaps others."""
    if isinstance(data, pd.DataFrame):
        return _arrow_of_pandas(data, columns)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    module = type(data).__module__.partition(".")[0]
    if module == "polars" and hasattr(data, "collect"):
        data = _collected(data, columns)
    elif _is_dataset(data):
        names = data.schema.names
        is_whole = columns is not None and all(names.count(name) == 1 for name in columns)
        return data.scanner(columns=list(columns or ()) if is_whole else None).to_reader()
    elif module in ("duckdb", "_duckdb") and not hasattr(data, "__arrow_c_stream__"):
        data = data.fetch_record_batch()
    if hasattr(data, "__arrow_c_stream__"):
        return _selected(data, columns)
    if hasattr(data, "__arrow_c_array__"):
        return _selected(pa.Table.from_batches([pa.record_batch(data)]), columns)
    if isinstance(data, Iterable) and not isinstance(data, Mapping | bytes):
        return _reader_of_batches(iter(data), columns)
    raise InputError(
        f"rows cannot be read from {type(data).__module__}.{type(data).__qualname__}; pass a pandas or polars DataFrame, a pyarrow Table, or the path of a file"
    )


def _selected(data: Any, columns: Sequence[str] | None) -> Any:
    """Only these columns, if the table can select them, so that no other is converted. If one is
    missing, all columns, for the message that lists them."""
    if columns is None:
        return data
    if isinstance(data, pa.Table):
        names = data.column_names
    elif type(data).__module__.partition(".")[0] == "polars":
        names = data.columns
    else:
        return data
    if any(names.count(name) != 1 for name in columns):
        return data
    return data.select(list(columns))


def _is_dataset(data: Any) -> bool:
    return type(data).__module__.startswith("pyarrow._dataset") and hasattr(data, "scanner")


def _collected(lazy: Any, columns: Sequence[str] | None) -> Any:
    """The rows of a polars LazyFrame; only the columns that are needed are computed."""
    names = lazy.collect_schema().names()
    if columns is not None and all(name in names for name in columns):
        lazy = lazy.select(list(columns))
    return lazy.collect()


def _files(pattern: str) -> Any:
    """The rows of all files that match, in the order of their names. Values of CSV files are text,
    missing when empty, as in a single file."""
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise NotFoundError(f"{pattern}: no such file")
    if all(path.endswith(".parquet") for path in paths):
        import pyarrow.dataset

        return pyarrow.dataset.dataset(paths, format="parquet")
    if all(path.endswith((".csv", ".csv.gz")) for path in paths):
        return (_csv(path) for path in paths)
    raise InputError(f"{pattern}: matches files of other or different kinds; match Parquet or CSV files")


def _csv(path: str) -> pa.Table:
    from pyarrow import csv

    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        header = re.sub('"[^"]*"', "", file.readline())
    # As the library finds it: by the header alone.
    delimiter = max(",;\t|", key=header.count)
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as reader:
        names = reader.schema.names
    as_text = csv.ConvertOptions(
        column_types={name: pa.string() for name in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    return csv.read_csv(path, parse_options=parse, convert_options=as_text)


def _reader_of_batches(
    batches: Iterator[Any], columns: Sequence[str] | None
) -> pa.RecordBatchReader:
    """One stream of all batches, which are made one after the other, with the columns and types of
    the first."""
    first = next(batches, None)
    if first is None:
        raise InputError("data: there are no batches; an empty table has columns")
    start = _table_of(first, columns)
    schema = start.schema

    def make() -> Iterator[pa.RecordBatch]:
        yield from start.to_batches()
        for batch in batches:
            table = _table_of(batch, columns)
            yield from _cast(table, schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, make())


def _table_of(batch: Any, columns: Sequence[str] | None) -> pa.Table:
    if isinstance(batch, Mapping | str | bytes) or not (
        isinstance(batch, pd.DataFrame)
        or hasattr(batch, "__arrow_c_stream__")
        or hasattr(batch, "__arrow_c_array__")
    ):
        raise InputError(
            f"rows cannot be read from an iterable of {type(batch).__name__}; pass DataFrames, or Arrow tables or batches"
        )
    table = pa.table(_stream(batch, columns))
    if columns is None:
        return table
    names = [name for name in table.column_names if name in columns]
    return table.select(names) if set(names) == set(columns) else table


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if table.schema.equals(schema):
        return table
    try:
        return table.select(schema.names).cast(schema)
    except (KeyError, pa.ArrowException) as error:
        raise InputError(
            f"the data: the batches have different columns or types: {error}; convert them to one type"
        ) from error


def _arrow_of_pandas(frame: pd.DataFrame, columns: Sequence[str] | None) -> pa.Table:
    names = list(frame.columns)
    if columns is None:
        for name in names:
            if not isinstance(name, str):
                raise InputError(
                    f"the data: the name of column {name!r} is not a text; use frame.rename(columns=str)"
                )
            text(name, "the data: the name of a column")
        arrays = [_column(frame.iloc[:, k], name) for k, name in enumerate(names)]
        return pa.Table.from_arrays(arrays, names=names)
    if any(names.count(name) != 1 for name in columns):
        # The library says what is wrong with the names; it needs no rows for that.
        shown = [str(name).encode(errors="backslashreplace").decode() for name in names]
        return pa.Table.from_arrays([pa.nulls(0)] * len(shown), names=shown)
    arrays = [_column(frame[name], name) for name in columns]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _column(series: pd.Series[Any], name: str) -> pa.Array | pa.ChunkedArray:
    try:
        try:
            return pa.array(series, from_pandas=True)
        except OverflowError:
            # Whole numbers past 64 bits: as text they keep their digits.
            return pa.array([None if pd.isna(item) else str(item) for item in series], pa.string())
    except UnicodeEncodeError as error:
        raise InputError(
            f"the data: column '{name}' cannot be read: it holds {error.object[error.start]!a}, which is not valid Unicode; correct it"
        ) from None
    except (pa.ArrowException, TypeError, ValueError) as error:
        kinds = sorted({type(item).__name__ for item in series.dropna().head(100_000)})
        raise InputError(
            f"the data: column '{name}' cannot be read: it holds {', '.join(kinds)}; convert it to one of them, such as frame['{name}'].astype(str)"
        ) from error
