"""Measuring rows as they stream by, beside reading the same file and doing nothing.

    build/python-test/bin/python bench/rows_bench.py [--rows 10000000] [--tables 3]

Rows of 14 columns of Adult's sizes, half of them texts, in a Parquet and in a CSV file. What reads the file and does
nothing:

- pyarrow makes arrays of all values, batch by batch; "texts as dictionaries" leaves the texts of a Parquet file coded.
- DuckDB, chunks: hands over every value of every column through its C interface, chunk by chunk.
- DuckDB, sums: adds up each column. It looks at each different text of a Parquet file once, and hands over nothing.

DuckDB reads CSV as texts, as residua does. `residua measure` counts all tables of up to two and of up to three columns,
adds noise and writes the measurement file. The same measurement of a file of one row shows what noise and file take.
Each runs in a process of its own, the fastest of --runs counts. The last columns compare processor seconds, less those
of one row: with the best reader that hands over all values, and with DuckDB's sums.

`--integers` has no texts, `--columns 20` has the columns of scale_bench.py. `--parquet` leaves out CSV, whose file takes
90 bytes per row in the temporary folder.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import scale_bench
from scale_bench import RESIDUA, ROWS_AT_ONCE, labels, measured, shown

SIZES = {14: (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2), 20: scale_bench.SIZES}
LIBDUCKDB = RESIDUA.parents[1] / "duckdb" / "libduckdb.so"
WITH_PYARROW = """
import sys, pyarrow.csv, pyarrow.parquet
path, coded = sys.argv[1], sys.argv[2:]
is_csv = path.endswith("csv")
batches = pyarrow.csv.open_csv(path) if is_csv else pyarrow.parquet.ParquetFile(path, read_dictionary=coded).iter_batches(1 << 20)
for batch in batches:
    pass
"""
WITH_DUCKDB = """
import ctypes, sys
library, path, is_sum, columns = ctypes.CDLL(sys.argv[1]), sys.argv[2], sys.argv[3] == "sums", sys.argv[4:]
class Result(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_uint64 * 6)]
database, connection, statement = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
result = Result()
assert library.duckdb_open(None, ctypes.byref(database)) == 0
assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
rows = f"read_csv('{path}', all_varchar = true)" if path.endswith("csv") else f"read_parquet('{path}')"
values = ", ".join(columns) if is_sum else "*"
assert library.duckdb_prepare(connection, f"SELECT {values} FROM {rows}".encode(), ctypes.byref(statement)) == 0
assert library.duckdb_execute_prepared_streaming(statement, ctypes.byref(result)) == 0
library.duckdb_fetch_chunk.restype = ctypes.c_void_p
library.duckdb_fetch_chunk.argtypes = [Result]
library.duckdb_data_chunk_get_size.argtypes = [ctypes.c_void_p]
num_rows = 0
while chunk := library.duckdb_fetch_chunk(result):
    num_rows += library.duckdb_data_chunk_get_size(chunk)
    library.duckdb_destroy_data_chunk(ctypes.byref(ctypes.c_void_p(chunk)))
