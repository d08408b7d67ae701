#!/usr/bin/env python3
"""check_faults.py RESIDUA SHIM: the system fails in every way of docs/security.md's table, and residua loses nothing, hides
no budget and says what happened in one line."""
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

binary, shim = (os.path.abspath(argument) for argument in sys.argv[1:3])
LEDGER = "people.csv.ledger"
RESERVED = "reserved, not confirmed"
LARGE = {"a": 350, "b": 1000, "c": 1000}  # with prefix sums of a, which is not measured in slabs
SLABS = {"a": 400, "b": 300, "c": 300}  # measured in slabs, into a file of 130 MB


def run(*arguments, faults=None, limit=None):
    environment = dict(os.environ)
    if faults is not None:
        environment.update({name: str(value) for name, value in faults.items()}, LD_PRELOAD=shim)
    return subprocess.run([binary, *arguments], capture_output=True, text=True, env=environment, timeout=120,
                          preexec_fn=limit)


def write_spec(name, sizes, rows, queries=None):
    with open("people.csv", "w", encoding="utf-8") as file:
        file.write(",".join(sizes) + "\n")
        for row in range(rows):
            file.write(",".join(str(row * 7 % size) for size in sizes.values()) + "\n")
    with open(name, "w", encoding="utf-8") as file:
        file.write('[data]\nsource = "people.csv"\n[privacy]\nrho = "1/2"\n[workload]\nmarginals = "<=3"\n')
        for attribute, size in sizes.items():
            file.write(f"[attributes.{attribute}]\nsize = {size}\n")
            if queries and attribute in queries:
                file.write(f'queries = "{queries[attribute]}"\n')


def folder(name):
    """The absolute path, as the shim compares it."""
    return os.path.join(os.path.realpath("."), name)


def entries(*kinds):
    listed = run("ledger", "--ledger", LEDGER, "--json")
    assert listed.returncode == 0, listed.stderr
    return [entry for entry in json.loads(listed.stdout)["entries"] if entry["kind"] in kinds]


def spends():
    return entries(RESERVED, "spent")


def reserved():
    return entries(RESERVED)


def expect_one_line(result, code, *words):
    lines = [line for line in result.stderr.splitlines() if line.startswith("residua: ")]
    assert result.returncode == code, (result.returncode, result.stderr)
    assert len(lines) == 1 and result.stderr.splitlines()[-1] == lines[0], result.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])


def expect_nothing_spent():
    assert not os.path.exists(LEDGER) or spends() == [], "budget was spent"


def expect_no_measurement():
    assert not os.path.exists("out/m.parquet")


def measure(**options):
    return run("measure", "plan.json", "-o", "out/m.parquet", **options)


def disk_full_while_writing_the_measurement():
    expect_one_line(measure(faults={"FAULT_FOLDER": folder("out"), "FAULT_DISK_BYTES": 5000}), 1,
                    "No space left on device", "stays reserved as entry", "ledger forgive")
    assert len(reserved()) == 1
    expect_no_measurement()


def disk_full_between_slabs():
    write_spec("slabs.toml", SLABS, 1000)
    assert run("plan", "slabs.toml", "-o", "plan.json").returncode == 0
    expect_one_line(measure(faults={"FAULT_FOLDER": folder("out"), "FAULT_DISK_BYTES": 40_000_000}), 1,
                    "No space left on device", "stays reserved as entry", "ledger forgive")
    assert len(reserved()) == 1
    expect_no_measurement()


