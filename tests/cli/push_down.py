#!/usr/bin/env python3
"""Rows that a database counts itself, beside the same rows read: push_down.py BINARY

Hostile values of every type, under every encoding and policy, in PostgreSQL and SQLite. Each release is made twice, with
push_down and without. Every value is in a multiple of 20 rows, and noise is far below that: one value in another cell shows.
What `check` finds, which has no noise, must be the same.
database_test.py says what it needs."""
import csv
import glob
import itertools
import json
import os
import random
import shutil
import sqlite3
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "tests", "fixtures"))

from database_test import DatabaseTest  # noqa: E402

test = DatabaseTest(sys.argv[1])
check, run = test.check, test.run
number = itertools.count()
rng = random.Random(20)


def toml(value):
    return json.dumps(value, ensure_ascii=True)


def write_spec(path, database, query, attributes, data="", privacy="rho = 20", ledger="one.ledger"):
    with open(path, "w", encoding="utf-8") as spec:
        spec.write(f"[data]\ndatabase = {toml(database)}\nquery = {toml(query)}\nledger = {toml(ledger)}\n{data}\n")
        spec.write(f'[privacy]\n{privacy}\n[workload]\nmarginals = "<=2"\n')
        for name, lines in attributes.items():
            spec.write(f"[attributes.{toml(name)}]\n" + "\n".join(lines) + "\n")


