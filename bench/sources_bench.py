#!/usr/bin/env python3
"""One release from each source of the same rows, beside reading the rows and doing nothing with them:
sources_bench.py [--rows N] [--only NAME...]

Rows like Adult's, all tables of one and two attributes. Prints a table for docs/scale.md: processor seconds and the
largest memory of all processes that the source needs in this machine, PostgreSQL's server left out. Every release is
compared with the true counts. Run it with build/python-test/bin/python; a source whose program is missing is left out."""
import argparse
import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import residua as rs

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
SIZES = dict(
    age=100, workclass=9, fnlwgt=100, education=16, education_num=16, marital=7, occupation=15, relationship=6, race=5,
    sex=2, gain=100, loss=100, hours=99, country=42,
)
QUERY = f"SELECT {', '.join(SIZES)} FROM people"
LOOPBACK = "127.0.0.1"
MEASURED = "measured.parquet"


def made_rows(number):
    random = np.random.default_rng(7)
    squares = {name: (random.random(number) ** 2 * size).astype(np.int64) for name, size in SIZES.items()}
    return pa.table(squares)


def plan_of():
    domain = rs.Domain({name: rs.integers(0, size - 1) for name, size in SIZES.items()})
    return rs.plan(domain, marginals="<=2", rho=3700)


def drained(reader):
    return sum(batch.num_rows for batch in reader)


@contextlib.contextmanager
def csv(folder):
    yield "people.csv", lambda: pa.csv.read_csv("people.csv").num_rows


@contextlib.contextmanager
def parquet(folder):
    yield "people.parquet", lambda: pa.parquet.read_table("people.parquet").num_rows


@contextlib.contextmanager
def duckdb(folder):
    import duckdb

    with duckdb.connect("people.duckdb", read_only=True) as connection:
        yield connection.sql(QUERY), lambda: drained(connection.sql(QUERY).to_arrow_reader(100_000))


@contextlib.contextmanager
def adbc(driver, place):
    with driver.connect(place) as connection, connection.cursor() as cursor:
        cursor.execute(QUERY)
        reader = cursor.fetch_record_batch()
        yield reader, lambda: drained(reader)


def sqlite(folder):
    import adbc_driver_sqlite.dbapi

    return adbc(adbc_driver_sqlite.dbapi, "people.sqlite")


def postgresql(folder):
    import adbc_driver_postgresql.dbapi

    return adbc(adbc_driver_postgresql.dbapi, os.environ["PEOPLE_URL"])


@contextlib.contextmanager
def pandas(folder):
    frame = pd.read_parquet("people.parquet")
    yield frame, lambda: len(frame)


@contextlib.contextmanager
def polars(folder):
    import polars

    frame = polars.read_parquet("people.parquet")
    yield frame, lambda: frame.height


@contextlib.contextmanager
def spark(master):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    session = builder.config("spark.driver.host", LOOPBACK).config("spark.ui.showConsoleProgress", "false").getOrCreate()
    frame = session.read.parquet(str(Path("people.parquet").absolute()))

    def nothing(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})

    # Through Python, as the rows that are counted go.
    yield frame, lambda: sum(row["rows"] for row in frame.mapInArrow(nothing, "rows bigint").collect())
    session.stop()


def spark_local(folder):
    return spark("local[2]")


@contextlib.contextmanager
def spark_cluster(folder):
    import pyspark

    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        port = taken.getsockname()[1]
    url = f"spark://{LOOPBACK}:{port}"
    place = ["--host", LOOPBACK, "--webui-port", "0"]
    commands = [["master.Master", *place, "--port", str(port)]]
    commands += [["worker.Worker", *place, "--cores", "1", "--memory", "1g", "--work-dir", f"worker{k}", url] for k in (0, 1)]
    daemons = []
    for role, *arguments in commands:
        command = [program, f"org.apache.spark.deploy.{role}", *arguments]
        daemons.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        while len(daemons) == 1 and socket.socket().connect_ex((LOOPBACK, port)) != 0:
            time.sleep(0.1)
    try:
        with spark(url) as opened:
            yield opened
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(60)


