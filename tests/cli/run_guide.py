#!/usr/bin/env python3
"""Runs the commands of a guide as written, in an empty folder: run_guide.py BINARY GUIDE

Blocks fenced as ```sh are run line by line; a line that ends in "# exit N" must exit with N, any other with 0. Blocks fenced as
```toml NAME are written to the file NAME. Blocks fenced as ```r are run last, as one program; without R the guide is skipped (exit
code 77). `residua` is BINARY; examples/ is the project's."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

binary = pathlib.Path(sys.argv[1]).resolve()
guide = pathlib.Path(sys.argv[2]).resolve()
blocks = re.findall(r"^```(\w+)[ ]?(\S*)\n(.*?)^```$", guide.read_text(encoding="utf-8"), re.S | re.M)
program = "".join(text for kind, _, text in blocks if kind == "r")
if program and not shutil.which("Rscript"):
    print("skipped: R is not installed")
    sys.exit(77)
commands = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("bin")
    os.symlink(binary, "bin/residua")
    os.symlink(guide.parent.parent / "examples", "examples")
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")
    for kind, name, text in blocks:
        if kind == "toml" and name:
            pathlib.Path(name).write_text(text, encoding="utf-8")
        if kind != "sh":
            continue
        for line in text.splitlines():
            expected = re.search(r"# exit (\d+)$", line)
            expected = int(expected.group(1)) if expected else 0
            result = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            assert result.returncode == expected, f"{line}\nexit {result.returncode}, not {expected}\n{result.stdout}{result.stderr}"
            commands += 1
    if program:
        pathlib.Path("program.R").write_text(program, encoding="utf-8")
        subprocess.run(["Rscript", "--vanilla", "program.R"], env=environment, check=True)
    assert not os.path.exists("never"), "a refused release left a folder"
assert commands >= (1 if program else 10), f"only {commands} commands found"
print(f"{commands} commands of {guide.name} ran as written")
