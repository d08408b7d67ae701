#!/usr/bin/env python3
"""A plan that takes long says so from its first second, on a terminal alone: show_progress.py BINARY"""
import os
import pty
import subprocess
import sys
import threading
import time

binary = os.path.abspath(sys.argv[1])


def plan(size, stderr):
    start = time.monotonic()
    done = subprocess.run([binary, "plan", "--domain", f"{size}:range", "--marginals", "1"], stdout=subprocess.DEVNULL,
                          stderr=stderr, text=True, check=True)
    return time.monotonic() - start, done.stderr


def plan_on_terminal(size):
    terminal, stderr = pty.openpty()
    seen = []

    def read():
        try:
            while text := os.read(terminal, 4096):
                seen.append(text)
        except OSError:  # the other side is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    seconds, _ = plan(size, stderr)
    os.close(stderr)
    reader.join()
    os.close(terminal)
    return seconds, b"".join(seen).decode()


for size in (300, 600, 1000, 1500, 2200, 3000, 4096):
    seconds, text = plan_on_terminal(size)
    if seconds > 2.5:
        break
else:
    sys.exit("no plan takes long enough to tell")
assert "Planning: 1 s" in text, text
assert text.endswith("\r\x1b[K"), repr(text)  # and it is removed
assert plan(size, subprocess.PIPE)[1] == ""
print(f"a plan of {seconds:.1f} s showed how long it took")
