#!/usr/bin/env python3
"""Rows from PostgreSQL and SQLite through their ADBC drivers: databases.py BINARY

database_test.py says what it needs."""
import glob
import os
import sqlite3
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "tests", "fixtures"))

from database_test import DatabaseTest  # noqa: E402
from postgres_server import free_port  # noqa: E402

ROWS = 60_000
test = DatabaseTest(sys.argv[1])
check, run = test.check, test.run


def write_spec(database, query, ledger="people.ledger"):
    with open("spec.toml", "w") as spec:
        spec.write(f'[data]\ndatabase = "{database}"\nquery = """{query}"""\n')
        spec.write(f'ledger = "{ledger}"\n' if ledger else "")
        spec.write('[privacy]\nrho = 20\n[attributes.age]\nintegers = [0, 9]\n[attributes.sex]\n')
        spec.write('values = ["f", "m"]\n[attributes.born]\ndates = ["2020-01-01", "2020-12-31"]\nevery = "month"\n')
        spec.write('[workload]\nmarginals = "<=2"\n')


def refuse(name, database, query, *parts, ledger="people.ledger", **variables):
    """One line that holds the parts and no password, and no spend."""
    if os.path.exists("people.ledger"):
        os.remove("people.ledger")
    write_spec(database, query, ledger)
    done = run("release", "spec.toml", "-o", "refused", "--yes", **variables)
    said = [line for line in done.stderr.splitlines() if line.startswith("residua") or "error" in line.lower()]
    shown = (done.returncode, done.stderr)
    check(f"{name}: refused", done.returncode in (1, 2), shown)
    check(f"{name}: says {parts}", all(part in done.stderr for part in parts), shown)
    check(f"{name}: in one line", len(said) == 1, shown)
    check(f"{name}: without the password", "horse" not in done.stdout + done.stderr, shown)
    check(f"{name}: nothing is spent", not os.path.exists("people.ledger"), os.listdir("."))


def rows():
    for k in range(ROWS):
        yield k, k * k % 10, "f" if k % 3 else "m", f"2020-{k % 12 + 1:02}-{k % 28 + 1:02}"


def expect_counts(name, folder):
    truth = {}
    for _, age, sex, _ in rows():
        truth[f"{age},{sex}"] = truth.get(f"{age},{sex}", 0) + 1
    off = []
    with open(os.path.join(folder, "tables", "age_x_sex.csv")) as table:
        for line in list(table)[1:]:
            cell, _, estimate = ",".join(line.split(",")[:3]).rpartition(",")
            if abs(float(estimate) - truth.get(cell, 0)) > 5:
                off.append((cell, estimate, truth.get(cell, 0)))
    check(f"{name}: the counts are those of the rows", not off, off)


def fill(server):
    text = "".join(f"{k}\t{age}\t{sex}\t{born}\n" for k, age, sex, born in rows())
    sql = "CREATE TABLE people (id int, age smallint, sex text, born date);\nCREATE SEQUENCE numbers;\n"
    server.execute(f"{sql}COPY people FROM STDIN;\n{text}\\.\n")


def try_sqlite():
    with sqlite3.connect("people.sqlite") as database:
        database.execute("CREATE TABLE people (id INTEGER, age INTEGER, sex TEXT, born TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows())
    database.close()
    write_spec("sqlite:people.sqlite", "SELECT age, sex, born FROM people")
    done = run("release", "spec.toml", "-o", "from_sqlite", "--yes")
    check("sqlite: released", done.returncode == 0, done.stderr)
    if done.returncode == 0:
        expect_counts("sqlite", "from_sqlite")
    refuse("sqlite, no such file", "sqlite:nobody.sqlite", "SELECT 1", "nobody.sqlite", "no such file")
    refuse("sqlite, no such table", "sqlite:people.sqlite", "SELECT age FROM nobody", "no such table")
    refuse("sqlite, a query that writes", "sqlite:people.sqlite", "DELETE FROM people", "readonly")
    with sqlite3.connect("people.sqlite") as database:
        check("sqlite: the rows are all there", database.execute("SELECT count(*) FROM people").fetchone() == (ROWS,))


def try_postgres(server):
    query = "SELECT born, age, sex FROM people"
    write_spec(server.url, query)
    done = run("check", "spec.toml")
    check("postgresql: checked", done.returncode == 0, done.stderr)
    done = run("release", "spec.toml", "-o", "from_postgres", "--yes")
    check("postgresql: released", done.returncode == 0, done.stderr)
    if done.returncode == 0:
        expect_counts("postgresql", "from_postgres")
    published = "".join(
        open(path, "rb").read().decode("latin1")
        for path in glob.glob("from_postgres/**", recursive=True) if os.path.isfile(path)
    )
    check("postgresql: the release does not say where the rows are", "127.0.0.1" not in published)
    for number, query_of_types in enumerate((
        "SELECT age::numeric(9, 2) AS age, sex::char(1) AS sex, born::timestamp AS born FROM people",
        "SELECT age::float4 AS age, sex::varchar(9) AS sex, born::text AS born FROM people",
    )):
        write_spec(server.url, query_of_types, f"types{number}.ledger")
        done = run("release", "spec.toml", "-o", f"types{number}", "--yes")
        check(f"postgresql: other types, {number}", done.returncode == 0, done.stderr)
        if done.returncode == 0:
            expect_counts(f"postgresql: other types, {number}", f"types{number}")
    refuse("wrong password", server.url, query, "password authentication failed", PGPASSWORD="wrong")
    refuse("no such database", server.url + "x", query, "does not exist")
    refuse("no server", f"postgresql://curator@127.0.0.1:{free_port()}/postgres", query, "refused")
    refuse("no such table", server.url, "SELECT * FROM nobody", "nobody")
    refuse("no such column", server.url, "SELECT age, sex FROM people", "no column 'born'")
    refuse("a value outside", server.url, "SELECT age + 1 AS age, sex, born FROM people ORDER BY id",
           "column 'age' has the value 10 (row 4)")
    refuse("a query that writes", server.url, "SELECT nextval('numbers') % 2 AS age, sex, born FROM people",
           "read-only transaction")
    dropped = "SELECT age, sex, born FROM people WHERE id < 50000 OR pg_terminate_backend(pg_backend_pid())"
    refuse("dropped in the middle", server.url, dropped, "its rows broke off")
    secret = server.url.replace("curator@", "curator:horse@")
    refuse("a password in the spec", secret, query, "a password must not be in a file")
    refuse("a password as a parameter", server.url + "?password=horse", query, "a password must not be in a file")
    refuse("no ledger", server.url, query, "name the one that its budget is kept in", ledger=None)


with test:
    refuse("no driver", "postgresql://127.0.0.1/x", "SELECT 1", "pip install adbc-driver-postgresql",
           RESIDUA_ADBC_DRIVERS="", VIRTUAL_ENV="", CONDA_PREFIX="")
    refuse("another kind", "mysql://127.0.0.1/x", "SELECT 1", "databases of the kind mysql cannot be read")
    try_sqlite()
    of_test = test.server()
    fill(of_test)
    try_postgres(of_test)
