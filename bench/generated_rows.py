"""A billion rows that are never stored: DuckDB generates them while `residua measure` counts them.

    build/python-test/bin/python bench/generated_rows.py [--rows 1000000000] [--tables 2]

Rows of ten columns of 2 to 1,000 cells, as the query of a DuckDB file. Beside it, DuckDB generates the same rows and
adds the columns up. Memory is measured for a hundredth of the rows too: it must be the same.
"""

import argparse
import ctypes
import sys
import tempfile
from pathlib import Path

from scale_bench import RESIDUA, run

SIZES = (1000, 100, 85, 42, 16, 15, 9, 7, 5, 2)
LIBDUCKDB = RESIDUA.parents[1] / "duckdb" / "libduckdb.so"
WITH_DUCKDB = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(256)
assert library.duckdb_open(None, ctypes.byref(database)) == 0
assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
assert library.duckdb_query(connection, sys.argv[2].encode(), result) == 0
"""


def query(rows):
    """Multiples of an odd number, cut to some of their bits: spread evenly, and cheap to make."""
    columns = [
        f"CAST((((number * 2654435761) >> {number + 6}) & 65535) % {size} AS INTEGER) AS c{number}"
        for number, size in enumerate(SIZES)
    ]
    return f"SELECT {', '.join(columns)} FROM range({rows}) AS numbers(number)"


def make_empty_database(path):
    library = ctypes.CDLL(str(LIBDUCKDB))
    database = ctypes.c_void_p()
    assert library.duckdb_open(str(path).encode(), ctypes.byref(database)) == 0
    library.duckdb_close(ctypes.byref(database))


def write_spec(path, database, rows, tables):
    lines = ["[data]", f'database = "{database}"', f'query = "{query(rows)}"', "[privacy]", "rho = 0.5"]
    lines += ["[workload]", f'marginals = "<={tables}"']
    for number, size in enumerate(SIZES):
        lines += [f"[attributes.c{number}]", f"integers = [0, {size - 1}]"]
    path.write_text("\n".join(lines) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=1_000_000_000)
    arguments.add_argument("--tables", type=int, default=2)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_empty_database(folder / "empty.duckdb")
        print(f"Columns of {', '.join(str(size) for size in SIZES)} cells, tables of up to {chosen.tables}.\n")
        print("| rows | command | seconds | of all processors | peak MB |\n|---|---|---|---|---|")
        for rows in (chosen.rows // 100, chosen.rows):
            sums = ", ".join(f"sum(c{number})" for number in range(len(SIZES)))
            generating = run(sys.executable, "-c", WITH_DUCKDB, LIBDUCKDB, f"SELECT {sums} FROM ({query(rows)})")
            print(f"| {rows:,} | DuckDB: generate and add up | {generating} |", flush=True)
            spec, plan, measurements = (folder / n for n in ("spec.toml", "plan.json", "m.parquet"))
            write_spec(spec, folder / "empty.duckdb", rows, chosen.tables)
            run(RESIDUA, "plan", spec, "-o", plan)
            figures = run(RESIDUA, "measure", plan, "-o", measurements, "--ledger", folder / "l")
            print(f"| {rows:,} | residua measure | {figures} |", flush=True)
            for used in (measurements, folder / "l"):
                used.unlink()


if __name__ == "__main__":
    main()
