#!/usr/bin/env python3
"""Exact counts of rows that a database counts itself, beside those of the same rows read: push_down.py SAME_COUNTS [DOMAINS [SEED]]

Random domains on one table with hostile values of all types, in PostgreSQL and SQLite: every encoding with random bounds, every
policy, null values. There is no noise: one row in another cell shows, also in the joint table of all attributes.
database_test.py says what it needs."""
import json
import os
import random
import sqlite3
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(root, "tests", "fixtures"))

from database_test import DatabaseTest  # noqa: E402

test = DatabaseTest(sys.argv[1])
DOMAINS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 7
rng = random.Random(SEED)
ROWS = 1500

WHOLE = [-(2**63), -(2**53) - 1, -4, -3, -1, 0, 1, 2, 5, 6, 100, 2**53 + 1, 10**15, 2**63 - 1, None, -9]
SMALL = [-32768, -4, -3, 0, 1, 5, 6, 100, 32767, None, -9]
FLOATS = ["-Infinity", "Infinity", "NaN", "-0.0", "0", "0.1", "0.30000000000000004", "2.5", "-3.5", "-3", "5.5", "1", "1e2",
          "5e-324", "1.7e308", "4503599627370497.5", "-9", None, "99.99999999999999"]
NUMERICS = ["NaN", "Infinity", "-Infinity", "0", "-0.00", "1", "1.0", "2.50", "-3", "-3.000", "100.0", "0.10",
            "4.9999999999999999999999", "5.0000000000000000000001", "-9.0", "123456789012345678901234567890", None]
TEXTS = ["a", "A", "b", "it's", '"q"', "\\", "", " ", " a", "a ", "é", "e\u0301", "ß", "日本", "\U0001f600", "%", "_", "a\nb", "\t",
         "NA", "-", "other", "true", "TRUE", "false", "null", "'; DROP TABLE t; --", "E'x", "$1", "{}", "7", "007", "x" * 3000, None]
DAYS = ["0001-01-01", "1582-10-15", "1899-12-31", "1969-12-31", "1970-01-01", "2000-02-29", "2019-12-29", "2019-12-30", "2019-12-31",
        "2020-01-01", "2020-02-29", "2020-12-31", "2021-01-03", "2021-01-04", "9999-12-31", None]
ODD_DAYS = [*DAYS, "2019-02-29", "2020-13-01", "2020-1-1", "01.02.2020", "NA", "", "2020", "0000-01-01"]
TIMES = ["2019-12-31 23:59:59.999999", "2020-01-01 00:00:00", "2020-06-30 12:00:00.5", "1969-12-31 23:59:59.5", "1970-01-01 00:00:00",
         "0001-01-01 00:00:00", "9999-12-31 23:59:59", None]
ZONED = [f"{time}{zone}" for time in TIMES[:5] for zone in ("+05:30", "-11:00", "+00", "+14")] + [None]

# Columns: name, type, values, encodings.
NUMBERS = ("integers", "cuts", "numbers")
POSTGRES = [
    ("c_big", "bigint", WHOLE, NUMBERS), ("c_small", "smallint", SMALL, NUMBERS), ("c_float", "double precision", FLOATS, NUMBERS),
    ("c_real", "real", [v for v in FLOATS if v not in ("1.7e308", "5e-324")], NUMBERS), ("c_numeric", "numeric", NUMERICS, NUMBERS),
    ("c_bool", "boolean", ["true", "false", None], ("integers", "cuts", "truths")), ("c_text", "text", TEXTS, ("texts", "truths")),
    ("c_nocase", "text COLLATE nocase", TEXTS, ("texts", "truths")),
    ("c_char", "char(3)", [v for v in TEXTS if v is None or len(v) <= 3], ("texts",)),
    ("c_date", "date", DAYS, ("dates", "weekday", "month")),
    ("c_time", "timestamp", TIMES, ("dates", "weekday", "month", "hour")),
    ("c_zoned", "timestamptz", ZONED, ("dates", "weekday", "month", "hour")),
]
SQLITE = [
    ("c_big", "INTEGER", WHOLE, NUMBERS),
    # The driver reads whole numbers beside fractions as doubles: none beyond 2^53.
    ("c_any", "", [*(v for v in WHOLE if v is None or abs(v) < 2**53), 0.5, -0.0, 1e300], NUMBERS),
    ("c_float", "REAL", [v if v is None else float(v) for v in FLOATS], NUMBERS), ("c_text", "TEXT", TEXTS, ("texts", "truths")),
    ("c_nocase", "TEXT COLLATE NOCASE", TEXTS, ("texts", "truths")), ("c_rtrim", "TEXT COLLATE RTRIM", TEXTS, ("texts",)),
    ("c_digits", "TEXT", ["12", "3", "007", "n/a", "", " ", "4", "000000000000005", None, "5", "6"], ("integers", "cuts")),
    ("c_date", "TEXT", ODD_DAYS, ("dates", "weekday", "month")),
    ("c_time", "TEXT", [*TIMES, *ODD_DAYS, "2020-06-30T12:00:00", "2020-06-30 12:00"], ("dates", "weekday", "month", "hour")),
]


