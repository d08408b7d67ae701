"""A whole release of data of Adult's size: each step beside its limit, and its files beside other writers.

    build/python-test/bin/python bench/release_bench.py

48,842 rows of 14 columns in a CSV file, all 470 tables of up to three columns: 21 million answers. Every
command runs in a process of its own, in turns; the least of each figure counts. The limit of a step is what
pyarrow takes for the reading and writing that any program must do: its time alone, without starting Python and
without making the columns. residua's figures are of the whole command, which also reads the measurements and
makes the tables. Takes 3 GB of temporary files.
"""

import argparse
import ctypes
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

SIZES = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
NUMBERS = 8
ROWS = 48_842
ROOT = Path(__file__).resolve().parents[1]
RESIDUA = ROOT / "build" / "release" / "residua"
MEASUREMENT_PATH = ROOT / "build" / "release" / "bench" / "measurement_path"
LIBDUCKDB = ROOT / "build" / "duckdb" / "libduckdb.so"
# A small process starts each command: what it holds would count as its child's.
METER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
elapsed = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([elapsed, used.ru_utime + used.ru_stime]))
"""


def labels(number):
    return [f"value {k}" if number >= NUMBERS else str(k) for k in range(SIZES[number])]


def write_people(folder):
    bits = random.Random(1)
    with open(folder / "people.csv", "w", encoding="utf-8") as file:
        file.write(",".join(f"c{k}" for k in range(len(SIZES))) + "\n")
        names = [labels(k) for k in range(len(SIZES))]
        for _ in range(ROWS):
            row = (names[k][min(size - 1, int(bits.expovariate(2 / size)))] for k, size in enumerate(SIZES))
            file.write(",".join(row) + "\n")
    lines = ["[data]", 'source = "people.csv"', "[privacy]", "rho = 0.5", "[workload]", 'marginals = "<=3"']
    for number, size in enumerate(SIZES):
        cells = f"values = {labels(number)}" if number >= NUMBERS else f"integers = [0, {size - 1}]"
        lines += [f"[attributes.c{number}]", cells]
    (folder / "people.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


class DuckDb:
    def __init__(self):
        self.library = ctypes.CDLL(str(LIBDUCKDB))
        self.library.duckdb_result_error.restype = ctypes.c_char_p
        database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0

    def run(self, sql):
        result = ctypes.create_string_buffer(256)  # a duckdb_result, and room
        done = self.library.duckdb_query(self.connection, sql.encode(), result)
        assert done == 0, self.library.duckdb_result_error(result)
        self.library.duckdb_destroy_result(result)


def read_tables(folder):
    """All tables as residua wrote them into one file, labels with dictionaries."""
    texts = ["table"] + [f"c{k}" for k in range(len(SIZES))]
    return pq.read_table(folder / "one.parquet", read_dictionary=texts).unify_dictionaries()


def split_tables(table):
    """The name and the columns of each."""
    names = table["table"].combine_chunks().dictionary.to_pylist()
    runs = pa.compute.run_end_encode(table["table"].combine_chunks().indices)
    first = 0
    for end, code in zip(runs.run_ends.to_pylist(), runs.values.to_pylist()):
        part = table.slice(first, end - first)
        columns = [c for c in table.column_names[1:] if part[c].null_count == 0]
        yield names[code], part.select(columns)
        first = end


def known_settings(table):
    """What residua's writer knows beforehand."""
    texts = [name for name in table.column_names if pa.types.is_dictionary(table.schema.field(name).type)]
    return {"use_dictionary": [*texts, "std_dev"], "compression": "none", "write_statistics": texts}


def pyarrow_one(folder, out, known):
    table = read_tables(folder)
    settings = known_settings(table) if known else {}
    return lambda: pq.write_table(table, out, **settings)


def pyarrow_many(folder, out, known):
    tables = [(name, part.combine_chunks()) for name, part in split_tables(read_tables(folder))]
    out.mkdir()

    def write():
        for name, part in tables:
            pq.write_table(part, out / f"{name}.parquet", **(known_settings(part) if known else {}))

    return write


