#!/usr/bin/env python3
"""Releases of queries on a database: check_database.py BINARY LIBDUCKDB

Makes a database with DuckDB's library, and tests what check, measure and release say about simple and
other queries, and that a query that would print rows is refused."""
import ctypes
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

binary, library = (os.path.abspath(path) for path in sys.argv[1:3])


def make_database(path, *statements):
    duckdb = ctypes.CDLL(library)
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    assert duckdb.duckdb_open(path.encode(), ctypes.byref(database)) == 0
    assert duckdb.duckdb_connect(database, ctypes.byref(connection)) == 0
    for statement in statements:
        assert duckdb.duckdb_query(connection, statement.encode(), None) == 0, statement
    duckdb.duckdb_disconnect(ctypes.byref(connection))
    duckdb.duckdb_close(ctypes.byref(database))


def write_spec(name, query):
    pathlib.Path(name).write_text(f"""[data]
database = "people.duckdb"
query = {json.dumps(query)}
[privacy]
rho = "1/10"
[attributes.age]
integers = [0, 9]
outside = "clamp"
null = true
[workload]
marginals = "<=1"
""", encoding="utf-8")


def run(*arguments, code=0):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def release_on_a_terminal(spec, folder):
    """What is seen on a terminal up to the question, to which the answer is no."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([binary, "release", spec, "-o", folder], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while b"Type yes" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, b"no\n")
    os.close(ours)
    assert process.returncode == 2
    return seen.decode()


JOINS = "the query joins tables or subqueries"
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make_database("people.duckdb", "CREATE TABLE people AS SELECT i % 10 AS age, 'private' || i AS name FROM range(100) r(i)",
                  "CREATE VIEW crossed AS SELECT age FROM people, range(10)")

    write_spec("plain.toml", "SELECT age FROM people WHERE age > 1")
    seen, _ = run("check", "plain.toml")
    assert "protected is one row of the query's result" in seen and "warning" not in seen, seen
    assert "A single row can stop" not in seen, seen
    assert json.loads(run("check", "plain.toml", "--json")[0])["query_operations"] == []
    _, notes = run("release", "plain.toml", "-o", "plain", "--yes")
    assert "the query" not in notes, notes
    assert "a row is a row of that result" in pathlib.Path("plain/summary.md").read_text(encoding="utf-8")
    os.remove("people.duckdb.ledger")

    write_spec("crossed.toml", "SELECT age FROM crossed")
    seen, _ = run("check", "crossed.toml")
    assert f"warning: {JOINS}" in seen, seen
    assert json.loads(run("check", "crossed.toml", "--json")[0])["query_operations"] == ["joins tables or subqueries"]
    assert f"note: {JOINS}" in release_on_a_terminal("crossed.toml", "crossed")
    _, notes = run("release", "crossed.toml", "-o", "crossed", "--yes")
    assert f"note: {JOINS}" in notes, notes
    os.remove("people.duckdb.ledger")
    run("plan", "crossed.toml", "-o", "plan.json")
    _, notes = run("measure", "plan.json")
    assert f"note: {JOINS}" in notes, notes
    os.remove("people.duckdb.ledger")

    write_spec("logs.toml", "WITH e AS MATERIALIZED (FROM enable_logging(storage := 'stdout')) "
               "SELECT age FROM e, people WHERE write_log(name, level := 'error', scope := 'database') IS NULL")
    for command in (("check", "logs.toml"), ("release", "logs.toml", "-o", "logs", "--yes")):
        seen, error = run(*command, code=2)
        assert "private" not in seen + error, seen + error
        assert "is not allowed" in error, error
    assert not os.path.exists("logs") and not os.path.exists("people.duckdb.ledger")
print("queries are told apart and refused as they should be")
