#!/usr/bin/env python3
"""Several processes measure one plan into one file at once, or resume one spend: race_measure.py BINARY [ROUNDS]

Only the first one measures: there is one spend and one measurement, complete and in place."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

from killing import binary, run, write_people, write_spec

rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 6
LEDGER = "people.csv.ledger"
# Reading must take longer than measuring: a process that starts while another measures is still reading when that is done.
ROWS = 1_500_000
SIZES = {"a": 120, "b": 100, "c": 60}


def start(*arguments):
    return subprocess.Popen([binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_measure(folder):
    return start("measure", f"{folder}/plan.json", "-o", f"{folder}/measurements.parquet", "--json")


def start_release(k):
    return start("release", f"spec{k}.toml", "-o", f"out{k}", "--yes", "--json")


def spends_into(folder):
    with sqlite3.connect(f"file:{LEDGER}?mode=ro", uri=True) as ledger:
        rows = ledger.execute("SELECT kind, what FROM entries WHERE kind IN ('reserved', 'confirmed')").fetchall()
    ledger.close()
    return [kind for kind, what in rows if os.path.dirname(what) == os.path.abspath(folder)]


def wait_for_spend(folder, process):
    while process.poll() is None and not spends_into(folder):
        time.sleep(0.002)


def files_seen(name, processes):
    """Every file that had the name while the processes ran, or has it when they are done."""
    seen = set()
    running = True
    while running:
        running = any(process.poll() is None for process in processes)
        if os.path.exists(name):
            seen.add(os.stat(name).st_ino)
        time.sleep(0.002)
    return seen


def count_measured(processes):
    """How many say that they measured: not refused, and not found done."""
    measured = 0
    for process in processes:
        said, complained = process.communicate()
        # A release that is done leaves a plan that does not say where the data is, which is bad input for a late start.
        assert process.returncode in (0, 2) or "the plan names no data" in complained, complained
        measured += process.returncode == 0 and not json.loads(said).get("already_measured", False)
    return measured


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    write_people(ROWS)
    for k in range(rounds + 1):
        write_spec(f"spec{k}.toml", f"1/{k + 1}", SIZES)
        os.mkdir(f"out{k}")
        run("plan", f"spec{k}.toml", "-o", f"out{k}/plan.json")
    run("release", "spec0.toml", "-o", "out0", "--yes")
    run("ledger", "grant", "--rho", "1000000", "--reason", "test")

    for k in range(1, rounds + 1):
        if k % 3 == 0:  # all at once
            processes = [start_measure(f"out{k}"), start_release(k), start_measure(f"out{k}"), start_release(k)]
        else:
            first = start_measure(f"out{k}")
            wait_for_spend(f"out{k}", first)
            if k % 3 == 1:  # the others find a spend that another is using
                processes = [first]
            else:  # they find one that was interrupted
                first.kill()
                first.communicate()
                processes = []
            processes += [start_release(k) for _ in range(3)] + [start_measure(f"out{k}")]
        seen = files_seen(f"out{k}/measurements.parquet", processes)
        assert len(seen) == 1, f"round {k}: {len(seen)} measurements were in place under one spend"
        measured = count_measured(processes)
        assert measured == 1, f"round {k}: {measured} measurements under one spend"
        assert spends_into(f"out{k}") == ["confirmed"], spends_into(f"out{k}")
        run("verify", f"out{k}/measurements.parquet")
        assert [name for name in os.listdir(f"out{k}") if name.startswith("measurements.parquet.")] == []
    print(f"{rounds} races, one measurement each")
