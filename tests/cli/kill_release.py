#!/usr/bin/env python3
"""kill -9, or an interruption, at random moments of a release, run again until it is complete: kill_release.py BINARY [RELEASES]

However often it was killed, a release is spent once, its files are complete, and the summary is there. An interruption says
that the same command continues."""
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from killing import binary, run, write_people, write_spec

releases = int(sys.argv[2]) if len(sys.argv) > 2 else 20
TABLES = ("total", "a", "b", "c", "a_x_b", "a_x_c", "b_x_c", "a_x_b_x_c")
FORMATS = ("csv", "parquet")
random.seed(2)  # of the moments only; the noise has no seed

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_people()
    for k in range(releases + 1):
        write_spec(f"spec{k}.toml", f"1/{k + 1}")
    start = time.monotonic()
    run("release", "spec0.toml", "-o", "out0", "--yes")
    duration = time.monotonic() - start
    run("ledger", "grant", "--rho", "1000000", "--reason", "test")

    kills = 0
    interruptions = 0
    for k in range(1, releases + 1):
        while True:
            process = subprocess.Popen([binary, "release", f"spec{k}.toml", "-o", f"out{k}", "--yes", "--format", FORMATS[k % 2]],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(random.uniform(0, 1.3 * duration))
            sent = random.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
            process.send_signal(sent)
            message = process.communicate()[1]
            if process.returncode == 0:
                break
            if process.returncode == 128 + sent:
                assert message.endswith("\nresidua: interrupted; run the same command again: it continues, and nothing is "
                                        "spent twice\n"), message
                interruptions += 1
            else:  # killed, or before the program began
                assert process.returncode == -sent, message
            kills += 1
        run("verify", f"out{k}/measurements.parquet")
        assert sorted(os.listdir(f"out{k}")) == ["index.html", "measurements.parquet", "plan.json", "summary.md", "tables"], os.listdir(f"out{k}")
        tables = sorted(os.listdir(f"out{k}/tables"))
        assert tables == sorted([f"{name}.{FORMATS[k % 2]}" for name in TABLES] + ["residua.json"]), tables

    # Killed while tables are written, of three million answers: the same measurements are made into tables.
    sizes = {"a": 150, "b": 150, "c": 150}
    for k, form in enumerate(FORMATS, start=releases + 1):
        write_spec(f"spec{k}.toml", f"1/{k + 1}", sizes)
        command = [binary, "release", f"spec{k}.toml", "-o", f"out{k}", "--yes", "--format", form]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not glob.glob(f"out{k}/tables.*/total.*"):
                time.sleep(0.001)
            process.kill()
        assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
        kills += 1
        with open(f"out{k}/measurements.parquet", "rb") as file:
            measured = file.read()
        subprocess.run(command, check=True, capture_output=True)
        with open(f"out{k}/measurements.parquet", "rb") as file:
            assert file.read() == measured, "it was measured again"
        assert sorted(os.listdir(f"out{k}")) == ["index.html", "measurements.parquet", "plan.json", "summary.md", "tables"], os.listdir(f"out{k}")
        tables = sorted(os.listdir(f"out{k}/tables"))
        assert tables == sorted([f"{name}.{form}" for name in TABLES] + ["residua.json"]), tables
    releases += len(FORMATS)

    ledger = json.loads(run("ledger", "--json"))
    spends = [entry for entry in ledger["entries"] if entry["kind"] != "granted"]
    assert len(spends) == releases + 1, spends
    assert all(entry["kind"] == "spent" for entry in spends), spends
    while interruptions == 0:
        releases += 1
        write_spec(f"spec{releases}.toml", f"1/{releases + 1}")
        with subprocess.Popen([binary, "release", f"spec{releases}.toml", "-o", f"out{releases}", "--yes"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not os.path.exists(f"out{releases}") and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
        interruptions = process.returncode == 128 + signal.SIGINT
    print(f"{releases} releases killed {kills} times, each spent once")
