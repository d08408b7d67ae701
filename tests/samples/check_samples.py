#!/usr/bin/env python3
"""Reads what earlier versions wrote: check_samples.py RESIDUA FOLDER...

Each folder was made by make_samples.sh. Everything in it must verify, give the same tables and answers to the last
digit, and be known to its ledger, so that nothing is spent a second time. The same files with a newer format version
must be refused."""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

residua = os.path.abspath(sys.argv[1])
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED: " + what)


def run(*arguments, code=0):
    done = subprocess.run([residua, *arguments], capture_output=True, text=True, timeout=120)
    check(done.returncode == code, f"{' '.join(arguments)} gives {done.returncode}, not {code}: {done.stderr}")
    return done


def is_coarse(now, then):
    """Intervals of noise on whole numbers were too short: those of residua up to 0.4 may be wider now, by little."""
    lower, upper = float(then["ci_lower"]) - float(now["ci_lower"]), float(now["ci_upper"]) - float(then["ci_upper"])
    return is_first_format and 0 <= lower <= 0.51 and abs(upper - lower) < 1e-9


def holds(now, then):
    """All that was said then is said now; more may be said."""
    if isinstance(then, dict):
        kept = dict(then)
        if "ci_lower" in then and is_coarse(now, then):
            kept.pop("ci_lower")
            kept.pop("ci_upper")
        return isinstance(now, dict) and all(key in now and holds(now[key], kept[key]) for key in kept)
    if isinstance(then, list):
        return len(now) == len(then) and all(holds(a, b) for a, b in zip(now, then))
    return now == then


def same_json(text, name):
    with open(name, encoding="utf-8") as file:
        check(text and holds(json.loads(text), json.load(file)), f"{name} is not what is computed now:\n{text}")


def same_guarantee(text, name):
    """Epsilon is a bound: a version may find a better one."""
    now = json.loads(text)
    with open(name, encoding="utf-8") as file:
        then = json.load(file)
    epsilon = then.pop("epsilon")
    check(now.pop("epsilon") <= epsilon * (1 + 1e-11) and holds(now, then), f"{name} is not what is computed now:\n{text}")


def rows_of(name):
    with open(name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same_tables(measurements, folder):
    with open(f"{folder}/residua.json", encoding="utf-8") as file:
        digits = [] if "digits" in json.load(file) else ["--digits", "full"]
    run("tables", measurements, "-o", "again", *digits)
    names = sorted(os.listdir(folder))
    check(names == sorted(os.listdir("again")), f"{folder} has other tables")
    tables = [name for name in names if name.endswith(".csv")]
    different = [name for name in tables if not holds(rows_of(f"again/{name}"), rows_of(f"{folder}/{name}"))]
    check(tables and not different, f"{folder}: other numbers in {different}")
    shutil.rmtree("again")


def reads_everything():
    for name in ["release/plan.json", "wide.json", "too_dear.json", "wide.parquet"]:
        run("verify", name)
    same_guarantee(run("verify", "release/measurements.parquet", "--json").stdout, "verified.json")
    same_tables("release/measurements.parquet", "release/tables")
    same_tables("wide.parquet", "wide_tables")
    with open("answers.json", encoding="utf-8") as file:
        questions = [answer["query"] for answer in json.load(file)["answers"]]
    same_json(run("query", "release/measurements.parquet", *questions, "--json").stdout, "answers.json")
    same_json(run("ledger", "--ledger", "people.csv.ledger", "--json").stdout, "ledger.json")
    run("plan", "people.toml", "--basis-cache", "bases.json")
    if not is_first_format:
        run("verify", "curve.json")
        same_guarantee(run("verify", "curve.parquet", "--json").stdout, "curve_verified.json")
        same_tables("curve.parquet", "curve_tables")
        same_json(run("ledger", "--ledger", "curve.csv.ledger", "--json").stdout, "curve_ledger.json")


def spends_nothing_again():
    again = run("release", "people.toml", "-o", "release", "--yes")
    check("nothing more was spent" in again.stdout, "a release is not known to its ledger: " + again.stdout)
    same_json(run("ledger", "--ledger", "people.csv.ledger", "--json").stdout, "ledger.json")
    # Plans in releases of later versions do not name the data.
    plans = {"release/plan.json": ["--data", "people.csv"], "wide.json": []}
    if not is_first_format:
        plans["curve.json"] = []
    for plan, named in plans.items():
        done = run("measure", plan, *named, "-o", "twice.parquet", code=2)
        check("was measured before" in done.stderr, f"{plan} was not known to its ledger: {done.stderr}")


def refuses_newer(*arguments):
    done = run(*arguments, code=1)
    check(done.stderr.count("\n") == 1 and done.stderr.endswith("update residua\n"),
          f"a newer format is refused in other words: {done.stderr}")


def refuses_newer_formats():
    with open("release/plan.json", encoding="utf-8") as file:
        plan = file.read()
    with open("newer.json", "w", encoding="utf-8") as file:
        file.write(re.sub('"version": [12]', '"version": 3', plan, count=1))
    refuses_newer("verify", "newer.json")
    refuses_newer("measure", "newer.json", "-o", "never.parquet")

    # In Parquet's footer a text follows its length.
    with open("wide.parquet", "rb") as file:
        measurements = file.read()
    newer = re.sub(b"residua_version\x18\x01[12]", b"residua_version\x18\x013", measurements)
    check(newer != measurements, "the format version is not where it was in a measurement file")
    with open("newer.parquet", "wb") as file:
        file.write(newer)
    refuses_newer("verify", "newer.parquet")
    refuses_newer("tables", "newer.parquet", "-o", "never")

    shutil.copy("wide.ledger", "newer.ledger")
    with sqlite3.connect("newer.ledger") as ledger:
        ledger.execute("PRAGMA user_version = 2")
    refuses_newer("ledger", "--ledger", "newer.ledger")
    refuses_newer("measure", "wide.json", "-o", "never.parquet", "--ledger", "newer.ledger")


for folder in [os.path.abspath(name) for name in sys.argv[2:]]:
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(folder, scratch, dirs_exist_ok=True)
        os.chdir(scratch)
        with open("release/plan.json", encoding="utf-8") as file:
            is_first_format = json.load(file)["version"] == 1
        reads_everything()
        spends_nothing_again()
        refuses_newer_formats()
        os.chdir("/")
    print(f"{os.path.basename(folder)}: {'read' if failures == 0 else 'NOT READ'}")
sys.exit(failures > 0 or len(sys.argv) < 3)
