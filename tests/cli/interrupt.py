#!/usr/bin/env python3
"""Interrupts every command that writes: interrupt.py BINARY

SIGINT, SIGTERM and SIGHUP end it with one line, and nothing unfinished is left. A file that grows too large for the system is
an error like a full disk. cli.kill_measure, cli.kill_release and cli.faults interrupt what spends."""
import os
import random
import resource
import signal
import subprocess
import tempfile
import time

from killing import binary, run, write_people, write_spec

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The first commands write for a while. Non-negative tables would take minutes.
SIZES = {"a": 150, "b": 150, "c": 150}
COMMANDS = (
    ("tables", "m.parquet", "-o", "out"),
    ("tables", "m.parquet", "--one-file", "-o", "out.parquet"),
    ("tables", "m.parquet", "--nonnegative", "-o", "out"),
    ("combine", "m.parquet", "n.parquet", "-o", "out.parquet"),
    ("page", "m.parquet", "-o", "out.html"),
    ("plan", "spec.toml", "-o", "out.json"),
    ("explore", "spec.toml", "-o", "out.html", "--no-open"),
    ("query", "m.parquet", "a=1"),
    ("verify", "m.parquet"),
)


def temporaries(before):
    return sorted(set(os.listdir(".")) - before)


def interrupt(command, moment, number, before):
    """Whether the signal came while it was at work."""
    # A shell that starts this in the background ignores SIGINT, and so would the program.
    process = subprocess.Popen([binary, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in SIGNALS])
    if moment is None:  # as soon as it writes
        while process.poll() is None and not temporaries(before):
            time.sleep(0.0005)
    else:
        time.sleep(moment)
    process.send_signal(number)
    message = process.communicate(timeout=60)[1]
    left = temporaries(before)
    if process.returncode in (0, -number):  # done, or the program had not begun
        assert set(left) <= {argument for argument in command if argument.startswith("out")}, (command, left)
    else:
        said = [line for line in message.splitlines() if line]
        assert process.returncode == 128 + number, (command, process.returncode, message)
        assert said[-1] == "residua: interrupted; nothing unfinished is left behind", (command, message)
        assert len([line for line in said if line.startswith("residua: ")]) == 1, (command, message)
        assert set(left) <= {argument for argument in command if argument.startswith("out")}, (command, left)
    for name in left:
        subprocess.run(["rm", "-r", name], check=True)
    return process.returncode == 128 + number


def grows_too_large(command, before):
    done = subprocess.run([binary, *command], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
    assert done.returncode == 1, (command, done)
    assert done.stderr.startswith("residua: ") and "File too large" in done.stderr and done.stderr.count("\n") == 1, done
    assert temporaries(before) == [], (command, temporaries(before))


random.seed(3)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_people()
    write_spec("spec.toml", "1/2", SIZES)
    for name, rho in (("m", "1/2"), ("n", "1/3")):
        write_spec("spec.toml", rho, SIZES)
        run("plan", "spec.toml", "-o", f"{name}.json")
        run("measure", f"{name}.json", "-o", f"{name}.parquet")
        run("ledger", "grant", "--rho", "1", "--reason", "test")
    before = set(os.listdir("."))
    interrupted = 0
    for k, command in enumerate(COMMANDS):
        if any(argument.startswith("out") for argument in command):
            interrupted += interrupt(command, None, SIGNALS[k % 3], before)
        for number in SIGNALS:
            interrupted += interrupt(command, random.uniform(0.01, 0.3), number, before)
    for command in COMMANDS:
        if command[-1].startswith("out") and "--nonnegative" not in command and "plan" not in command:
            grows_too_large(command, before)
    assert interrupted >= 5, interrupted
    print(f"{interrupted} commands interrupted")