def killed_between_slabs():
    write_spec("slabs.toml", SLABS, 1000)
    assert run("plan", "slabs.toml", "-o", "plan.json").returncode == 0
    with subprocess.Popen([binary, "measure", "plan.json", "-o", "out/m.parquet"], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and sum(entry.stat().st_size for entry in os.scandir("out")) < 40_000_000:
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert len(reserved()) == 1
    expect_no_measurement()


def disk_full_while_writing_a_release():
    faults = {"FAULT_FOLDER": folder("out"), "FAULT_DISK_BYTES": 5000}
    expect_one_line(run("release", "people.toml", "-o", "out/r", "--yes", faults=faults), 1,
                    "No space left on device", "run the same command again")
    assert len(reserved()) == 1
    again = run("release", "people.toml", "-o", "out/r", "--yes")
    assert again.returncode == 0, again.stderr
    assert len(spends()) == 1 and reserved() == []


def disk_full_while_writing_tables():
    assert measure().returncode == 0
    faults = {"FAULT_FOLDER": folder("tables"), "FAULT_DISK_BYTES": 3000}
    for flags in ([], ["--format", "parquet"], ["--one-file"]):
        output = "tables.parquet" if flags == ["--one-file"] else "tables"
        expect_one_line(run("tables", "out/m.parquet", "-o", output, *flags, faults=faults), 1, "No space left on device")
        assert [name for name in os.listdir(".") if name.startswith("tables")] == [], os.listdir(".")
        assert run("tables", "out/m.parquet", "-o", output, *flags).returncode == 0
        shutil.rmtree(output) if os.path.isdir(output) else os.remove(output)


def disk_full_while_writing_the_ledger():
    expect_one_line(measure(faults={"FAULT_FOLDER": folder(LEDGER), "FAULT_DISK_BYTES": 100}), 1, LEDGER, "full")
    expect_nothing_spent()
    expect_no_measurement()


def disk_full_for_the_second_spend():
    assert measure().returncode == 0
    with open(LEDGER, "rb") as file:
        before = file.read()
    result = run("measure", "plan.json", "-o", "out/again.parquet", "--again", faults={"FAULT_FOLDER": folder(LEDGER), "FAULT_DISK_BYTES": 100})
    assert result.returncode != 0 and not os.path.exists("out/again.parquet")
    with open(LEDGER, "rb") as file:
        assert file.read() == before


def read_only_output():
    expect_one_line(measure(faults={"FAULT_FOLDER": folder("out"), "FAULT_READ_ONLY": 1}), 1, "out/m.parquet",
                    "Read-only file system")
    expect_nothing_spent()


def read_only_ledger():
    expect_one_line(measure(faults={"FAULT_FOLDER": folder(LEDGER), "FAULT_READ_ONLY": 1}), 1, LEDGER, "Read-only")
    expect_no_measurement()


def no_entropy():
    expect_one_line(measure(faults={"FAULT_ENTROPY_CALLS": 0}), 1, "random bits")
    expect_nothing_spent()
    expect_no_measurement()


def entropy_that_ends():
    """Each thread keys its own source: whichever call fails, a spend is either not made or on record."""
    for calls in range(1, 8):
        result = measure(faults={"FAULT_ENTROPY_CALLS": calls})
        if result.returncode == 0:
            return
        expect_one_line(result, 1, "random bits")
        expect_no_measurement()
        if "reserved as entry" in result.stderr:
            assert len(reserved()) == 1
        else:
            expect_nothing_spent()
        clean_up()


def no_memory():
    """350 x 1000 x 1000 counts of 8 bytes, with prefix sums, in an address space of 2 GiB."""
    write_spec("large.toml", LARGE, 100, {"a": "prefix"})
    assert run("plan", "large.toml", "-o", "plan.json").returncode == 0
    limit = 2 << 30
    result = measure(limit=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    expect_one_line(result, 1, "memory")
    expect_no_measurement()
    if "reserved as entry" in result.stderr:
        assert len(reserved()) == 1
    else:
        expect_nothing_spent()


def clock_that_goes_back():
    assert measure().returncode == 0
    result = run("measure", "plan.json", "-o", "out/again.parquet", "--again", faults={"FAULT_CLOCK": -10**8})
    expect_one_line(result, 2, "spent")
    result = run("ledger", "grant", "--rho", "1", "--ledger", LEDGER, "--reason", "more", faults={"FAULT_CLOCK": -10**8})
    assert result.returncode == 0, result.stderr
    result = run("measure", "plan.json", "-o", "out/again.parquet", "--again", faults={"FAULT_CLOCK": -10**8})
    assert result.returncode == 0, result.stderr
    assert len(spends()) == 2
    listed = run("ledger", "--ledger", LEDGER).stdout.splitlines()
    assert len([line for line in listed if "spent" in line]) >= 2, listed


def ledger_locked_by_another():
    assert measure().returncode == 0
    other = sqlite3.connect(LEDGER)
    other.execute("BEGIN EXCLUSIVE")
    expect_one_line(run("measure", "plan.json", "-o", "out/again.parquet", "--again"), 1, LEDGER, "lock")
    other.rollback()
    other.close()
    assert len(spends()) == 1 and not os.path.exists("out/again.parquet")


def ledger_damaged():
    assert measure().returncode == 0
    size = os.path.getsize(LEDGER)
    for damage in ("header", "middle", "cut", "empty"):
        shutil.copy(LEDGER, "kept")
        with open(LEDGER, "r+b") as file:
            if damage in ("header", "middle"):
                file.seek(0 if damage == "header" else size // 2)
                file.write(os.urandom(size // 4))
            else:
                file.truncate(size // 3 if damage == "cut" else 0)
        result = run("measure", "plan.json", "-o", "out/again.parquet", "--again")
        assert result.returncode in (1, 2) and LEDGER in result.stderr, (damage, result)
        assert len([line for line in result.stderr.splitlines() if line.startswith("residua: ")]) == 1, result.stderr
        assert not os.path.exists("out/again.parquet"), damage
        shutil.move("kept", LEDGER)


def release_cut_off_while_its_plan_was_written():
    os.mkdir("out/r")
    with open("out/r/plan.json.a1B2c3", "w", encoding="utf-8") as file:
        file.write("{")
    assert run("release", "people.toml", "-o", "out/r", "--yes").returncode == 0
    assert "plan.json.a1B2c3" not in os.listdir("out/r")
    with open("out/stray", "w", encoding="utf-8"):
        pass
    expect_one_line(run("release", "people.toml", "-o", "out", "--yes"), 2, "not a release")


def two_releases_at_once():
    os.mkdir("out/r")
    held = os.open("out/r", os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_EX)
    expect_one_line(run("release", "people.toml", "-o", "out/r", "--yes"), 2, "another residua is at work")
    expect_nothing_spent()
    os.close(held)
    assert run("release", "people.toml", "-o", "out/r", "--yes").returncode == 0


def release_killed_at(moment):
    result = run("release", "people.toml", "-o", "out/r", "--yes",
                 faults={"FAULT_KILL": moment, "FAULT_NAME": "measurements.parquet"})
    assert result.returncode == -signal.SIGKILL, result
    assert len(spends()) == 1


def temporaries_of(name):
    head, tail = os.path.split(name)
    return [os.path.join(head, other) for other in os.listdir(head) if other.startswith(tail + ".")]


def contents_of(name):
    with open(name, "rb") as file:
        return file.read()


def killed_before_the_measurement_has_its_name():
    """Confirmed and complete: it is put in place as it is, and the data is not even there to be read again."""
    release_killed_at("before")
    assert reserved() == [] and not os.path.exists("out/r/measurements.parquet")
    (left,) = temporaries_of("out/r/measurements.parquet")
    measured = contents_of(left)
    expect_one_line(run("measure", "out/r/plan.json", "--data", "people.csv"), 2, "it is complete: rename", left)
    os.rename("people.csv", "away.csv")
    again = run("release", "people.toml", "-o", "out/r", "--yes")
    os.rename("away.csv", "people.csv")
    assert again.returncode == 0 and "nothing more was spent" in again.stdout, again
    assert contents_of("out/r/measurements.parquet") == measured
    assert len(spends()) == 1 and temporaries_of("out/r/measurements.parquet") == []


def killed_before_the_measurement_has_its_name_and_lost():
    release_killed_at("before")
    for left in temporaries_of("out/r/measurements.parquet"):
        os.remove(left)
    expect_one_line(run("release", "people.toml", "-o", "out/r", "--yes"), 2, "but is gone")
    assert len(spends()) == 1


def killed_after_the_measurement_has_its_name_and_moved_away():
    release_killed_at("after")
    assert reserved() == [], "the file is in place, and its spend can be used again"
    os.rename("out/r/measurements.parquet", "out/moved.parquet")
    expect_one_line(run("release", "people.toml", "-o", "out/r", "--yes"), 2, "but is gone")
    os.rename("out/moved.parquet", "out/r/measurements.parquet")
    assert run("release", "people.toml", "-o", "out/r", "--yes").returncode == 0
    assert len(spends()) == 1


def killed_between_two_ledgers():
    """A ledger is named, and there is one beside the data: both have the spend, and the same one after a crash."""
    assert measure().returncode == 0
    assert run("ledger", "grant", "--ledger", LEDGER, "--rho", "1", "--reason", "test").returncode == 0
    command = ("release", "people.toml", "-o", "out/r", "--yes", "--ledger", "out/other.ledger")
    with open("people.toml", encoding="utf-8") as file:
        text = file.read().replace("1/2", "1/3")
    with open("people.toml", "w", encoding="utf-8") as file:
        file.write(text)
    for name in ("other.ledger", "measurements.parquet"):
        result = run(*command, faults={"FAULT_KILL": "before", "FAULT_NAME": name})
        assert result.returncode == -signal.SIGKILL, result
    again = run(*command)
    assert again.returncode == 0 and "is in both ledgers" in again.stderr, again
    assert len(spends()) == 2 and reserved() == []
    assert "out/other.ledger" in spends()[1]["note"]


def signal_at_any_moment():
    """As from a terminal or a scheduler; kill -9 has tests of its own (cli.kill_measure, cli.kill_release)."""
    draw = random.Random(1)
    for attempt in range(24):
        process = subprocess.Popen([binary, "measure", "plan.json", "-o", "out/m.parquet"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(draw.random() * 0.25)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT if attempt % 2 == 0 else signal.SIGTERM)
            process.wait()
        if os.path.exists("out/m.parquet"):
            assert run("verify", "out/m.parquet").returncode == 0
            assert len(spends()) == 1
        elif os.path.exists(LEDGER) and len(spends()) > len(reserved()):
            assert len(temporaries_of("out/m.parquet")) == 1, "a spend was confirmed, and there is no file"
        elif os.path.exists(LEDGER):
            assert len(spends()) <= 1
        clean_up()


def clean_up():
    for name in os.listdir("."):
        if name.startswith(LEDGER) or name == "tables":
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")


FAULTS = [
    disk_full_while_writing_the_measurement, disk_full_between_slabs, killed_between_slabs, disk_full_while_writing_a_release, disk_full_while_writing_tables,
    disk_full_while_writing_the_ledger, disk_full_for_the_second_spend, read_only_output, read_only_ledger, no_entropy,
    entropy_that_ends, no_memory, clock_that_goes_back, ledger_locked_by_another, ledger_damaged, release_cut_off_while_its_plan_was_written, two_releases_at_once,
    killed_before_the_measurement_has_its_name, killed_before_the_measurement_has_its_name_and_lost,
    killed_after_the_measurement_has_its_name_and_moved_away, killed_between_two_ledgers, signal_at_any_moment,
]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for fault in FAULTS:
            clean_up()
            write_spec("people.toml", {"a": 40, "b": 30, "c": 20}, 20000)
            assert run("plan", "people.toml", "-o", "plan.json").returncode == 0
            try:
                fault()
                print("ok  ", fault.__name__)
            except AssertionError as error:
                failed += 1
                print("FAIL", fault.__name__, error)
    print(f"{len(FAULTS)} faults, {failed} failed")
    return failed > 0


sys.exit(main())
