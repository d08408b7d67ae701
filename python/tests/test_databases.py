"""Rows that other programs hand over as Arrow streams: ADBC drivers, with a PostgreSQL server of the test's own, DuckDB,
polars and pyarrow's datasets."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from test_data import counts

import residua as rs

sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
from postgres_server import PostgresServer, server_programs  # noqa: E402

ROWS = 20_000
PASSWORD = "correct horse"
QUERY = "SELECT age, sex, born FROM people"


def made_rows():
    return [(k * k % 10, "f" if k % 3 else "m", f"2020-{k % 12 + 1:02}-{k % 28 + 1:02}") for k in range(ROWS)]


def domain_of_rows():
    return rs.Domain(age=rs.integers(0, 9), sex=["f", "m"], born=rs.dates("2020-01-01", "2020-12-31", every="quarter"))


def truth():
    rows = pd.DataFrame(made_rows(), columns=["age", "sex", "born"])
    cells = rows.groupby([rows.age, rows.sex, rows.born.str[5:7].astype(int).sub(1) // 3]).size()
    index = pd.MultiIndex.from_product([range(10), ["f", "m"], range(4)])
    return cells.reindex(index, fill_value=0).to_numpy().reshape(10, 2, 4).tolist()


def expect_truth(data, ledger="rows.ledger"):
    assert counts(domain_of_rows(), data, ledger).tolist() == truth()


@pytest.fixture(scope="module")
def frame():
    rows = pd.DataFrame(made_rows(), columns=["age", "sex", "born"])
    return rows.assign(born=pd.to_datetime(rows.born).dt.date)


@pytest.fixture(scope="module")
def server():
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server; install Debian's package postgresql")
    folder = tempfile.mkdtemp()  # which the server's user may enter
    started = PostgresServer(programs, folder, PASSWORD)
    try:
        rows = "".join(f"{age}\t{sex}\t{born}\n" for age, sex, born in made_rows())
        started.execute(f"CREATE TABLE people (age smallint, sex text, born date);\nCOPY people FROM STDIN;\n{rows}\\.\n")
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder)


@pytest.fixture
def postgresql(server, monkeypatch):
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with driver.connect(server.url) as connection, connection.cursor() as cursor:
        yield cursor


def test_postgresql(postgresql):
    postgresql.execute(QUERY)
    expect_truth(postgresql.fetch_record_batch())


def test_postgresql_without_pyarrow(postgresql):
    """What the driver itself hands over."""
    postgresql.execute(QUERY)
    expect_truth(postgresql.fetch_arrow())


def test_postgresql_breaks_off(postgresql):
    """One line, and nothing is spent: the connection ends itself after most of the rows."""
    postgresql.execute(
        "SELECT age, sex, born FROM people WHERE ctid < '(80,0)' OR pg_terminate_backend(pg_backend_pid())"
    )
    with pytest.raises(rs.Error, match="the data: ") as raised:
        expect_truth(postgresql.fetch_record_batch(), "broken.ledger")
    assert "\n" not in str(raised.value) and "horse" not in str(raised.value)
    assert not Path("broken.ledger").exists()


def test_sqlite():
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with sqlite3.connect("people.sqlite") as database:
        database.execute("CREATE TABLE people (age INTEGER, sex TEXT, born TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", made_rows())
    database.close()
    with driver.connect("people.sqlite") as connection, connection.cursor() as cursor:
        cursor.execute(QUERY)
        expect_truth(cursor.fetch_record_batch())
        cursor.execute(QUERY)
        expect_truth(cursor.fetch_arrow(), "capsule.ledger")


def expect_pushed_down(database, frame):
    """The rows stay in the database, which counts them; no others are counted in their place."""
    spec = rs.Spec(
        domain_of_rows(), marginals=3, rho=20, database=database, query=QUERY, ledger="pushed.ledger", push_down=True
    )
    assert "push_down = true" in spec.replace(rho=10).text
    plan = rs.plan(spec)
    assert not plan.check().problems
    estimates = plan.measure().estimates("age", "sex", "born", answers="cells")
    assert abs(estimates - truth()).max() < 5
    with pytest.raises(rs.Error, match="push_down"):
        plan.measure(frame, ledger="other.ledger")
    assert not Path("other.ledger").exists()


def test_postgresql_counts_rows_itself(server, frame, monkeypatch):
    pytest.importorskip("adbc_driver_postgresql")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    expect_pushed_down(server.url, frame)


def test_sqlite_counts_rows_itself(frame):
    pytest.importorskip("adbc_driver_sqlite")
    with sqlite3.connect("people.sqlite") as database:
        database.execute("CREATE TABLE people (age INTEGER, sex TEXT, born TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", made_rows())
    database.close()
    expect_pushed_down("sqlite:people.sqlite", frame)


def expect_stops(database, query, push_down):
    """Ctrl-C ends the wait for a database that works for minutes, and nothing is spent."""
    spec = rs.Spec(
        rs.Domain(age=rs.integers(0, 9)), marginals=1, rho=1, database=database, query=query, ledger="slow.ledger",
        push_down=push_down,
    )
    plan = rs.plan(spec)
    for work in (plan.measure, plan.check):
        timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt) as stopped:
            work()
        assert time.monotonic() - start < 20
        assert "stopped before it was done" in stopped.value.__notes__[0]
        assert not Path("slow.ledger").exists()


@pytest.mark.parametrize("push_down", [False, True])
def test_postgresql_is_told_to_stop(server, postgresql, push_down):
    expect_stops(server.url, "SELECT 1 AS age FROM pg_sleep(120)", push_down)
    running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(120)%'"
    for _ in range(50):
        postgresql.execute(running + " AND pid <> pg_backend_pid()")
        if postgresql.fetchone() == (0,):
            return
        time.sleep(0.1)
    pytest.fail("the server goes on")


@pytest.mark.parametrize("push_down", [False, True])
def test_sqlite_is_left_alone(push_down):
    """Its driver cannot be told: the wait ends, and SQLite works on until it is done."""
    pytest.importorskip("adbc_driver_sqlite")
    with sqlite3.connect("empty.sqlite") as database:
        database.execute("CREATE TABLE t (x)")
    database.close()
    numbers = "WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < 40000000)"
    expect_stops("sqlite:empty.sqlite", f"{numbers} SELECT count(*) % 10 AS age FROM n", push_down)


def test_push_down_is_for_small_domains():
    with pytest.raises(rs.Error, match="push_down: all attributes together have more than 1048576 cells"):
        rs.Spec(
            rs.Domain(age=rs.integers(0, 99_999), income=rs.integers(0, 99)), marginals=1, rho=1,
            database="sqlite:a.sqlite", query=QUERY, push_down=True,
        )


def test_duckdb(frame):
    with duckdb.connect() as connection:
        connection.register("people", pa.Table.from_pandas(frame))
        expect_truth(connection.sql(QUERY))
        connection.execute(QUERY)
        expect_truth(connection.to_arrow_reader(1000), "batches.ledger")


def test_polars(frame):
    people = pl.from_arrow(pa.Table.from_pandas(frame))
    expect_truth(people)
    expect_truth(people.lazy().filter(pl.col("age") < 99), "lazy.ledger")


def test_datasets(frame):
    table = pa.Table.from_pandas(frame)
    Path("people").mkdir()
    for k in range(4):
        pq.write_table(table.slice(k * ROWS // 4, ROWS // 4), f"people/{k}.parquet", row_group_size=999)
    people = ds.dataset("people")
    expect_truth(people)
    expect_truth(people.scanner(batch_size=777).to_reader(), "scanned.ledger")
