"""10 million rows of 14 columns, planned, measured and read back from Python, beside the library itself.

    build/python-test/bin/python bench/python_bench.py

The library (build/release/bench/release_path) reads the rows from a Parquet file; Python has them as
an Arrow table in memory. Whole numbers in eight columns, texts in six. Each path runs in a process of
its own, in turns; the least time of each step counts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import residua as rs

SIZES = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
NUMBERS = 8
STEPS = ("plan", "measure", "read")
ROOT = Path(__file__).resolve().parents[1]


def labels(size):
    return [f"value {k}" for k in range(size)]


def make_table(rows):
    bits = np.random.default_rng(1)
    columns = {}
    for number, size in enumerate(SIZES):
        codes = np.minimum(bits.geometric(2 / size, rows) - 1, size - 1).astype(np.int16)
        if number >= NUMBERS:
            values = pa.array(labels(size), pa.string())
            columns[f"c{number}"] = pa.DictionaryArray.from_arrays(codes, values).cast(pa.string())
        else:
            columns[f"c{number}"] = codes.astype(np.int64)
    return pa.table(columns)


def make_spec(source, ledger, marginals):
    columns = {
        f"c{k}": rs.values(labels(size)) if k >= NUMBERS else rs.integers(0, size - 1)
        for k, size in enumerate(SIZES)
    }
    return rs.Spec(
        rs.Domain(columns), marginals=marginals, objective="max-variance", rho=0.5, source=source, ledger=ledger
    )


def timed(work):
    """What it gives, and the seconds it took by the clock and of all processors together."""
    start = time.perf_counter(), time.process_time()
    result = work()
    return result, (time.perf_counter() - start[0], time.process_time() - start[1])


def python_path(spec, table, ledger):
    """What a person types, with DataFrames to look at."""
    plan, planning = timed(lambda: rs.plan(spec))
    release, measuring = timed(lambda: plan.measure(table, ledger=ledger, progress=False))
    cells, reading = timed(lambda: sum(len(frame) for _, frame in release.tables().items()))
    return {"plan": planning, "measure": measuring, "read": reading, "cells": cells}


def least(runs):
    """Of each step, by the clock and by the processors."""
    return {step: [min(run[step][k] for run in runs) for k in (0, 1)] for step in STEPS}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--marginals", default="<=3")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", help=argparse.SUPPRESS)  # of one run of Python's path
    asked = arguments.parse_args()
    if asked.folder:
        folder = Path(asked.folder)
        table = pq.read_table(folder / "rows.parquet")
        times = python_path(rs.Spec.read(folder / "spec.toml"), table, folder / "python.ledger")
        print(json.dumps(times))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        pq.write_table(make_table(asked.rows), folder / "rows.parquet")
        make_spec(folder / "rows.parquet", folder / "library.ledger", asked.marginals).save(folder / "spec.toml")
        library, python = [], []
        commands = (
            (library, [str(ROOT / "build/release/bench/release_path"), str(folder / "spec.toml")]),
            (python, [sys.executable, __file__, "--folder", str(folder)]),
        )
        for _ in range(asked.runs):
            for runs, command in commands:
                for ledger in folder.glob("*.ledger"):
                    ledger.unlink()
                runs.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
    cells = {run["cells"] for run in [*library, *python]}
    assert len(cells) == 1
    print(f"{asked.rows:,} rows of {len(SIZES)} columns, {cells.pop():,} cells; {asked.runs} runs each\n")
    report(least(library), least(python))


def report(library, python):
    print("| seconds (of all processors) | library, from Parquet | Python, from Arrow |\n|---|---|---|")
    for step in STEPS:
        print(f"| {step} | {library[step][0]:.2f} ({library[step][1]:.2f}) | {python[step][0]:.2f} ({python[step][1]:.2f}) |")
    a, b = ([sum(path[step][k] for step in STEPS) for k in (0, 1)] for path in (library, python))
    print(f"| total | {a[0]:.2f} ({a[1]:.2f}) | {b[0]:.2f} ({b[1]:.2f}) |")
    print(f"| overhead | | {100 * (b[0] / a[0] - 1):+.1f} % ({100 * (b[1] / a[1] - 1):+.1f} %) |")


if __name__ == "__main__":
    main()