assert num_rows > 0
"""


class Rows:
    """Which rows: how many cells each column has, and which columns are texts."""

    def __init__(self, columns, integers):
        self.sizes = SIZES[columns]
        self.is_text = [not integers and k % 2 == 1 for k in range(columns)]
        self.texts = [f"c{k}" for k in range(columns) if self.is_text[k]]

    def parts(self, rows):
        bits = np.random.default_rng(1)
        for start in range(0, rows, ROWS_AT_ONCE):
            columns = []
            for size, is_text in zip(self.sizes, self.is_text):
                codes = bits.geometric(2 / size, min(ROWS_AT_ONCE, rows - start)) - 1
                codes = pa.array(np.minimum(codes, size - 1).astype(np.int32))
                if is_text:
                    codes = pa.DictionaryArray.from_arrays(codes, labels(size)).cast(pa.string())
                columns.append(codes)
            yield pa.table(columns, names=[f"c{k}" for k in range(len(self.sizes))])

    def write(self, path, rows):
        schema = pa.schema([(f"c{k}", pa.string() if text else pa.int32()) for k, text in enumerate(self.is_text)])
        writer = pq.ParquetWriter(path, schema) if path.suffix == ".parquet" else pc.CSVWriter(path, schema)
        with writer:
            for part in self.parts(rows):
                writer.write_table(part)

    def write_spec(self, path, source, tables):
        lines = ["[data]", f'source = "{source}"', "[privacy]", "rho = 0.5", "[workload]", f'marginals = "<={tables}"']
        for k, size in enumerate(self.sizes):
            values = f"values = {labels(size)}" if self.is_text[k] else f"integers = [0, {size - 1}]"
            lines += [f"[attributes.c{k}]", values]
        path.write_text("\n".join(lines) + "\n")

    def readers(self, path):
        """The commands that read the file, and whether each hands over all values."""
        is_csv = path.suffix == ".csv"
        sums = [f"sum(strlen(c{k}))" if is_csv or text else f"sum(c{k})" for k, text in enumerate(self.is_text)]
        with_duckdb = (sys.executable, "-c", WITH_DUCKDB, LIBDUCKDB, path)
        readers = {"pyarrow: read it": ((sys.executable, "-c", WITH_PYARROW, path), True)}
        if self.texts and not is_csv:
            coded = (sys.executable, "-c", WITH_PYARROW, path, *self.texts)
            readers["pyarrow: read it, texts as dictionaries"] = (coded, True)
        readers["DuckDB: read it, chunks"] = ((*with_duckdb, "chunks"), True)
        readers["DuckDB: read it, sums"] = ((*with_duckdb, "sums", *sums), False)
        return readers


def fastest(runs, *command, before=lambda: None):
    figures = []
    for _ in range(runs):
        before()
        figures.append(measured(*command))
    return min(figures, key=lambda figure: figure[1])


def measure(folder, rows, source, tables, runs):
    spec, plan, result, ledger = (folder / n for n in ("spec.toml", "plan.json", "m.parquet", "l"))
    rows.write_spec(spec, source, tables)
    measured(RESIDUA, "plan", spec, "-o", plan)

    def forget():
        for used in (result, ledger):
            used.unlink(missing_ok=True)

    figures = fastest(runs, RESIDUA, "measure", plan, "--again", "-o", result, "--ledger", ledger, before=forget)
    forget()
    return figures


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--tables", type=int, default=3)
    arguments.add_argument("--columns", type=int, choices=SIZES, default=14)
    arguments.add_argument("--runs", type=int, default=2)
    arguments.add_argument("--integers", action="store_true")
    arguments.add_argument("--parquet", action="store_true")
    chosen = arguments.parse_args()
    rows = Rows(chosen.columns, chosen.integers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{chosen.rows:,} rows of {chosen.columns} columns, {len(rows.texts)} of them texts.\n")
        print("| file | command | seconds | of all processors | peak MB | times the best reader | times the sums |")
        print("|---|---|---|---|---|---|---|")
        for ending in ("parquet",) if chosen.parquet else ("parquet", "csv"):
            many, one = folder / f"rows.{ending}", folder / f"one.{ending}"
            rows.write(many, chosen.rows)
            rows.write(one, 1)
            file = f"{ending}, {many.stat().st_size / 1e6:,.0f} MB"
            best, sums = float("inf"), float("inf")
            for reader, (command, is_whole) in rows.readers(many).items():
                figures = fastest(chosen.runs, *command)
                if is_whole:
                    best = min(best, figures[1])
                else:
                    sums = figures[1]
                print(f"| {file} | {reader} | {shown(figures)} | | |", flush=True)
            for tables in range(2, chosen.tables + 1):
                of_one = measure(folder, rows, one, tables, chosen.runs)
                figures = measure(folder, rows, many, tables, chosen.runs)
                of_rows = figures[1] - of_one[1]
                command = f"residua measure, tables of up to {tables}"
                print(f"| {ending}, 1 row | {command} | {shown(of_one)} | | |", flush=True)
                ratios = f"{of_rows / best:.2f} | {of_rows / sums:.2f}"
                print(f"| {file} | {command} | {shown(figures)} | {ratios} |", flush=True)
            many.unlink()


if __name__ == "__main__":
    main()
