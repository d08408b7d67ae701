#!/usr/bin/env python3
"""Runs `residua plan` for every row of a table of published figures; each must agree to the printed digits.

Some published figures are rounded and some cut off after the third decimal, and those for the
maximum variance carry the error of the solver they come from, about 1e-7."""
import json
import subprocess
import sys

binary, table = sys.argv[1:3]
failures = rows = 0
for line in open(table, encoding="utf-8"):
    if line.startswith("#"):
        continue
    domain, marginals, objective, key, figure = line.rstrip("\n").split("\t")
    command = [binary, "plan", "--domain", domain, "--marginals", marginals, "--objective", objective,
               "--pcost", "1", "--tolerance", "1e-7", "--json"]
    if objective == "sum-variance":
        command += ["--weights", "cells"]  # the RMSE
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    decimals = len(figure.split(".")[1])
    rows += 1
    published = float(figure)
    last_digit = 10.0**-decimals
    fits = published - 0.51 * last_digit <= plan[key] <= published + last_digit + 1e-7 * published
    if not fits or not plan["converged"]:
        failures += 1
        print(f"{domain} {marginals} {objective}: {key} {plan[key]:.6f}, published {figure}, gap {plan['relative_gap']}")
print(f"{rows - failures} passed, {failures} failed")
sys.exit(failures > 0 or rows == 0)
