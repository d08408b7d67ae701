#!/usr/bin/env python3
"""Asks a release and its data the same questions: compare_with_truth.py RESIDUA MEASUREMENTS CSV QUESTION...

Prints estimate, error bar and truth side by side. For made-up data only: the truth is not for publication."""
import csv
import json
import subprocess
import sys

residua, measurements, data, *questions = sys.argv[1:]


def holds(condition, row):
    name, wanted = condition.split("=", 1)
    value = row[name]
    if ".." in wanted:
        low, high = wanted.split("..")
        # A range of cuts starts above its lower end; one of whole numbers starts at it.
        above = float(value) > float(low) if "." in value else float(value) >= float(low or "-inf")
        return above and float(value) <= float(high or "inf")
    return value in wanted.split("|")


with open(data, encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
output = subprocess.run([residua, "query", measurements, "--json", *questions], capture_output=True, text=True, check=True).stdout
answers = json.loads(output)["answers"]
print(f"  {'question':<40}{'estimate':>10}  {'95 % interval':<22}{'std dev':>8}{'truth':>9}{'off by':>12}")
for question, answer in zip(questions, answers):
    truth = sum(all(holds(condition, row) for condition in question.split()) for row in rows)
    off = (answer["estimate"] - truth) / answer["std_dev"]
    interval = f"{answer['ci_lower']:.0f} to {answer['ci_upper']:.0f}"
    print(f"  {question:<40}{answer['estimate']:>10.0f}  {interval:<22}{answer['std_dev']:>8.1f}{truth:>9}{off:>+7.1f} sd")
