#!/usr/bin/env python3
"""Rows that a database counts itself, beside the same rows read: push_down_bench.py BINARY [--rows 1000000 5000000]

Starts a PostgreSQL server of its own and writes an SQLite file. Needs the ADBC drivers, in the folders of
RESIDUA_ADBC_DRIVERS. The data is five attributes with 95,760 cells together: age in brackets, sex, region, month of
admission, weekday. Times are of `residua check`, which finds the cells of all rows and draws no noise: seconds until it
ends, and processor seconds of residua and of the server."""
import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "fixtures"))

from postgres_server import PostgresServer, server_programs  # noqa: E402

SPEC = """[data]
database = "{database}"
query = "SELECT age, sex, region, admitted FROM patients"
ledger = "patients.ledger"
push_down = {push_down}
[privacy]
rho = 0.1
[attributes.age]
cuts = [10, 20, 30, 40, 50, 60, 70, 80, 90]
[attributes.sex]
values = ["f", "m"]
[attributes.region]
values = [{regions}]
[attributes.month]
column = "admitted"
dates = ["2020-01-01", "2022-12-31"]
every = "month"
[attributes.weekday]
column = "admitted"
part = "weekday"
[workload]
marginals = "<=2"
"""
REGIONS = ", ".join(f'"region {k}"' for k in range(19))
MADE = ("SELECT (k * 7919 % 100) AS age, CASE k % 3 WHEN 0 THEN 'm' ELSE 'f' END AS sex, 'region ' || (k * 104729 % 19) AS region, "
        "{day} AS admitted FROM {numbers}")


def server_seconds(server):
    """Of all processes of the server, those that have ended included."""
    seconds = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(name) == server.process.pid or int(fields[1]) == server.process.pid:
            own = int(fields[11]) + int(fields[12])
            seconds += own + (int(fields[13]) + int(fields[14]) if int(name) == server.process.pid else 0)
    return seconds / os.sysconf("SC_CLK_TCK")


def timed(binary, database, push_down, server=None):
    with open("spec.toml", "w") as file:
        file.write(SPEC.format(database=database, push_down=push_down, regions=REGIONS))
    before, of_server = resource.getrusage(resource.RUSAGE_CHILDREN), server_seconds(server) if server else 0
    start = time.monotonic()
    done = subprocess.run([binary, "check", "spec.toml"], capture_output=True, text=True,
                          env={**os.environ, "PGPASSWORD": "bench"})
    wall = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    time.sleep(0.5)  # the server's process ends
    return wall, own, server_seconds(server) - of_server if server else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("binary")
    arguments.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000])
    given = arguments.parse_args()
    binary = os.path.abspath(given.binary)
    print("| source | rows | | until it ends, s | residua, s | server, s |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        server = PostgresServer(server_programs(), folder, "bench")
        try:
            for rows in given.rows:
                server.execute("DROP TABLE IF EXISTS patients; CREATE TABLE patients AS " + MADE.format(
                    day="DATE '2020-01-01' + (k % 1096)::int", numbers=f"generate_series(1, {rows}::bigint) AS k")
                    + "; ANALYZE patients;")
                if os.path.exists("p.sqlite"):
                    os.remove("p.sqlite")
                with sqlite3.connect("p.sqlite") as database:
                    database.execute("CREATE TABLE patients AS WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n "
                                     f"LIMIT {rows}) " + MADE.format(day="date('2020-01-01', '+' || (k % 1096) || ' days')", numbers="n"))
                database.close()
                for name, url, of in (("PostgreSQL", server.url, server), ("SQLite", "sqlite:p.sqlite", None)):
                    for word, down in (("rows read", "false"), ("push-down", "true")):
                        times = min(timed(binary, url, down, of) for _ in range(2))
                        shown = f"{times[2]:.1f}" if of else ""
                        print(f"| {name} | {rows:,} | {word} | {times[0]:.1f} | {times[1]:.1f} | {shown} |", flush=True)
        finally:
            server.stop()


main()
