"""Measuring rows as they stream by, beside reading the same file and doing nothing.

    build/python-test/bin/python bench/rows_bench.py [--rows 10000000] [--tables 3]

Rows of 14 columns of Adult's sizes, half of them texts, in a Parquet and in a CSV file. pyarrow and DuckDB read the
file, chunk by chunk, and look at nothing; `residua measure` counts all tables of up to two and of up to three columns
as well, adds noise and writes the measurement file. Each runs in a process of its own. DuckDB reads CSV as texts, as
residua does. `--parquet` leaves out CSV, whose file takes 90 bytes per row in the temporary folder.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from scale_bench import RESIDUA, ROWS_AT_ONCE, is_text, labels, run

SIZES = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
LIBDUCKDB = RESIDUA.parents[1] / "duckdb" / "libduckdb.so"
WITH_PYARROW = """
import sys, pyarrow.csv, pyarrow.parquet
path = sys.argv[1]
is_csv = path.endswith("csv")
for batch in pyarrow.csv.open_csv(path) if is_csv else pyarrow.parquet.ParquetFile(path).iter_batches(1 << 20):
    pass
"""
WITH_DUCKDB = """
import ctypes, sys
library, path, columns = ctypes.CDLL(sys.argv[1]), sys.argv[2], int(sys.argv[3])
database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(256)
assert library.duckdb_open(None, ctypes.byref(database)) == 0
assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
rows = f"read_csv('{path}', all_varchar = true)" if path.endswith("csv") else f"read_parquet('{path}')"
is_text = [path.endswith("csv") or k % 2 for k in range(columns)]
values = ", ".join(f"sum(strlen(c{k}))" if is_text[k] else f"sum(c{k})" for k in range(columns))
assert library.duckdb_query(connection, f"SELECT {values} FROM {rows}".encode(), result) == 0
"""


def parts(rows):
    bits = np.random.default_rng(1)
    for start in range(0, rows, ROWS_AT_ONCE):
        columns = []
        for number, size in enumerate(SIZES):
            codes = bits.geometric(2 / size, min(ROWS_AT_ONCE, rows - start)) - 1
            codes = pa.array(np.minimum(codes, size - 1).astype(np.int32))
            if is_text(number):
                codes = pa.DictionaryArray.from_arrays(codes, labels(size)).cast(pa.string())
            columns.append(codes)
        yield pa.table(columns, names=[f"c{k}" for k in range(len(SIZES))])


def write_rows(path, rows):
    schema = pa.schema([(f"c{k}", pa.string() if is_text(k) else pa.int32()) for k in range(len(SIZES))])
    writer = pq.ParquetWriter(path, schema) if path.suffix == ".parquet" else pc.CSVWriter(path, schema)
    with writer:
        for part in parts(rows):
            writer.write_table(part)


def write_spec(path, rows, tables):
    lines = ["[data]", f'source = "{rows}"', "[privacy]", "rho = 0.5", "[workload]", f'marginals = "<={tables}"']
    for number, size in enumerate(SIZES):
        values = f"values = {labels(size)}" if is_text(number) else f"integers = [0, {size - 1}]"
        lines += [f"[attributes.c{number}]", values]
    path.write_text("\n".join(lines) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--tables", type=int, default=3)
    arguments.add_argument("--parquet", action="store_true")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{chosen.rows:,} rows of {len(SIZES)} columns.\n")
        print("| file | command | seconds | of all processors | peak MB |\n|---|---|---|---|---|")
        for ending in ("parquet",) if chosen.parquet else ("parquet", "csv"):
            rows = folder / f"rows.{ending}"
            write_rows(rows, chosen.rows)
            shown = f"{ending}, {rows.stat().st_size / 1e6:,.0f} MB"
            print(f"| {shown} | pyarrow: read it | {run(sys.executable, '-c', WITH_PYARROW, rows)} |", flush=True)
            reading = run(sys.executable, "-c", WITH_DUCKDB, LIBDUCKDB, rows, str(len(SIZES)))
            print(f"| {shown} | DuckDB: read it | {reading} |", flush=True)
            for tables in range(2, chosen.tables + 1):
                spec, plan, measurements = (folder / n for n in ("spec.toml", "plan.json", "m.parquet"))
                write_spec(spec, rows, tables)
                run(RESIDUA, "plan", spec, "-o", plan)
                figures = run(RESIDUA, "measure", plan, "--again", "-o", measurements, "--ledger", folder / "l")
                print(f"| {shown} | residua measure, tables of up to {tables} | {figures} |", flush=True)
                for used in (measurements, folder / "l"):
                    used.unlink()
            rows.unlink()


if __name__ == "__main__":
    main()
