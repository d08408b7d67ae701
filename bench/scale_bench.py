"""100 million rows of 20 columns from a Parquet file, all tables of up to two columns, and plans of 1,000 attributes.

    build/python-test/bin/python bench/scale_bench.py

Runs the command line, each command in a process of its own, and gives its time and the most memory it
held; beside them, reading the same file with pyarrow and looking at nothing. Half of the columns are
texts. The file takes 1.2 GB in the temporary folder.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZES = (100, 100, 100, 99, 85, 52, 42, 16, 15, 9, 7, 6, 5, 5, 4, 3, 3, 2, 2, 2)
ROWS_AT_ONCE = 1_000_000
RESIDUA = Path(__file__).resolve().parents[1] / "build" / "release" / "residua"
# A small process starts each command: what it holds would count as its child's.
METER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True)
elapsed = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss]), file=sys.stderr)
"""
READING = """
import sys, pyarrow.parquet as pq
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(1 << 20):
    pass
"""
PLANS = (
    ("10*1000", "<=2", "sum-variance"),
    ("10*1000", "<=2", "max-variance"),
    ("10*1000", "<=3", "sum-variance"),
    ("10*1000", "<=3", "max-variance"),
    ("2*500,10:prefix*500", "<=2", "sum-variance"),
    (",".join(str(k) for k in range(2, 1002)), "<=2", "sum-variance"),
    (",".join(str(k) for k in range(2, 1002)), "<=2", "max-variance"),
)


def labels(size):
    return [f"value {k}" for k in range(size)]


def is_text(number):
    return number % 2 == 1


def write_rows(path, rows):
    bits = np.random.default_rng(1)
    schema = pa.schema([(f"c{k}", pa.string() if is_text(k) else pa.int32()) for k in range(len(SIZES))])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, ROWS_AT_ONCE):
            columns = []
            for number, size in enumerate(SIZES):
                codes = bits.geometric(2 / size, min(ROWS_AT_ONCE, rows - start)) - 1
                codes = np.minimum(codes, size - 1).astype(np.int32)
                if is_text(number):
                    codes = pa.DictionaryArray.from_arrays(codes, labels(size)).cast(pa.string())
                columns.append(codes)
            writer.write_table(pa.table(columns, schema=schema))


def write_spec(path, rows):
    lines = ["[data]", f'source = "{rows}"', "[privacy]", "rho = 0.5", "[workload]", 'marginals = "<=2"']
    for number, size in enumerate(SIZES):
        values = f"values = {labels(size)}" if is_text(number) else f"integers = [0, {size - 1}]"
        lines += [f"[attributes.c{number}]", values]
    path.write_text("\n".join(lines) + "\n")


def measured(*command):
    """Seconds by the clock, of all processors, and the most memory in MB."""
    done = subprocess.run([sys.executable, "-c", METER, *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    elapsed, processors, peak = json.loads(done.stderr.splitlines()[-1])
    return elapsed, processors, peak / 1024


def shown(figures):
    elapsed, processors, peak = figures
    return f"{elapsed:.2f} | {processors:.2f} | {peak:.0f}"


def run(*command):
    """A row's figures as text."""
    return shown(measured(*command))


def scale_of_rows(folder, rows):
    data, spec, plan, measurements = (folder / name for name in ("rows.parquet", "spec.toml", "plan.json", "m.parquet"))
    write_rows(data, rows)
    write_spec(spec, data)
    print(f"{rows:,} rows of {len(SIZES)} columns, a Parquet file of {data.stat().st_size / 1e9:.1f} GB\n")
    print("| command | seconds | of all processors | peak MB |\n|---|---|---|---|")
    commands = {
        "pyarrow: read it": (sys.executable, "-c", READING, data),
        "residua check": (RESIDUA, "check", spec),
        "residua plan": (RESIDUA, "plan", spec, "-o", plan),
        "residua measure": (RESIDUA, "measure", plan, "-o", measurements),
        "residua tables": (RESIDUA, "tables", measurements, "-o", folder / "tables"),
        "residua verify": (RESIDUA, "verify", measurements),
    }
    for name, command in commands.items():
        print(f"| {name} | {run(*command)} |", flush=True)


def scale_of_attributes():
    print("\n| domain | tables | objective | seconds | of all processors | peak MB |\n|---|---|---|---|---|---|")
    for domain, marginals, objective in PLANS:
        weights = "cells" if objective == "sum-variance" else "equal"  # the RMSE, and the worst cell
        figures = run(
            RESIDUA, "plan", "--domain", domain, "--marginals", marginals, "--objective", objective, "--weights", weights
        )
        shown = domain if len(domain) < 30 else "2,3,...,1001"
        print(f"| {shown} | {marginals} | {objective} | {figures} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=100_000_000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scale_of_rows(Path(folder), chosen.rows)
    scale_of_attributes()


if __name__ == "__main__":
    main()
