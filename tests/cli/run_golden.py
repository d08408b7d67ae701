#!/usr/bin/env python3
"""Runs the plain-text command tests: golden.py BINARY FILE...

In a test file, a line `$ COMMAND` is run by the shell in a fresh folder (one per file) with `residua` on the path.
What follows is its exact standard output; lines that start with `! ` are its standard error, and `= N` is its exit
code (0 if not stated). `# ` starts a comment. Times are shown as TIME, our version as VERSION, digests, which
depend on the version, as DIGEST, and bounds, whose last digits depend on the processor, as BOUND. With UPDATE=1, files are rewritten to what was
seen."""
import os
import re
import subprocess
import sys
import tempfile

CHANGING = [(re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "0000-00-00T00:00:00Z"),
            (re.compile(r"\([0-9.e+-]+ s\)"), "(TIME s)"),
            (re.compile(r"(A release will take .* and) .*\.$"), r"\1 TIME."),
            (re.compile(r"residua \d+\.\d+\.\d+"), "residua VERSION"),
            (re.compile(r"sha256:[0-9a-f]{64}"), "sha256:DIGEST"),
            (re.compile(r'"(above_lower_bound|lower_bound)": [0-9.e+-]+'), r'"\1": BOUND'),
            (re.compile(r'"seconds": [0-9.e+-]+'), '"seconds": TIME')]


def parse(lines):
    """Yields [comment lines, command, expected lines]."""
    blocks, comments = [], []
    for line in lines:
        if line.startswith("# "):
            comments.append(line)
        elif line.startswith("$ "):
            blocks.append([comments, line[2:], []])
            comments = []
        elif blocks:
            blocks[-1][2].append(line)
    return blocks


def run(command, folder, binary):
    path = os.path.dirname(os.path.abspath(binary)) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}, timeout=int(os.environ.get("GOLDEN_TIMEOUT", "120")))
    done.stdout = done.stdout.replace(os.path.realpath(folder), "FOLDER")
    done.stderr = done.stderr.replace(os.path.realpath(folder), "FOLDER")
    seen = done.stdout.splitlines() + ["! " + line for line in done.stderr.splitlines()]
    for pattern, replacement in CHANGING:
        seen = [pattern.sub(replacement, line) for line in seen]
    if done.returncode:
        seen.append(f"= {done.returncode}")
    return seen


def strip(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


binary, passed, failed = sys.argv[1], 0, 0
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        blocks = parse(file.read().splitlines())
    with tempfile.TemporaryDirectory() as folder:
        rewritten = []
        for comments, command, expected in blocks:
            seen = run(command, folder, binary)
            rewritten += comments + ["$ " + command] + seen + [""]
            if strip(seen) == strip(expected):
                passed += 1
                continue
            failed += 1
            print(f"{name}: $ {command}\n  expected:")
            print("\n".join("    " + line for line in strip(expected)))
            print("  seen:")
            print("\n".join("    " + line for line in strip(seen)))
        if os.environ.get("UPDATE"):
            with open(name, "w", encoding="utf-8") as file:
                file.write("\n".join(rewritten))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
