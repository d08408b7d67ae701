#!/usr/bin/env python3
"""Runs `residua-paper --accuracy --json` on the quick tables and compares every row with the paper, but never a time.

Marginals agree with it to the printed digits: some of its figures are rounded and some cut off after the last one, and
those for the largest variance carry the error of the solver they come from, about 1e-7. Prefix sums and ranges are at most
the better of its two systems and at most what the second argument, a table of our own limits, says. Largest variances of
prefix sums are not compared with the paper, whose privacy cost is understated there. Nothing is below its lower bound."""
import json
import subprocess
import sys

MARGINALS = ["select-d-rmse", "select-d-maxvar", "select-n-rmse", "select-n-maxvar", "rmse", "maxvar", "rmse-cps", "rmse-adult",
             "rmse-loans", "maxvar-cps", "maxvar-adult", "maxvar-loans"]
BETTER = ["prefix-rmse", "kron-range", "kron-prefix", "crossover-5", "crossover-10", "crossover-20"]


def number(figure):
    return float(figure) if figure[:1].isdigit() else None


def printed_unit(figure):
    return 10.0 ** -len(figure.partition(".")[2])


binary, limits_file = sys.argv[1:3]
limits = {}
for line in open(limits_file, encoding="utf-8"):
    if not line.startswith("#"):
        domain, marginals, objective, key, limit, slack = line.rstrip("\n").split("\t")
        most = float(limit) + 0.5 * printed_unit(limit) if slack == "printed" else float(limit) * (1 + float(slack))
        limits[domain.replace("2*2", "2,2"), marginals, objective, key] = most
output = subprocess.run([binary, *MARGINALS, *BETTER, "--accuracy", "--json"], check=True, capture_output=True, text=True).stdout
rows = json.loads(output)["rows"]
faults = []
limits_used = 0
for row in rows:
    ours, bound = row["ours"], row["lower_bound"]
    what = f"{row['table']} {row['row']}: {row['quantity']} {ours:.6f}, paper {row['paper']}, bound {bound:.6f}"
    if not 0 < bound <= ours * (1 + 1e-7):
        faults.append(f"{what}: below the bound")
    paper = number(row["paper"])
    if row["table"] in MARGINALS:
        if ours > bound * (1 + 1e-6):  # the tolerance of the solver
            faults.append(f"{what}: marginals attain the bound")
        if paper is not None:
            unit = printed_unit(row["paper"])
            if not paper - 0.51 * unit <= ours <= paper + unit + 1e-7 * paper:
                faults.append(f"{what}: differs")
        continue
    others = [row["paper"], row.get("hdmm", ""), row.get("HDMM OPT+", "")]
    best = min((f for f in others if number(f) is not None), key=number)
    if ours > number(best) + 0.51 * printed_unit(best):
        faults.append(f"{what}: worse than {best}")
    limit = limits.get((row["domain"].replace("2*2", "2,2"), row["marginals"], row["objective"], row["quantity"]))
    limits_used += limit is not None
    if limit is not None and ours > limit:
        faults.append(f"{what}: above our limit {limit:.6f}")
for fault in faults:
    print(fault)
print(f"{len(rows)} rows, {limits_used} with a limit of our own, {len(faults)} faults")
sys.exit(bool(faults) or len(rows) < 150 or limits_used < 50)
