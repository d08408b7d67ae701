#!/usr/bin/env python3
"""Stops residua while a database works for it: stop_database.py BINARY

Ctrl-C and SIGTERM must reach PostgreSQL, which must not go on with a statement that nobody waits for. Nothing is spent, no file is
left, and one line says so. SQLite is part of the program and ends with it. database_test.py says what it needs."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "tests", "fixtures"))

from database_test import DatabaseTest  # noqa: E402

test = DatabaseTest(sys.argv[1])

# One sleeps before its first row, one after some rows, one computes for minutes, one sends rows for minutes.
SLEEPS = "SELECT 1 AS age FROM pg_sleep(300)"
SLEEPS_LATER = "SELECT k % 10 AS age FROM generate_series(1, 400000) k WHERE k < 390000 OR pg_sleep(300) IS NULL"
COMPUTES = "SELECT (count(*) % 10)::int AS age FROM generate_series(1, 20000) a, generate_series(1, 20000) b, generate_series(1, 99) c"
SENDS = "SELECT (a % 10)::int AS age FROM generate_series(1, 2000000000) a"
SQLITE = ("WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < 2000000000) "
          "SELECT count(*) % 10 AS age FROM n")


def write_spec(database, query, push_down):
    with open("spec.toml", "w") as spec:
        spec.write(f'[data]\ndatabase = "{database}"\nquery = "{query}"\nledger = "a.ledger"\npush_down = {push_down}\n')
        spec.write('[privacy]\nrho = 1\n[attributes.age]\nintegers = [0, 9]\n[workload]\nmarginals = "1"\n')


def running(server):
    """How many statements of residua the server works on."""
    done = subprocess.run(
        [os.path.join(server.programs, "psql"), "-At", "-d", server.url, "-c",
         "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%AS age%' AND pid <> pg_backend_pid()"],
        capture_output=True, text=True, env=test.environment())
    return int(done.stdout)


def await_true(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def stop(name, database, query, push_down, command, number, is_at_work):
    write_spec(database, query, push_down)
    subprocess.run([test.binary, "plan", "spec.toml", "-o", "plan.json"], check=True, capture_output=True)
    arguments = {"check": ["check", "spec.toml"], "measure": ["measure", "plan.json", "-o", "out.parquet"],
                 "release": ["release", "spec.toml", "-o", "out", "--yes"]}[command]
    before = set(os.listdir("."))
    name = f"{name}, push_down = {push_down}, {command}, {number.name}"
    process = subprocess.Popen([test.binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=test.environment())
    test.check(f"{name}: the database works", await_true(is_at_work, 60))
    time.sleep(0.3)
    process.send_signal(number)
    start = time.monotonic()
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    test.check(f"{name}: ends soon", time.monotonic() - start < 10, time.monotonic() - start)
    test.check(f"{name}: ends by the signal", process.returncode == 128 + number, (process.returncode, errors))
    said = [line for line in errors.splitlines() if line.startswith("residua")]
    test.check(f"{name}: says so in one line", len(said) == 1 and "interrupted" in said[0], errors)
    # The plan of a release, which says nothing about the data, is there for the next run.
    left = set(os.listdir(".")) - before | (set(os.listdir("out")) if os.path.isdir("out") else set())
    test.check(f"{name}: nothing is spent, no file is left", left <= {"out", "plan.json"}, left)
    shutil.rmtree("out", ignore_errors=True)



with test:
    of_test = test.server()
    tries = 0
    for name, query in (("sleeps", SLEEPS), ("sleeps later", SLEEPS_LATER), ("computes", COMPUTES), ("sends", SENDS)):
        for push_down in ("false", "true"):
            command = ("release", "measure", "check")[tries % 3]
            number = (signal.SIGINT, signal.SIGINT, signal.SIGTERM)[tries % 3]
            tries += 1
            stop(name, of_test.url, query, push_down, command, number, lambda: running(of_test) == 1)
            test.check(f"{name}, push_down = {push_down}: the server does not go on",
                       await_true(lambda: running(of_test) == 0, 5))
    sqlite3.connect("a.sqlite").close()
    with sqlite3.connect("a.sqlite") as file:
        file.execute("CREATE TABLE t (x)")
    for push_down in ("false", "true"):
        start = time.monotonic()
        stop("sqlite", "sqlite:a.sqlite", SQLITE, push_down, "release", signal.SIGINT,
             lambda start=start: time.monotonic() - start > 1.5)
    # Rows that nobody wants any more, because one of them was refused.
    write_spec(of_test.url, "SELECT CASE WHEN k = 5 THEN 99 ELSE 1 END AS age, repeat('x', 100) AS much FROM "
               "generate_series(1, 500000) k WHERE k < 450000 OR pg_sleep(100) IS NULL", "false")
    done = test.run("release", "spec.toml", "-o", "out", "--yes")
    test.check("a refused row: refused", done.returncode == 1 and "99" in done.stderr, done.stderr)
    test.check("a refused row: the server does not go on", await_true(lambda: running(of_test) == 0, 5))