def toml(value):
    return json.dumps(value, ensure_ascii=True)


def cells_of(kind, values):
    """Lines of an encoding, the number of its cells, and its policies."""
    if kind == "integers":
        low = rng.choice([-(2**63), -(2**53), -10, -3, 0, 1, 2**63 - 8]) if rng.random() < 0.3 else rng.randint(-10, 5)
        size = rng.randint(1, 8)
        return [f"integers = [{low}, {low + size - 1}]"], size, ("error", "clamp", "drop", "null")
    if kind == "cuts":
        cuts = sorted({rng.choice([-1e308, -3.5, -3, -1.5, -0.0, 0.1, 0.30000000000000004, 1, 2.5, 5, 1e15, 5e-324, 9007199254740993.0])
                       for _ in range(rng.randint(1, 6))})
        return [f"cuts = [{', '.join(repr(float(cut)) for cut in cuts)}]"], len(cuts) + 1, ("error", "drop", "null")
    if kind in ("numbers", "texts", "truths"):
        listed = {"numbers": ["1", "2.5", "-3", "0.1", "100", "0.30000000000000004", "0", "5", "9007199254740993"],
                  "truths": ["true", "false"],
                  "texts": [value for value in TEXTS if value not in (None, "other", "NA", "-", "null") and len(value) < 100]}[kind]
        chosen = listed if kind == "truths" else rng.sample(listed, rng.randint(1, len(listed)))
        return [f"values = {toml(chosen)}"], len(chosen), ("error", "drop", "null", "other")
    if kind == "dates":
        first, last = sorted(rng.sample([day for day in DAYS[2:-2] if day], 2))
        if first < "1970":
            first = "1969-12-31"
        last = max(first, last)
        every = rng.choice(["day", "week", "month", "quarter", "year"])
        days = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}[every]
        years = int(last[:4]) - int(first[:4]) + 1
        return [f'dates = ["{first}", "{last}"]', f'every = "{every}"'], years * 366 // days + 2, ("error", "clamp", "drop", "null")
    return [f'part = "{kind}"'], {"weekday": 7, "month": 12, "hour": 24}[kind], ("error", "drop", "null")


def random_spec(columns, null_values):
    """Attributes, at most 2^20 cells together."""
    attributes, joint = {}, 1
    for k in range(rng.randint(1, 4)):
        name, _, values, kinds = rng.choice(columns)
        lines, size, policies = cells_of(rng.choice(kinds), values)
        # Values that stop a release would stop nearly all.
        policy = rng.choice(policies) if rng.random() < 0.1 else rng.choice(policies[1:])
        null = policy == "null" or policy != "drop" or rng.random() < 0.5
        if joint * (size + 2) >= 2**20:
            continue
        joint *= size + 2
        attributes[f"x{k}"] = [*lines, f'outside = "{policy}"', f"null = {str(null).lower()}", f'column = "{name}"']
    return attributes, null_values


