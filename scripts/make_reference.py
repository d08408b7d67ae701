#!/usr/bin/env python3
"""Prints the page of the reference: every public name of the package, whose docstring the site shows."""

import ast
import sys

tree = ast.parse(open(sys.argv[1], encoding="utf-8").read())
listed = next(
    node.value for node in tree.body
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
)
# In the extension, which the site does not read.
compiled = {"Error", "InputError", "NotFoundError", "Refused"}
print("# Reference\n\nEvery public name of `residua`. The examples are tests; `example_release()` in them\nstands for a release of three people, with their age and sex.\n")
for name in ast.literal_eval(listed):
    if name not in compiled:
        print(f"::: residua.{name}\n")
print("## Errors { #residua.errors }\n")
print("`Error` is what residua raises: one line that names the file, the column or the argument, and the remedy.")
print("`InputError` is also a `ValueError`, `NotFoundError` also a `FileNotFoundError`, and `Refused` is a refusal")
print("for reasons of privacy or safety.")
