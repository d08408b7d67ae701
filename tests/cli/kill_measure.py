#!/usr/bin/env python3
"""kill -9 at random moments of a measurement, many times: kill_measure.py BINARY [KILLS]

After each: every measurement file in place verifies, and its spend is confirmed. Confirmed spends all have their files:
in place, or complete under the temporary name if the kill came just before."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from killing import binary, run, write_people, write_spec

kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
random.seed(1)  # of the moments only; the noise has no seed

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_people()
    write_spec("spec.toml", 1)
    run("plan", "spec.toml", "-o", "plan.json")
    start = time.monotonic()
    run("measure", "plan.json", "-o", "first.parquet")
    duration = time.monotonic() - start
    run("ledger", "grant", "--rho", "1000000", "--reason", "test")

    interrupted = 0
    for k in range(kills):
        process = subprocess.Popen([binary, "measure", "plan.json", "-o", f"m{k}.parquet", "--again"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 1.2 * duration))
        process.send_signal(signal.SIGKILL)
        interrupted += process.wait() != 0

        ledger = json.loads(run("ledger", "--json"))
        counted = {os.path.basename(e["what"]): e["kind"] for e in ledger["entries"] if e["kind"] in ("spent", "reserved, not confirmed")}
        for name in os.listdir("."):
            if name.startswith("m") and name.endswith(".parquet"):
                assert counted.get(name) == "spent", f"{name} is in place, but its spend is not confirmed"
        for name, kind in counted.items():
            left = [other for other in os.listdir(".") if other.startswith(name + ".")]
            if kind == "spent" and not os.path.exists(name):
                assert len(left) == 1, f"{name} is confirmed, but neither in place nor complete"
                run("verify", left[0])
                os.rename(left[0], name)
        if os.path.exists(f"m{k}.parquet"):
            run("verify", f"m{k}.parquet")

    kinds = [e["kind"] for e in ledger["entries"]]
    print(f"{kills} kills, {interrupted} before the end; {kinds.count('spent')} confirmed, "
          f"{kinds.count('reserved, not confirmed')} reserved, {len([n for n in os.listdir('.') if n.endswith('.parquet')])} files")
    assert interrupted > kills // 4, "too few kills came in time to show anything"
    assert "reserved, not confirmed" in kinds, "no kill came between the reservation and the end"
    print("1 passed, 0 failed")