def tables(folder):
    """The labels and the estimate of every answer."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "tables", "*.csv"))):
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        place = rows[0].index("estimate")
        found[os.path.basename(path)] = [(row[:place], float(row[place])) for row in rows[1:]]
    return found


def found_by_check(spec):
    done = run("check", spec, "--json")
    report = json.loads(done.stdout) if done.stdout else {}
    for attribute in report.get("attributes", []):
        attribute.pop("values_outside")
    kept = {key: report.get(key) for key in ("rows", "attributes")}
    kept["obstacles"] = len(report.get("obstacles", []))
    return done, kept


def compare(name, database, query, attributes, data="", succeeds=True):
    """Releases with and without push_down: the same tables, or the same refusal."""
    n = next(number)
    results = []
    for down in (False, True):
        spec, folder = f"spec{n}{down}.toml", f"out{n}{down}"
        write_spec(spec, database, query, attributes, data + ("\npush_down = true" if down else ""),
                   ledger=f"{n}{down}.ledger")
        checked, found = found_by_check(spec)
        done = run("release", spec, "-o", folder, "--yes", "--allow-drops", "--digits", "full")
        results.append((done, found, tables(folder) if done.returncode == 0 else None, checked))
        if down:
            check(f"{name}: {query}: nothing is spent on a refusal",
                  done.returncode == 0 or not os.path.exists(f"{n}{down}.ledger"))
        shutil.rmtree(folder, ignore_errors=True)
    (rows, found_rows, of_rows, _), (down, found_down, of_down, checked) = results
    shown = (attributes, rows.stderr, down.stderr)
    check(f"{name}: {query}: both or none", rows.returncode == down.returncode, shown)
    check(f"{name}: {query}: is released", not succeeds or rows.returncode == 0, shown)
    if of_rows is not None and of_down is not None:
        off = [(a, b) for t in of_rows for a, b in zip(of_rows[t], of_down[t]) if a[0] != b[0] or abs(a[1] - b[1]) > 8]
        same_size = {t: len(of_rows[t]) for t in of_rows} == {t: len(of_down[t]) for t in of_down}
        check(f"{name}: {query}: equal tables", of_rows and same_size and not off, (attributes, off[:6]))
        check(f"{name}: {query}: check finds the same", found_rows == found_down,
              (attributes, found_rows, found_down, checked.stderr))
    return rows, down


POLICIES = {
    "integers": ["error", "clamp", "drop", "null"], "cuts": ["error", "drop", "null"],
    "values": ["error", "drop", "null", "other"], "dates": ["error", "clamp", "drop", "null"],
    "part": ["error", "drop", "null"],
}


def encoding(kind, lines):
    """The encoding under each of its policies."""
    for policy in POLICIES[kind]:
        for null in (True, False):
            if policy == "null" and not null:
                continue
            yield [*lines, f'outside = "{policy}"', f"null = {str(null).lower()}"]


def safe(kind, lines):
    """The same where no value stops a release."""
    return [made for made in encoding(kind, lines)
            if 'outside = "drop"' in made or ("null = true" in made and 'outside = "error"' not in made)]


def grouped(made):
    """Several attributes of one column, as many as are small together."""
    size = 2 if 'every = "day"' in made[0] or PLAIN[0] in made[0] else 3 if 'every = "week"' in made[0] else 4
    for first in range(0, len(made), size):
        yield {f"x{k}": [*lines, 'column = "x"'] for k, lines in enumerate(made[first:first + size])}


INTEGERS = ["integers = [-3, 5]"]
CUTS = ["cuts = [-1.5, 0, 0.1, 0.3, 2, 1e15]"]
NUMBERS = ['values = ["1", "2.5", "-3", "0.1", "1e2", "0.30000000000000004"]']
TEXTS = ['values = ["a", "B", "b", "it\'s", "\\"q\\"", "\\\\", "", " a", "a ", "é", "%", "true", "E\\u0027x"]']
PLAIN = ["values = [" + ", ".join(toml(f"v{k:02}") for k in range(40)) + "]"]
TRUTHS = ['values = ["true", "false"]']
DATES = {every: ['dates = ["2019-11-05", "2021-02-17"]', f'every = "{every}"']
         for every in ("day", "week", "month", "quarter", "year")}
PARTS = {part: [f'part = "{part}"'] for part in ("weekday", "hour", "month")}

WHOLE = [-(2**63), -(2**53) - 1, -4, -3, -2, -1, 0, 1, 2, 5, 6, 100, 2**53 + 1, 10**15, 10**15 + 1, 2**63 - 1, None, -9]
FLOATS = ["-Infinity", "Infinity", "NaN", "-0.0", "0", "0.1", "0.30000000000000004", "0.3", "2.5", "-3.5", "-3", "5.5", "1",
          "1e2", "5e-324", "1.7e308", "-1.5", "2", "1e15", "4503599627370497.5", "-9", "0.1000000001", None, "99.99999999999999"]
NUMERICS = ["NaN", "Infinity", "-Infinity", "0", "0.00", "1", "1.0", "1.00", "2.50", "2.5", "-3", "-3.000", "100", "100.0",
            "0.1", "0.10", "0.30000000000000004", "4.9999999999999999999999", "5.0000000000000000000001", "1e200", "-9.0", "-9",
            "123456789012345678901234567890", "0.3", None, "1000000000000000.00000000001"]
HOSTILE = ["a", "A", "b", "B", "it's", '"q"', "\\", "", " ", " a", "a ", "é", "e\u0301", "%", "_", "a\nb", "NA", "-", "other",
           "true", "TRUE", "True", "false", "null", "NULL", "'; DROP TABLE t; --", "E'x", "\\'", "v00", "v07", "v39", "v40", "V07",
           "x" * 5000, "\U0001f600", None, "$1", "{}", "\t", "a\u0000"[:1]]
DAYS = ["2019-11-04", "2019-11-05", "2019-12-31", "2020-01-01", "2020-02-29", "2020-12-27", "2020-12-28", "2021-01-03",
        "2021-02-17", "2021-02-18", "0001-01-01", "9999-12-31", "1969-12-31", "1970-01-01", None]
TIMES = ["2019-11-05 00:00:00", "2019-11-04 23:59:59.999999", "2021-02-17 23:59:59.999999", "2021-02-18 00:00:00",
         "2020-06-30 12:00:00.5", "1969-12-31 23:59:59.5", "0001-01-01 00:00:00", "9999-12-31 23:59:59", None]


def literal(value):
    return "NULL" if value is None else "E'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def fill_postgres(server):
    """One table for each type, each value several times."""
    sql = "CREATE TYPE mood AS ENUM ('a', 'b''s', 'v07');\nCREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', "
    sql += "deterministic = false);\n"

    def table(name, type_name, values):
        nonlocal sql
        rows = ", ".join(f"({literal(value)})" for value in values for _ in range(20 * rng.randint(1, 5)))
        sql += f"CREATE TABLE {name} (x {type_name});\nINSERT INTO {name} VALUES {rows};\n"

    table("t_bigint", "bigint", WHOLE)
    table("t_int", "integer", [v for v in WHOLE if v is None or abs(v) < 2**31])
    table("t_small", "smallint", [v for v in WHOLE if v is None or abs(v) < 2**15])
    table("t_float", "double precision", FLOATS)
    table("t_real", "real", [v for v in FLOATS if v not in ("1.7e308", "5e-324")])
    table("t_numeric", "numeric", NUMERICS)
    table("t_money", "numeric(12, 2)", ["1", "2.5", "-3", "0.1", "100", "7.77", "-9", None])
    table("t_bool", "boolean", ["true", "false", None])
    table("t_text", "text", HOSTILE)
    table("t_nocase", "text COLLATE nocase", HOSTILE)
    table("t_char", "char(3)", [v for v in HOSTILE if v is None or len(v) <= 3])
    table("t_varchar", "varchar(20)", [v for v in HOSTILE if v is None or len(v) <= 20])
    table("t_mood", "mood", ["a", "b's", "v07", None])
    table("t_date", "date", DAYS)
    table("t_time", "timestamp", TIMES)
    table("t_zoned", "timestamptz", [v and v + "+05:30" for v in TIMES if v is None or v > "0002"])
    sql += "CREATE TABLE patients (age int, sex text, born date);\n"
    sql += "INSERT INTO patients SELECT k % 10, CASE k % 3 WHEN 0 THEN 'm' ELSE 'f' END, DATE '2020-01-01' + k % 366 "
    sql += "FROM generate_series(0, 19999) k;\n"
    server.execute(sql)


def try_postgres_types(server):
    nulls = 'null_values = ["NA", "-", -9, "", "2020-02-29"]'

    def every(table, kind, lines, data="", only_safe=True):
        made = list(safe(kind, lines) if only_safe else encoding(kind, lines))
        for attributes in grouped(made):
            compare("postgresql", server.url, f"SELECT x FROM {table}", attributes, data, only_safe)

    for table in ("t_bigint", "t_int", "t_small", "t_float", "t_real", "t_numeric", "t_money", "t_bool"):
        for kind, lines in (("integers", INTEGERS), ("cuts", CUTS), ("values", NUMBERS), ("values", TRUTHS)):
            every(table, kind, lines, nulls)
    every("t_numeric", "values", ['values = ["1.00", "2.5", "NaN", "nan", "-inf"]'])
    every("t_float", "values", ['values = ["inf", "-inf", "1"]'])
    every("t_bigint", "integers", ["integers = [9223372036854775800, 9223372036854775807]"])
    every("t_bigint", "integers", ["integers = [-9223372036854775808, -9223372036854775800]"])
    for table in ("t_text", "t_nocase", "t_char", "t_varchar", "t_mood"):
        every(table, "values", TEXTS)
        every(table, "values", PLAIN, 'null_values = ["NA", "-", ""]')
        every(table, "values", TRUTHS)
        every(table, "values", ['values = ["v07", "7"]'])
    for every_period in DATES.values():
        for table in ("t_date", "t_time", "t_zoned"):
            every(table, "dates", every_period, nulls)
    for part, lines in PARTS.items():
        for table in ("t_date", "t_time", "t_zoned")[part == "hour":]:
            every(table, "part", lines, nulls)
    every("t_date", "values", ['values = ["2020-01-01", "0001-01-01", "2020-1-1"]'], nulls)
    # Values that stop a release stop both.
    for table, kind, lines in (("t_int", "integers", INTEGERS), ("t_float", "cuts", CUTS), ("t_text", "values", PLAIN),
                               ("t_date", "dates", DATES["month"])):
        every(table, kind, lines, only_safe=False)


SQLITE_TEXTS = [*HOSTILE, "12", "3", "007", "-3", "1.0", "2020-02-29", "n/a", "000000000000005"]
SQLITE_DAYS = [*DAYS, "2019-02-29", "2020-13-01", "2020-1-1", "01.02.2020", "NA", "2020-02-30 12:00", "", "0000-01-01", "2020",
               "2020-06-30 12:00", "2020-06-30T12:00:00", "2020-06-30 23:59:59.123456", "2019-11-05 00:00"]


def fill_sqlite():
    with sqlite3.connect("t.sqlite") as database:
        def table(name, type_name, values):
            database.execute(f"CREATE TABLE {name} (x {type_name})")
            for value in values:
                database.executemany(f"INSERT INTO {name} VALUES (?)", [(value,)] * (20 * rng.randint(1, 5)))

        table("t_int", "INTEGER", WHOLE)
        table("t_any", "", WHOLE)
        table("t_float", "REAL", [v if v is None else float(v) for v in FLOATS])
        table("t_text", "TEXT", HOSTILE)
        table("t_nocase", "TEXT COLLATE NOCASE", HOSTILE)
        table("t_rtrim", "TEXT COLLATE RTRIM", HOSTILE)
        table("t_words", "TEXT", [v for v in SQLITE_TEXTS if v != "1.0" and (v is None or "-" not in v)])
        table("t_digits", "TEXT", ["12", "3", "007", "n/a", "NA", "", " ", "4", "000000000000005", None, "5", "6"])
        table("t_day", "TEXT", SQLITE_DAYS)
        table("patients", "", [])
        database.execute("DROP TABLE patients")
        database.execute("CREATE TABLE patients (age INTEGER, sex TEXT, born TEXT)")
        database.executemany("INSERT INTO patients VALUES (?, ?, ?)",
                             [(k % 10, "f" if k % 3 else "m", f"2020-{k % 12 + 1:02}-{k % 28 + 1:02}") for k in range(20000)])
    database.close()


def try_sqlite_types():
    nulls = 'null_values = ["NA", "-", -9, "", "2020-02-29"]'

    def every(table, kind, lines, data=""):
        for attributes in grouped(safe(kind, lines)):
            compare("sqlite", "sqlite:t.sqlite", f"SELECT x FROM {table}", attributes, data)

    plain_numbers = ['values = ["1", "2.5", "-3", "0.1", "100", "0.30000000000000004"]']
    for table in ("t_int", "t_any", "t_float"):
        for kind, lines in (("integers", INTEGERS), ("cuts", CUTS), ("values", plain_numbers), ("values", TRUTHS)):
            every(table, kind, lines, nulls)
    every("t_float", "values", ['values = ["inf", "-inf", "1"]'])
    every("t_int", "integers", ["integers = [9223372036854775800, 9223372036854775807]"])
    every("t_int", "integers", ["integers = [-9223372036854775808, -9223372036854775800]"])
    every("t_float", "cuts", ["cuts = [-3.25, 5e-324, 0.30000000000000004, 1.7e308]"])
    for table in ("t_text", "t_nocase", "t_rtrim"):
        every(table, "values", TEXTS)
        every(table, "values", PLAIN, 'null_values = ["NA", "-", ""]')
        every(table, "values", TRUTHS)
    every("t_words", "values", ['values = ["12", "3", "n/a"]'])
    every("t_digits", "integers", INTEGERS, 'null_values = ["NA"]')
    every("t_digits", "cuts", CUTS, 'null_values = ["NA"]')
    for lines in DATES.values():
        every("t_day", "dates", lines, 'null_values = ["NA"]')
    for lines in PARTS.values():
        every("t_day", "part", lines, 'null_values = ["NA"]')


PATIENTS = {"age": ["integers = [0, 9]"], "sex": ['values = ["f", "m"]'],
            "born": ['dates = ["2020-01-01", "2020-12-31"]', 'every = "month"']}


def refuse(name, database, query, *parts, attributes=None, data="", privacy="rho = 1", code=(1, 2), **variables):
    """One line that holds the parts, and no value of a row; no spend."""
    spec, ledger = f"refused{next(number)}.toml", f"refused{next(number)}.ledger"
    write_spec(spec, database, query, attributes or PATIENTS, "push_down = true\n" + data, privacy, ledger)
    done = run("release", spec, "-o", "refused", "--yes", **variables)
    shown = (done.returncode, done.stdout, done.stderr)
    said = [line for line in done.stderr.splitlines() if line.startswith("residua")]
    check(f"{name}: refused", done.returncode in code, shown)
    check(f"{name}: says {parts}", all(part in done.stderr for part in parts), shown)
    check(f"{name}: in one line", len(said) == 1, shown)
    check(f"{name}: without the password", "horse" not in done.stdout + done.stderr, shown)
    check(f"{name}: nothing is spent", not os.path.exists(ledger) and not os.path.exists("refused/measurements.parquet"))
    shutil.rmtree("refused", ignore_errors=True)
    return done


def try_both(database):
    """What does not depend on the kind of database."""
    query = "SELECT age, sex, born FROM patients"
    if database.startswith("sqlite:"):  # PostgreSQL's driver reads no rows of such queries
        compare(database, database, query + " -- all of them", PATIENTS)
        compare(database, database, query + ";\n", PATIENTS)
    compare(database, database, query, {"age": ["cuts = [2, 4.5]"], "sex": PATIENTS["sex"],
                                        "day": ['part = "weekday"', 'column = "born"'],
                                        "month": ['part = "month"', 'column = "born"']})
    compare(database, database, "WITH p AS (SELECT * FROM patients WHERE age < 7) SELECT born, sex, age, age FROM p",
            {"sex": PATIENTS["sex"], "born": PATIENTS["born"]})
    compare(database, database, "SELECT age, sex FROM patients WHERE age < 0",  # no row
            {name: PATIENTS[name] for name in ("age", "sex")})
    # Hostile names of columns and attributes.
    hostile = ['a"b', "it's", "c0", "; DROP TABLE patients; --", "source", "select", "x)", "é"]
    quoted = [name.replace('"', '""') for name in hostile]
    compare(database, database, "SELECT " + ", ".join(f'age % 3 AS "{name}"' for name in quoted) + " FROM patients",
            {name: ["integers = [0, 2]"] for name in hostile})
    compare(database, database, query, {"sex": ['values = ["f", "x\'); DROP TABLE patients; --", "\\\\"]', 'outside = "other"',
                                                "null = true"], "age": PATIENTS["age"]})
    refuse("a column that is there twice", database, "SELECT age, age, sex, born FROM patients", "is there 2 times")
    refuse("a column that is not there", database, "SELECT sex, born FROM patients", "no column 'age'")
    done = refuse("a value outside", database, "SELECT age + 1 AS age, sex, born FROM patients",
                  "column 'age' has a value that is outside 0..9", "outside", "attributes.age")
    check("a value outside: no value and no row", "(row" not in done.stderr and "value 10" not in done.stderr, done.stderr)
    refuse("a missing value", database, "SELECT NULLIF(age, 3) AS age, sex, born FROM patients",
           "column 'age' has no value in at least one row")
    refuse("nearly all rows left out", database, "SELECT age + 20 AS age, sex, born FROM patients",
           "column 'age' leaves out 20000 of 20000 rows",
           attributes={**PATIENTS, "age": ["integers = [0, 8]", 'outside = "drop"']})
    refuse("a domain that is too large", database, query, "data.push_down", "more than 1048576 cells",
           attributes={**PATIENTS, "age": ["integers = [0, 99999]"]})
    refuse("an identifier", database, query, "data.push_down", "identifier",
           privacy='rho = 1\nidentifier = "age"\nmax_rows = 2')
    refuse("a query that writes", database, "DELETE FROM patients", "patients")
    refuse("no such table", database, "SELECT * FROM nobody", "nobody")


def try_published(database):
    """Releases with and without push_down differ in noisy numbers alone, and the plan of neither says where."""
    texts = []
    for down in (False, True):
        spec = f"published{down}.toml"
        write_spec(spec, database, "SELECT age, sex, born FROM patients", PATIENTS, "push_down = true" if down else "",
                   "rho = 0.1", f"published{down}.ledger")
        done = run("release", spec, "-o", f"published{down}", "--yes")
        check("published: released", done.returncode == 0, done.stderr)
        texts.append({})
        for path in glob.glob(f"published{down}/**", recursive=True):
            name = os.path.relpath(path, f"published{down}")
            if os.path.isfile(path) and name.endswith((".json", ".md")):
                with open(path, encoding="utf-8") as file:
                    texts[-1][name] = file.read()
            elif os.path.isfile(path) and name.endswith(".csv"):
                with open(path, encoding="utf-8", newline="") as file:
                    rows = list(csv.reader(file))
                noisy = {k for k, column in enumerate(rows[0]) if column in ("estimate", "ci_lower", "ci_upper")}
                texts[-1][name] = [[len(cell.partition(".")[2]) if k in noisy else cell for k, cell in enumerate(row)]
                                   for row in rows]
    differ = [name for name in texts[0] if texts[0][name] != texts[1].get(name)]
    check("published: the same but for noisy numbers", texts[0].keys() == texts[1].keys() and not differ, differ)
    check("published: no word of push_down", "push_down" not in json.dumps(texts[1]))


def try_plan_files(database):
    """A plan keeps its push_down; versions that do not know it find no database in it."""
    write_spec("planned.toml", database, "SELECT age, sex, born FROM patients", PATIENTS, "push_down = true",
               ledger="planned.ledger")
    done = run("plan", "planned.toml", "-o", "plan.json")
    check("plan: made", done.returncode == 0, done.stderr)
    with open("plan.json") as file:
        data = json.load(file)["data"]
    check("plan: names the database beside push_down alone", data["database"] == "" and data["push_down"] == database, data)
    done = run("measure", "plan.json", "-o", "measured.parquet")
    check("plan: measured", done.returncode == 0, done.stderr)
    with open("measured.parquet", "rb") as file:
        check("plan: the measurement does not say where", database.split(":")[1].encode() not in file.read())
    with open("rows.csv", "w") as file:
        file.write("age,sex,born\n1,f,2020-01-01\n")
    done = run("measure", "plan.json", "--data", "rows.csv", "--ledger", "other.ledger", "-o", "other.parquet")
    check("plan: other rows are refused", done.returncode == 1 and "data.push_down" in done.stderr, done.stderr)
    done = run("check", "planned.toml")
    check("check: says that rows stay", "rows stay in the database" in done.stdout, done.stdout + done.stderr)
    check("check: says what it takes", "together have 240 cells of at most 1048576; their counters take 2 kB" in done.stdout,
          done.stdout)
    write_spec("read.toml", database, "SELECT age, sex, born FROM patients", PATIENTS, ledger="planned.ledger")
    done = run("check", "read.toml")
    check("check: says that they can", "set push_down = true" in done.stdout and "have 240 cells" in done.stdout,
          done.stdout + done.stderr)
    write_spec("large.toml", database, "SELECT age, sex, born FROM patients",
               {**PATIENTS, "age": ["integers = [0, 99999]"]}, ledger="planned.ledger")
    done = run("check", "large.toml")
    check("check: says why they cannot", "cannot count them itself: all attributes together have more than 1048576 cells" in
          done.stdout, done.stdout + done.stderr)
    for made in ("plan.json", "measured.parquet", "planned.ledger"):
        os.remove(made)


def try_unclear():
    """Texts whose cell SQL cannot tell are refused, and never put into a wrong cell."""
    with sqlite3.connect("t.sqlite") as database:
        for k, value in enumerate(("1.0", " 5", "5.5", "+3", "nan", "Infinity", "1e0", b"3", "3\0", "-2")):
            database.execute(f"CREATE TABLE odd{k} (x)")
            database.execute(f"INSERT INTO odd{k} VALUES (?)", (value,))
            database.commit()
            refuse(f"unclear: {value!r}", "sqlite:t.sqlite", f"SELECT x FROM odd{k}", "whose cell the database cannot tell",
                   attributes={"x": ["integers = [-9, 9]", 'outside = "drop"']})
        for k, value in enumerate((" 2020-01-01", "2020-01-01 ", "2020-01-01T10:00Z", "2020-01-01 10:00+01", "2020-01-01 24:00")):
            database.execute(f"CREATE TABLE oddday{k} (x)")
            database.execute(f"INSERT INTO oddday{k} VALUES (?)", (value,))
            database.commit()
            refuse(f"unclear: {value!r}", "sqlite:t.sqlite", f"SELECT x FROM oddday{k}", "whose cell the database cannot tell",
                   attributes={"x": [*DATES["day"][:1], 'outside = "drop"']})
    database.close()
    refuse("unclear: a listed number as text", "sqlite:t.sqlite", "SELECT x FROM odd0", "whose cell the database cannot tell",
           attributes={"x": ['values = ["1", "2"]', 'outside = "drop"']})
    refuse("numbers written in another way", "sqlite:t.sqlite", "SELECT x FROM t_int", "listed in another way",
           attributes={"x": ['values = ["01", "2"]', 'outside = "drop"']})


def try_postgres_faults(server):
    query = "SELECT age, sex, born FROM patients"
    refuse("wrong password", server.url, query, "password authentication failed", "PGPASSWORD", PGPASSWORD="wrong")
    refuse("dropped in the middle", server.url,
           "SELECT age, sex, born FROM patients WHERE age < 9 OR pg_terminate_backend(pg_backend_pid())", "terminat")
    server.execute("CREATE ROLE guest LOGIN PASSWORD 'correct horse';")
    refuse("no privilege", server.url.replace("curator@", "guest@"), query, "permission denied", "let its user read")
    slow = server.url + "?options=-c%20statement_timeout%3D200"
    refuse("a statement that takes too long", slow, "SELECT age, sex, born FROM patients, pg_sleep(2)", "statement timeout")
    refuse("a column of another type", server.url, "SELECT '{1}'::int[] AS age, sex, born FROM patients", "integer[]")
    refuse("numbers in texts", server.url, "SELECT age::text AS age, sex, born FROM patients", "column 'age'",
           "numbers in a column of texts")
    refuse("dates in texts", server.url, "SELECT age, sex, born::text AS born FROM patients", "dates in a column of texts")
    refuse("a sequence", server.url, "SELECT nextval('numbers')::int % 2 AS age, sex, born FROM patients", "read-only transaction")
    for k, value in enumerate(("1.0", "1e0", ".5", "-1.")):
        if "." in value:
            refuse(f"unclear: {value}", server.url, f"SELECT '{value}'::text AS age, sex, born FROM patients",
                   "whose cell the database cannot tell",
                   attributes={**PATIENTS, "age": ['values = ["1", "2"]', 'outside = "drop"']})
    for value in ("1e301", "1e-301", "-1e400"):
        refuse(f"unclear: numeric {value}", server.url, f"SELECT {value}::numeric AS age, sex, born FROM patients",
               "whose cell the database cannot tell", attributes={**PATIENTS, "age": ["integers = [0, 9]", 'outside = "drop"']})


with test:
    fill_sqlite()
    refuse("a DuckDB file", "people.duckdb", "SELECT 1 AS age", "data.push_down", "read through a driver")
    try_sqlite_types()
    try_both("sqlite:t.sqlite")
    try_published("sqlite:t.sqlite")
    try_plan_files("sqlite:t.sqlite")
    try_unclear()
    of_test = test.server()
    fill_postgres(of_test)
    of_test.execute("CREATE SEQUENCE numbers;")
    try_postgres_types(of_test)
    try_both(of_test.url)
    try_published(of_test.url)
    try_plan_files(of_test.url)
    try_postgres_faults(of_test)
