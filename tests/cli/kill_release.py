#!/usr/bin/env python3
"""kill -9 at random moments of a release, run again until it is complete: kill_release.py BINARY [RELEASES]

However often it was killed, a release is spent once, its files are complete, and the summary is there."""
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
    for k in range(1, releases + 1):
        while True:
            process = subprocess.Popen([binary, "release", f"spec{k}.toml", "-o", f"out{k}", "--yes", "--format", FORMATS[k % 2]],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(random.uniform(0, 1.3 * duration))
            process.send_signal(signal.SIGKILL)
            message = process.communicate()[1]
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, message
            kills += 1
        run("verify", f"out{k}/measurements.parquet")
        assert sorted(os.listdir(f"out{k}")) == ["measurements.parquet", "plan.json", "summary.md", "tables"], os.listdir(f"out{k}")
        tables = sorted(os.listdir(f"out{k}/tables"))
        assert tables == sorted([f"{name}.{FORMATS[k % 2]}" for name in TABLES] + ["residua.json"]), tables

    ledger = json.loads(run("ledger", "--json"))
    spends = [entry for entry in ledger["entries"] if entry["kind"] != "granted"]
    assert len(spends) == releases + 1, spends
    assert all(entry["kind"] == "spent" for entry in spends), spends
    print(f"{releases} releases killed {kills} times, each spent once")
