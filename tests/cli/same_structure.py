#!/usr/bin/env python3
"""same_structure.py RESIDUA LIBDUCKDB: releases of tables of many sizes differ in their noisy numbers and in nothing else.

Compared are the names of all files, the whole text of plan.json, summary.md and residua.json, all of the page but its
noisy values, the columns, labels and standard deviations of every table, the number of decimals of noisy ones, and of
Parquet files the schema, metadata, row groups, order and width of rows; of tables also the place and encoding of every
page. The sizes are those at which counting changes, with their neighbours."""
import base64
import csv
import ctypes
import gzip
import json
import os
import subprocess
import sys
import tempfile

residua, library = (os.path.abspath(argument) for argument in sys.argv[1:3])
NOISY = {"estimate", "ci_lower", "ci_upper", "sum", "sum_ci_lower", "sum_ci_upper"}
# What follows from noisy numbers: also whether there is a mean, its error and its decimals.
MEANS = {"mean", "mean_std_dev", "mean_ci_lower", "mean_ci_upper", "mean_note"}
# Digests are as noisy as what they cover; the identity of the ledger is random.
DIGESTS = "('residua_row_groups', 'residua_seal', 'residua_data')"


class DuckDb:
    """Runs SQL; results are written to a file and read back."""

    def __init__(self):
        self.library = ctypes.CDLL(library)
        self.library.duckdb_result_error.restype = ctypes.c_char_p
        database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0
        # Files of one name replace each other here, some within a second: DuckDB would take one for another.
        self.run("SET enable_external_file_cache = false")

    def run(self, sql):
        result = ctypes.create_string_buffer(256)  # a duckdb_result, and room
        done = self.library.duckdb_query(self.connection, sql.encode(), result)
        assert done == 0, self.library.duckdb_result_error(result)
        self.library.duckdb_destroy_result(result)

    def rows(self, select):
        self.run(f"COPY ({select}) TO 'result.csv' (FORMAT csv, HEADER false, NULLSTR 'none')")
        with open("result.csv", encoding="utf-8") as file:
            return file.read()


def structure_of_parquet(duckdb, path):
    columns = list(csv.reader(duckdb.rows(f"SELECT column_name FROM (DESCRIBE FROM '{path}')").splitlines()))
    shown = [f'"{name}" IS NULL' if name in ("value", "wide_value") else f'"{name}"'
             for (name,) in columns if name not in NOISY | MEANS]
    return [duckdb.rows(f"SELECT name, type, num_children, logical_type, repetition_type FROM parquet_schema('{path}')"),
            duckdb.rows(f"SELECT decode(key), CASE WHEN decode(key) IN {DIGESTS} THEN octet_length(value)::VARCHAR "
                        f"ELSE decode(value) END FROM parquet_kv_metadata('{path}')"),
            duckdb.rows("SELECT row_group_id, row_group_num_rows, path_in_schema, num_values, type, compression "
                        f"FROM parquet_metadata('{path}')"),
            # Tables are not compressed: not even where a page begins may differ. Columns of means come last, and have
            # notes where noisy counts are too uncertain.
            duckdb.rows("SELECT encodings, dictionary_page_offset, data_page_offset, total_compressed_size, stats_min_value, "
                        f"stats_max_value FROM parquet_metadata('{path}') WHERE path_in_schema NOT IN {tuple(sorted(MEANS))}")
            if ["estimate"] in columns else "",
            duckdb.rows(f"SELECT {', '.join(shown)} FROM '{path}'")]


def structure_of_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    kept = [k for k, name in enumerate(header) if name not in NOISY | MEANS]
    noisy = [k for k, name in enumerate(header) if name in NOISY]
    decimals = [[len(row[k].partition(".")[2]) for k in noisy] for row in rows]
    return [header, decimals] + [[len(row)] + [row[k] for k in kept] for row in rows]