SOURCES = {
    "CSV": csv, "Parquet": parquet, "DuckDB": duckdb, "PostgreSQL, ADBC": postgresql, "SQLite, ADBC": sqlite,
    "pandas": pandas, "polars": polars, "Spark, local": spark_local, "Spark, two workers": spark_cluster,
}


def work(name, does_measure):
    """In a process of its own: prints the number of rows, or leaves what it measured in a file."""
    with SOURCES[name](".") as (data, read):
        if does_measure:
            plan_of().measure(data, ledger=f"{os.getpid()}.ledger", progress=False).save(MEASURED)
        else:
            print(json.dumps(read()))


def largest_error():
    """Of what was measured last. Truth is read here, so that it is not part of what measuring takes."""
    release = rs.load(MEASURED)
    rows = pa.parquet.read_table("people.parquet").to_pandas()
    largest = 0.0
    for first, second in (("age", "hours"), ("sex", "country")):
        truth = np.histogram2d(rows[first], rows[second], bins=[range(SIZES[n] + 1) for n in (first, second)])[0]
        largest = max(largest, float(abs(release.estimates(first, second) - truth).max()))
    Path(MEASURED).unlink()
    return largest


def watched(name, what):
    """The result of `work`, and the processor seconds and the largest memory of all its processes."""
    process = subprocess.Popen([sys.executable, __file__, "--work", name, what], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds, largest = {}, 0
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(process.pid)
            memory = 0
            for each in [root, *root.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    used = each.cpu_times()
                    seconds[each.pid, each.create_time()] = used.user + used.system
                    memory += each.memory_full_info().pss
            largest = max(largest, memory)
        time.sleep(0.05)
    told = process.stdout.read()
    return (json.loads(told) if told else None), sum(seconds.values()), largest / 1e6


def write_sources(rows):
    pa.parquet.write_table(rows, "people.parquet", row_group_size=100_000)
    pa.csv.write_csv(rows, "people.csv")
    import duckdb

    with duckdb.connect("people.duckdb") as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    with contextlib.closing(sqlite3.connect("people.sqlite")) as database, database:
        database.execute(f"CREATE TABLE people ({', '.join(f'{name} INTEGER' for name in SIZES)})")
        marks = ", ".join("?" * len(SIZES))
        database.executemany(f"INSERT INTO people VALUES ({marks})", zip(*(column.to_pylist() for column in rows.columns)))


@contextlib.contextmanager
def postgres(folder):
    from postgres_server import PostgresServer, server_programs

    programs = server_programs()
    if programs is None:
        yield None
        return
    os.environ["PGPASSWORD"] = "correct horse"
    server = PostgresServer(programs, folder, os.environ["PGPASSWORD"])
    try:
        columns = ", ".join(f"{name} smallint" for name in SIZES)
        text = Path("people.csv").read_text().partition("\n")[2]
        server.execute(f"CREATE TABLE people ({columns});\nCOPY people FROM STDIN (FORMAT csv);\n{text}\\.\n")
        os.environ["PEOPLE_URL"] = server.url
        yield server
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=list(SOURCES))
    parser.add_argument("--work", nargs=2)
    arguments = parser.parse_args()
    os.environ.update(SPARK_LOCAL_IP=LOOPBACK, PYSPARK_PYTHON=sys.executable)
    if arguments.work:
        work(arguments.work[0], arguments.work[1] == "measure")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        write_sources(made_rows(arguments.rows))
        print("| source | reading alone, s | MB | measuring, s | MB | largest error |\n|---|---|---|---|---|---|")
        with postgres(folder):
            for name in arguments.only:
                rows, read_seconds, read_memory = watched(name, "read")
                _, seconds, memory = watched(name, "measure")
                assert rows == arguments.rows, (name, rows)
                cells = f"{read_seconds:.1f} | {read_memory:.0f} | {seconds:.1f} | {memory:.0f} | {largest_error():.2f}"
                print(f"| {name} | {cells} |", flush=True)


main()
