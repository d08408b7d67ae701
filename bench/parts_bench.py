#!/usr/bin/env python3
"""Counting, sealing and adding the rows of one part of a cluster's data, in processor seconds: parts_bench.py

Without Spark: what the package itself does in a task (docs/scale.md). Run it with a Python that has residua."""
import time

import numpy as np
import pyarrow as pa

import residua as rs
import residua.spark

ADULT = dict(
    age=100, workclass=9, fnlwgt=100, education=16, education_num=16, marital=7, occupation=15, relationship=6, race=5,
    sex=2, gain=100, loss=100, hours=99, country=42,
)
KEY = bytes(32)  # nothing here is secret
FEW_ROWS = 1000


def clocked(work):
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def rows_of(sizes, number):
    random = np.random.default_rng(1)
    return pa.table({name: pa.array(random.integers(0, size, number).astype(np.int16)) for name, size in sizes.items()})


def added(job, pieces):
    sums = job.sums()
    for piece in pieces:
        sums.add(piece)
    return sums


def measure(name, sizes, marginals, number):
    domain = rs.Domain({attribute: rs.integers(0, size - 1) for attribute, size in sizes.items()})
    plan = rs.plan(domain, marginals=marginals, rho=1)
    size = residua.spark.size(plan)
    job = residua.spark._Job(plan._file.to_json(), 1 << 30, KEY, tuple(sizes)).open()
    _, alone = clocked(lambda: job.count(0, rows_of(sizes, FEW_ROWS).__arrow_c_stream__()))
    rows = rows_of(sizes, number)
    counts, seconds = clocked(lambda: job.count(0, rows.__arrow_c_stream__()))
    pieces, sealing = clocked(lambda: [counts.piece(k) for k in range(len(counts))])
    _, adding = clocked(lambda: added(job, pieces))
    per_million = (seconds - alone) / (number - FEW_ROWS) * 1e6
    print(
        f"{name}: {size.cells:,} cells, {size.sealed_bytes / 1e6:.0f} MB sealed; a million rows {per_million:.2f} s, "
        f"sealing {sealing:.2f} s, adding {adding:.2f} s"
    )


measure("Adult, up to 2", ADULT, "<=2", 2_000_000)
measure("Adult, up to 3", ADULT, "<=3", 2_000_000)
measure("200 of 10 cells, up to 2", {f"a{k}": 10 for k in range(200)}, "<=2", 500_000)