def duckdb_one(folder, out, how):
    """From a table in memory whose labels are of ENUM types, DuckDB's dictionaries."""
    duckdb = DuckDb()
    source = f"read_parquet('{folder}/one.parquet')"
    texts = ["table"] + [f"c{k}" for k in range(len(SIZES))]
    for name in texts:
        duckdb.run(f"CREATE TYPE type_{name} AS ENUM (SELECT DISTINCT \"{name}\" FROM {source} WHERE \"{name}\" IS NOT NULL)")
    columns = ", ".join(f'"{name}"::type_{name} AS "{name}"' for name in texts)
    duckdb.run(f"CREATE TABLE t AS SELECT * REPLACE ({columns}) FROM {source}")
    return lambda: duckdb.run(f"COPY t TO '{out}' ({how})")


def measured_integers(folder):
    return pa.table({"value": pq.read_table(folder / "m.parquet", columns=["value"])["value"].combine_chunks()})


def pyarrow_measuring(folder, out):
    """Reads the rows, and writes as many integers as are measured."""
    table = measured_integers(folder)

    def work():
        pa.csv.read_csv(folder / "people.csv")
        pq.write_table(table, out, use_dictionary=False)

    return work


def pyarrow_integers(folder, out, **settings):
    table = measured_integers(folder)
    return lambda: pq.write_table(table, out, **settings)


def pyarrow_reading(folder, out):
    """The integers, from a file that pyarrow wrote with its defaults."""
    pq.write_table(measured_integers(folder), out)
    return lambda: pq.read_table(out)


OTHERS = {
    "pyarrow, one Parquet file": lambda folder, out: pyarrow_one(folder, out, False),
    "pyarrow, one Parquet file, told what to encode": lambda folder, out: pyarrow_one(folder, out, True),
    "DuckDB, one Parquet file": lambda folder, out: duckdb_one(folder, out, "FORMAT parquet"),
    "pyarrow, one Parquet file per table": lambda folder, out: pyarrow_many(folder, out, False),
    "pyarrow, one Parquet file per table, told what to encode": lambda folder, out: pyarrow_many(folder, out, True),
    "DuckDB, one CSV file": lambda folder, out: duckdb_one(folder, out, "FORMAT csv"),
    "pyarrow, rows read and integers written": pyarrow_measuring,
    "pyarrow, measurements read": lambda folder, out: lambda: pq.read_table(folder / "m.parquet", columns=["value"]),
    "pyarrow, the same integers written": pyarrow_integers,
    "pyarrow, the same integers written, plain": lambda folder, out: pyarrow_integers(
        folder, out, use_dictionary=False, compression="none"
    ),
    "pyarrow, the same integers read": pyarrow_reading,
}


def other(name, folder, out):
    """Prints the seconds of one writer or reader, by the clock and of all processors."""
    work = OTHERS[name](folder, out)
    start = time.perf_counter(), time.process_time()
    work()
    print(json.dumps([time.perf_counter() - start[0], time.process_time() - start[1]]))


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def residua_commands(folder, out):
    def tables(*flags):
        return [RESIDUA, "tables", folder / "m.parquet", "-o", out, *flags]

    return {
        "residua --version": [RESIDUA, "--version"],
        "residua plan": [RESIDUA, "plan", folder / "people.toml", "-o", out],
        "residua measure": [RESIDUA, "measure", folder / "plan.json", "-o", out, "--ledger", folder / "new.ledger"],
        "residua verify": [RESIDUA, "verify", folder / "m.parquet"],
        "residua query": [RESIDUA, "query", folder / "m.parquet", 'c0=30 c1=3 c13="value 1"'],
        "residua tables --one-file": tables("--one-file"),
        "residua tables --format parquet": tables("--format", "parquet"),
        "residua tables": tables(),
        "residua tables --digits full": tables("--digits", "full"),
        "residua release": [RESIDUA, "release", folder / "people.toml", "-o", out, "--yes", "--ledger", folder / "new.ledger"],
    }


