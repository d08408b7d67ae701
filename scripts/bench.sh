#!/usr/bin/env bash
# Runs the commands that docs/benchmarks.md and docs/paper.md name, and puts their output there, with the machine they ran on.
# It takes about half an hour on two quiet cores, and 2 GB of temporary files. The charts are drawn last.
# The sampler's figures are only printed: docs/sampler.md discusses them.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 - docs/benchmarks.md docs/paper.md <<'PYTHON'
import os, re, subprocess, sys

def run(command):
    print(command, file=sys.stderr)
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout.strip()

def machine():
    model = re.search(r"^Model name:\s*(.*)$", run("lscpu"), re.M)[1]
    compiler = run("c++ --version").splitlines()[0]
    return f"{os.cpu_count()} cores of {model}, {compiler}, release build. Times vary with what else runs there."

# <!-- bench: COMMAND --> old output <!-- end -->; bench-text: output that is not Markdown; machine.
block = re.compile(r"<!-- (machine|bench|bench-text)(?:: (.*?))? -->\n.*?<!-- end -->", re.S)

def fill(match):
    kind, command = match.groups()
    opening = match[0].partition("\n")[0]
    text = machine() if kind == "machine" else run(command)
    if kind == "bench-text":
        text = f"```\n{text}\n```"
    return f"{opening}\n{text}\n<!-- end -->"

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = block.sub(fill, file.read())
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
PYTHON

build/release/residua-paper --csv build/fairness.csv > /dev/null
build/python-test/bin/python bench/charts.py --stages docs/bench_stages.tsv --fairness build/fairness.csv --folder docs
build/release/bench/sampler_bench