def write_spec(path, database, query, attributes, null_values):
    with open(path, "w", encoding="utf-8") as spec:
        spec.write(f"[data]\ndatabase = {toml(database)}\nquery = {toml(query)}\nledger = \"a.ledger\"\n")
        spec.write(f"null_values = {toml(null_values)}\n" if null_values else "")
        spec.write('[privacy]\nrho = 1\n[workload]\nmarginals = "1"\n')
        for name, lines in attributes.items():
            spec.write(f"[attributes.{toml(name)}]\n" + "\n".join(lines) + "\n")


def compare(pairs):
    with open("list.txt", "w") as file:
        file.writelines(f"{read} {pushed}\n" for read, pushed in pairs)
    done = test.run("list.txt")
    found = done.stdout.splitlines()
    test.check("all pairs were compared", done.returncode == 0 and len(found) == len(pairs), (done.returncode, done.stderr[-500:]))
    return found


def try_database(name, database, columns):
    query = "SELECT " + ", ".join(column[0] for column in columns) + " FROM wide"
    pairs, specs = [], []
    for k in range(DOMAINS):
        null_values = rng.choice([[], ["NA", "-"], ["-9", "NA"], ["2020-02-29", "NA"]])
        attributes, nulls = random_spec(columns, null_values)
        if not attributes:
            continue
        path = f"{name}{k}.toml"
        write_spec(path, database, query, attributes, nulls)
        pairs.append((path, path))
        specs.append(path)
    found = compare(pairs)
    for path, line in zip(specs, found):
        with open(path, encoding="utf-8") as file:
            test.check(f"{name}: equal counts", not line.startswith("differ"), (line, file.read()))
    said = {word: sum(line.startswith(word) for line in found) for word in ("same", "refused", "unclear")}
    print(name, said, flush=True)
    test.check(f"{name}: most are counted", said["same"] > len(found) / 2, said)
    # One row less in the joint table must show, and one value in another cell.
    attributes = {"x": ["integers = [-3, 5]", 'outside = "drop"', 'column = "c_big"'],
                  "y": ['values = ["a", "b", "é"]', 'outside = "other"', "null = true", 'column = "c_text"']}
    write_spec("all.toml", database, "SELECT c_big, c_text FROM wide", attributes, [])
    write_spec("less.toml", database, "SELECT c_big, c_text FROM wide WHERE id <> (SELECT min(id) FROM wide WHERE c_big = 1)",
               attributes, [])
    moved = "SELECT CASE WHEN id = (SELECT min(id) FROM wide WHERE c_big = 1) THEN 2 ELSE c_big END AS c_big, c_text FROM wide"
    write_spec("moved.toml", database, moved, attributes, [])
    found = compare([("all.toml", "all.toml"), ("all.toml", "less.toml"), ("all.toml", "moved.toml")])
    test.check(f"{name}: a row less shows", found[0] == "same" and found[1].startswith("differ") and found[2].startswith("differ"), found)


def literal(value):
    return "NULL" if value is None else "E'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


with test:
    with sqlite3.connect("wide.sqlite") as file:
        file.execute("CREATE TABLE wide (id INTEGER, " + ", ".join(f"{column[0]} {column[1]}" for column in SQLITE) + ")")
        file.executemany(f"INSERT INTO wide VALUES (?{', ?' * len(SQLITE)})",
                         [(k, *(rng.choice(column[2]) for column in SQLITE)) for k in range(ROWS)])
    file.close()
    try_database("sqlite", "sqlite:wide.sqlite", SQLITE)
    server = test.server()
    rows = ",\n".join(f"({k}, " + ", ".join(literal(rng.choice(column[2])) for column in POSTGRES) + ")" for k in range(ROWS))
    server.execute("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n"
                   "CREATE TABLE wide (id int, " + ", ".join(f"{column[0]} {column[1]}" for column in POSTGRES) + ");\n"
                   f"INSERT INTO wide VALUES {rows};\n")
    for zone in ("UTC", "Asia%2FKolkata"):
        try_database("postgresql_" + zone[:3], f"{server.url}?options=-c%20timezone%3D{zone}", POSTGRES)