def library_calls(folder, out):
    """These print their own seconds, as the other writers do."""
    return {
        "residua, measurements written": [MEASUREMENT_PATH, folder / "m.parquet", out],
        "residua, measurements read": [MEASUREMENT_PATH, folder / "m.parquet"],
    }


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def least(runs):
    return [min(figures) for figures in zip(*runs)]


def measure(folder, num_runs):
    """The seconds of everything, and the bytes that each left."""
    out = folder / "out"
    commands = residua_commands(folder, out)
    calls = library_calls(folder, out)
    seconds = {name: [] for name in [*commands, *calls, *OTHERS]}
    sizes = {}
    for _ in range(num_runs):
        for name in seconds:
            for path in [out, *folder.glob("*.ledger")]:
                remove(path)
            if name in commands:
                seconds[name].append(run(sys.executable, "-c", METER, *commands[name]))
            elif name in calls:
                seconds[name].append(run(*calls[name]))
            else:
                seconds[name].append(run(sys.executable, __file__, "--folder", folder, "--other", name))
            files = [path for path in (out.rglob("*") if out.is_dir() else [out]) if path.is_file()]
            sizes[name] = sum(path.stat().st_size for path in files) / 1e6
    remove(out)
    return {name: least(runs) for name, runs in seconds.items()}, sizes


def print_steps(seconds):
    one = "pyarrow, one Parquet file, told what to encode"
    many = "pyarrow, one Parquet file per table, told what to encode"
    measuring = "pyarrow, rows read and integers written"
    limits = {
        "residua plan": ["residua --version"],
        "residua measure": [measuring],
        "residua, measurements written": ["pyarrow, the same integers written"],
        "residua, measurements read": ["pyarrow, the same integers read"],
        "residua verify": ["pyarrow, the same integers read"],
        "residua query": ["residua --version"],
        "residua tables --one-file": [one],
        "residua tables --format parquet": [many],
        "residua tables": [many],
        "residua tables --digits full": [many],
        "residua release": [measuring, many],
    }
    print("| step | seconds (of all processors) | its limit | seconds (of all processors) | ratio of processors |")
    print("|---|---|---|---|---|")
    for name, limit in limits.items():
        wall, processors = seconds[name]
        least_wall, least_processors = (sum(seconds[part][k] for part in limit) for k in (0, 1))
        print(
            f"| {name} | {wall:.2f} ({processors:.2f}) | {'; '.join(limit)} "
            f"| {least_wall:.2f} ({least_processors:.2f}) | {processors / least_processors:.2f} |"
        )


def print_writers(seconds, sizes):
    print("\n| files written by | seconds (of all processors) | MB |\n|---|---|---|")
    for name in [name for name in seconds if "tables" in name or "file" in name or "written" in name]:
        wall, processors = seconds[name]
        print(f"| {name} | {wall:.2f} ({processors:.2f}) | {sizes[name]:.0f} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", help=argparse.SUPPRESS)  # of one run of another writer
    arguments.add_argument("--other", help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.other:
        other(asked.other, Path(asked.folder), Path(asked.folder) / "out")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_people(folder)
        for command in (
            ["plan", folder / "people.toml", "-o", folder / "plan.json"],
            ["measure", folder / "plan.json", "-o", folder / "m.parquet"],
            ["tables", folder / "m.parquet", "--one-file", "-o", folder / "one.parquet"],
        ):
            subprocess.run([RESIDUA, *command], check=True, capture_output=True)
        seconds, sizes = measure(folder, asked.runs)
    print(f"{ROWS:,} rows of {len(SIZES)} columns, all tables of up to 3; {asked.runs} runs each\n")
    print_steps(seconds)
    print_writers(seconds, sizes)


if __name__ == "__main__":
    main()
