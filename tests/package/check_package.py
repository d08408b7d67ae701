#!/usr/bin/env python3
"""Installs residua and uses it as a new user would: check_package.py CMAKE BUILD CXX

Every installed header must compile alone, include no header that was not installed, and show nothing of true counts, of
noise that is made for tests, of DuckDB, JSON or TOML; the library must have no such noise in it; nothing that was installed
may name the folder it was built in; and the project beside this file must find the package, build, run, and be refused
another minor version. It is built twice: with the whole library, and with the core on a machine that has no DuckDB, SQLite
or TOML. The README shows its source."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

cmake, build, cxx = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
HIDDEN = re.compile(r"#include [<\"](duckdb|nlohmann/|toml\+\+/|sqlite3)|\b(class|struct) (True\w+|\w*Deterministic\w*|\w*Insecure\w*)"
                    r"|\b(bits_of_thread|BitsOfThread|MeasureWithBits)\b")
OWN = re.compile(r"#include [<\"](residua/[^>\"]+)[>\"]")
TEST_NOISE = re.compile(r"insecure|deterministic|seeded", re.IGNORECASE)


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def files_in(folder):
    return sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)


def check_headers(include):
    headers = [name for name in files_in(include) if name.endswith(".h")]
    if len(headers) < 50:
        sys.exit(f"only {len(headers)} headers were installed")
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text = file.read()
        shown = HIDDEN.search(text)
        if shown:
            sys.exit(f"{header} shows {shown[1] or shown[3] or shown[4]}")
        if re.match(r"true_|" + TEST_NOISE.pattern, os.path.basename(header)):
            sys.exit(f"{header} is not for programs")
        for name in OWN.findall(text):
            if not os.path.exists(os.path.join(include, name)):
                sys.exit(f"{header} includes {name}, which was not installed")

    def compile_alone(header):
        run(cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-I", include, "-isystem", "/usr/include/eigen3", header)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_alone, headers))
    return len(headers)


def check_symbols(prefix):
    libraries = [name for name in files_in(prefix) if re.fullmatch(r"libresidua\w*\.a", os.path.basename(name))]
    symbols = run("nm", "--demangle", "--defined-only", *libraries).splitlines()
    if not any("residua::SecureBits::" in symbol for symbol in symbols):
        sys.exit("the library has no symbols to look at")
    for symbol in symbols:
        if "residua::" in symbol and TEST_NOISE.search(symbol):
            sys.exit(f"the library has {symbol}")


def check_no_build_paths(prefix):
    for name in files_in(prefix):
        if os.path.basename(name).startswith("libduckdb"):
            continue
        with open(name, "rb") as file:
            if source.encode() + b"/" in file.read():
                sys.exit(f"{name} names the folder it was built in")


def check_readme():
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        shown = re.search(r"<!-- example: tests/package/outside.cc -->\n```cpp\n(.*?)```\n<!-- end -->", file.read(), re.S)
    with open(os.path.join(here, "outside.cc"), encoding="utf-8") as file:
        if not shown or shown[1] != file.read():
            sys.exit("README.md shows another example than tests/package/outside.cc; copy it there")


def core_prefix(prefix, scratch):
    """A copy of what is installed, without DuckDB, and a folder of what pkg-config finds on a machine with the core's
    dependencies alone."""
    alone = os.path.join(scratch, "alone")
    shutil.copytree(prefix, alone, ignore=shutil.ignore_patterns("libduckdb*", "bin"), symlinks=True)
    modules = os.path.join(scratch, "modules")
    os.mkdir(modules)
    for name in ["gmp", "gmpxx", "mpfr", "openssl", "libssl", "libcrypto"]:
        folder = subprocess.run(["pkg-config", "--variable=pcfiledir", name], capture_output=True, text=True).stdout.strip()
        if folder:
            shutil.copy(os.path.join(folder, name + ".pc"), modules)
    return alone, modules


def check_outside(component, prefix, folder, **environment):
    run(*configure, folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCOMPONENT={component}", **environment)
    run(cmake, "--build", folder)
    said = run(os.path.join(folder, "outside"))
    answer = re.fullmatch(r"residua \d+\.\d+\.\d+: (\d+\.\d{3}) \+- (\d\.\d{3})\n", said)
    # Ten standard deviations: of the 1,000 rows of that cell, never by chance.
    if not answer or abs(float(answer[1]) - 1000) > 10 * float(answer[2]):
        sys.exit(f"the outside program says {said} with residua::{component}")
    return said


check_readme()
with tempfile.TemporaryDirectory() as scratch:
    prefix = os.path.join(scratch, "elsewhere")
    run(cmake, "--install", build, "--prefix", os.path.join(scratch, "prefix"))
    os.rename(os.path.join(scratch, "prefix"), prefix)  # what is installed can be moved
    run(os.path.join(prefix, "bin", "residua"), "plan", "--domain", "2,3", "--marginals", "1")
    check_no_build_paths(prefix)
    check_symbols(prefix)
    configure = [cmake, "-S", here, f"-DCMAKE_CXX_COMPILER={cxx}", "-B"]
    refused = subprocess.run([*configure, os.path.join(scratch, "refused"), f"-DCMAKE_PREFIX_PATH={prefix}", "-DWANTED=0.99",
                              "-DCOMPONENT=residua"], capture_output=True)
    if refused.returncode == 0:
        sys.exit("find_package(residua 0.99) was satisfied")
    said = check_outside("residua", prefix, os.path.join(scratch, "outside"))
    alone, modules = core_prefix(prefix, scratch)
    check_outside("core", alone, os.path.join(scratch, "outside_core"), PKG_CONFIG_LIBDIR=modules)
    loaded = run("ldd", os.path.join(scratch, "outside_core", "outside"))
    if re.search("duckdb|sqlite|toml", loaded):
        sys.exit("the program with the core alone loads\n" + loaded)
    print(f"{check_headers(os.path.join(prefix, 'include'))} headers compile alone; outside: {said}", end="")