def structure_of_page(path):
    """All of the page but the noisy values: those are bytes at its end, each set in as many as its noisy values need."""
    with open(path, encoding="utf-8") as file:
        before, mark, rest = file.read().partition(' id="release">')
    packed, _, after = rest.partition("<")
    payload = gzip.decompress(base64.b64decode(packed))
    length = int.from_bytes(payload[:4], "little")
    header = json.loads(payload[4:4 + length])
    # The page says how large the measurement file beside it is, and its seal, which covers its digests: both follow
    # from the noisy values in that file.
    with open(os.path.join(os.path.dirname(path), "measurements.parquet"), "rb") as file:
        measurements = file.read()
    assert len(header["seal"]) == 71 and header.pop("seal").encode() in measurements
    size = f'"bytes":{len(measurements)},'
    assert before.count(size) == 1
    before = before.replace(size, "")
    widths = [item.pop() for item in header["sets"]]
    assert mark and all(1 <= width <= 16 for width in widths)
    return [before, after, header]


def structure_of_release(duckdb, folder):
    structure = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if name.endswith(".parquet"):
                structure[path] = structure_of_parquet(duckdb, path)
            elif name.endswith(".html"):
                structure[path] = structure_of_page(path)
            elif name.endswith(".csv"):
                structure[path] = structure_of_csv(path)
            else:
                with open(path, encoding="utf-8") as file:
                    structure[path] = file.read()
    return structure


def release(duckdb, spec, attributes, num_rows, tables):
    """In a folder of its own, so that all names are the same."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("people.toml", "w", encoding="utf-8") as file:
            file.write(spec)
        with open("people.csv", "w", encoding="utf-8") as file:
            file.write(",".join(attributes) + "\n")
            for row in range(num_rows):
                file.write(",".join(str((row * 7 + k) % size) for k, size in enumerate(attributes.values())) + "\n")
        done = subprocess.run([residua, "release", "people.toml", "-o", "out", "--yes", "--format", tables],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        structure = structure_of_release(duckdb, "out")
        os.chdir(home)
    return structure


def width_change(plan):
    """The least number of rows for which the set of all attributes is counted in 128 bits."""
    largest = 1
    for attribute in plan["attributes"]:
        largest *= attribute["size"] if attribute["queries"] == "identity" else 1
    for basis in plan["bases"]:
        entry = max(abs(value) for row in basis["matrix"] for value in row)
        largest *= entry ** sum(len(plan["classes"][k]) for k in basis["classes"])
    return -(-2**63 // largest)


def spec_of(attributes, queries, marginals, privacy):
    text = f'[data]\nsource = "people.csv"\n[privacy]\n{privacy}\n[workload]\nmarginals = "{marginals}"\n'
    for name, size in attributes.items():
        kind = queries.get(name, "identity")
        cells = f"integers = [0, {size - 1}]" if kind == "mean" else f"size = {size}"
        text += f'[attributes.{name}]\n{cells}\nqueries = "{kind}"\n'
    return text


BINARY = {name: 2 for name in "abcdef"}
MIXED = {"a": 6, "b": 6, "c": 6, "d": 100}
PREFIXES = dict.fromkeys("abc", "prefix")
RHO = "rho = 0.5\ndelta = 1e-9"

duckdb = DuckDb()
num_releases = 0
for attributes, queries, marginals, privacy, tables in [
        (BINARY, {}, "<=3", RHO, "csv"),
        (BINARY, {}, "<=3", RHO + '\nneighbours = "replace-one"', "parquet"),
        (MIXED, {"a": "mean", "d": "mean"}, "<=3", RHO, "csv"),
        (MIXED, {"d": "mean"}, "<=3", RHO, "parquet"),
        (MIXED, PREFIXES, "<=4", RHO, "parquet")]:
    spec = spec_of(attributes, queries, marginals, privacy)
    first = release(duckdb, spec, attributes, 0, tables)
    num_rows = {1, 599, 600, 601, 20000}
    if "prefix" in queries.values():
        change = width_change(json.loads(first["out/plan.json"]))
        assert 100 < change < 100000, change
        num_rows |= {740, 741, change - 1, change}
    for count in sorted(num_rows):
        other = release(duckdb, spec, attributes, count, tables)
        assert sorted(other) == sorted(first), (sorted(other), sorted(first))
        for path, structure in first.items():
            assert other[path] == structure, f"{path} of {count} rows is not built as that of none"
        num_releases += 1
print(f"{num_releases} releases of different numbers of rows are built alike")
