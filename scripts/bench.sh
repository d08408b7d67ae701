#!/usr/bin/env bash
# Runs the commands that docs/benchmarks.md and docs/paper.md name, and puts their output there,
# with the machine they ran on.
# It takes about half an hour on two quiet cores, and 2 GB of temporary files. The charts are drawn
# last. The sampler's figures are only printed: docs/sampler.md discusses them.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 - docs/benchmarks.md docs/paper.md <<'PYTHON'
import os, re, subprocess, sys, textwrap

def run(command):
    print(command, file=sys.stderr)
    done = subprocess.run(command.split(), check=True, capture_output=True, text=True)
    return done.stdout.strip()

def machine():
    model = re.search(r"^Model name:\s*(.*)$", run("lscpu"), re.M)[1]
    compiler = run("c++ --version").splitlines()[0]
    cores = f"{os.cpu_count()} cores of {model}"
    return f"{cores}, {compiler}, release build. Times vary with other jobs."

# Prose is wrapped like the rest of the page; tables, headings and pictures are not.
def wrapped(text):
    def wrap(line):
        if line.startswith(("|", "#", "![")) or not line:
            return line
        indent = "  " if line.startswith("- ") else ""
        return textwrap.fill(line, 100, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(wrap(line) for line in text.splitlines())

# <!-- bench: COMMAND --> old output <!-- end -->; bench-text: output that is not Markdown; machine.
block = re.compile(r"<!-- (machine|bench|bench-text)(?:: (.*?))? -->\n.*?<!-- end -->", re.S)

def fill(match):
    kind, command = match.groups()
    opening = match[0].partition("\n")[0]
    text = machine() if kind == "machine" else run(command)
    text = f"```\n{text}\n```" if kind == "bench-text" else wrapped(text)
    return f"{opening}\n{text}\n<!-- end -->"

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = block.sub(fill, file.read())
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
PYTHON

build/release/residua-paper --csv build/fairness.csv > /dev/null
build/python-test/bin/python bench/charts.py \
  --stages docs/bench_stages.tsv --fairness build/fairness.csv
build/release/bench/sampler_bench
