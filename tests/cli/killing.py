"""What the tests that kill residua share: data of three columns, specs for it, and a way to run the program."""
import os
import subprocess
import sys

binary = os.path.abspath(sys.argv[1])


def run(*arguments):
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True).stdout


def write_people(rows=20000):
    with open("people.csv", "w", encoding="utf-8") as file:
        file.write("a,b,c\n")
        for row in range(rows):
            file.write(f"{row * 7 % 40},{row * 11 % 30},{row * 13 % 20}\n")


def write_spec(name, rho, sizes=None):
    with open(name, "w", encoding="utf-8") as file:
        file.write(f'[data]\nsource = "people.csv"\n[privacy]\nrho = "{rho}"\n[workload]\nmarginals = "<=3"\n')
        for attribute, size in (sizes or {"a": 40, "b": 30, "c": 20}).items():
            file.write(f"[attributes.{attribute}]\nsize = {size}\n")
