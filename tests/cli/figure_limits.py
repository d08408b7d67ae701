#!/usr/bin/env python3
"""Runs `residua plan` for every row of a table of upper limits; no figure may exceed its limit by more than its slack:
a fraction, or "printed" for half a unit of the limit's last digit."""
import json
import subprocess
import sys

binary, table = sys.argv[1:3]
failures = rows = 0
for line in open(table, encoding="utf-8"):
    if line.startswith("#"):
        continue
    domain, marginals, objective, key, limit, slack = line.rstrip("\n").split("\t")
    command = [binary, "plan", "--domain", domain, "--marginals", marginals, "--objective", objective, "--pcost", "1", "--json"]
    if objective == "sum-variance":
        command += ["--weights", "cells"]  # the RMSE
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows += 1
    if slack == "printed":
        most = float(limit) + 0.5 * 10.0 ** -len(limit.partition(".")[2])
    else:
        most = float(limit) * (1 + float(slack))
    if not 0 < plan[key] <= most:
        failures += 1
        print(f"{domain} {marginals} {objective}: {key} {plan[key]:.6f}, limit {limit}, slack {slack}")
print(f"{rows - failures} passed, {failures} failed")
sys.exit(failures > 0 or rows == 0)
