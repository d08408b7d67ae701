#!/usr/bin/env python3
"""Checks the parts of `make dist` that are quick: check_dist.py PROGRAM SCRIPTS

The bill of materials follows the rules of SPDX 2.3 and names what the program loads; packing the same files gives the same
bytes at any time and for any user. That a second build gives the same files is for `make test-slow`."""
import json
import os
import re
import subprocess
import sys
import tempfile

program, scripts = sys.argv[1:]
PURL = re.compile(r"pkg:(deb/debian|npm)/[A-Za-z0-9%.+_/-]+@[A-Za-z0-9%.+~_-]+(\?arch=(amd64|all)&distro=debian-12)?")
REQUIRED = {"SPDXID", "name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"}


def check(condition, what):
    if not condition:
        sys.exit("dist: " + what)


def check_sbom():
    made = [subprocess.run([os.path.join(scripts, "make_sbom.py"), program, "1.2.3", "1700000000"], check=True,
                           capture_output=True, text=True).stdout for _ in range(2)]
    check(made[0] == made[1], "two bills of materials differ")
    sbom = json.loads(made[0])
    check(sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0", "it is not SPDX 2.3")
    check(sbom["SPDXID"] == "SPDXRef-DOCUMENT" and sbom["documentNamespace"].startswith("https://"), "no name")
    check(sbom["creationInfo"]["created"] == "2023-11-14T22:13:20Z", "another time than the commit's")
    ids = [entry["SPDXID"] for entry in sbom["packages"]]
    check(len(set(ids)) == len(ids), "an id is there twice")
    for entry in sbom["packages"]:
        check(REQUIRED <= entry.keys(), f"{entry['name']} lacks {REQUIRED - entry.keys()}")
        check(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", entry["SPDXID"]), f"{entry['SPDXID']} is no id")
        check(entry["filesAnalyzed"] is False, "files that are not listed are said to be analysed")
        for checksum in entry.get("checksums", []):
            check(re.fullmatch("[0-9a-f]{64}", checksum["checksumValue"]), "a checksum is none")
        for reference in entry.get("externalRefs", []):
            check(PURL.fullmatch(reference["referenceLocator"]), f"{reference['referenceLocator']} is no purl")
    for relationship in sbom["relationships"]:
        for end in ["spdxElementId", "relatedSpdxElement"]:
            check(relationship[end] in ids + ["SPDXRef-DOCUMENT"], f"{relationship[end]} is not there")
    check(len(sbom["relationships"]) == len(ids), "a package is related to nothing")
    names = {entry["name"] for entry in sbom["packages"]}
    wanted = {"libgmp10", "libmpfr6", "libssl3", "libsqlite3-0", "libeigen3-dev", "@duckdb/node-bindings-linux-x64"}
    check(wanted <= names, f"it lacks {wanted - names}")


def packed(folder):
    return subprocess.run([os.path.join(scripts, "pack.sh"), folder, "1700000000"], check=True, capture_output=True).stdout


def check_packing():
    archives = []
    for umask, time, content in [(0o022, 1, "a"), (0o077, 2, "a"), (0o022, 1, "b")]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "residua-1.2.3")
            before = os.umask(umask)
            for name in sorted(["z", "a/b", "a/c"], reverse=umask == 0o077):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
                os.utime(path, (time, time))
            os.umask(before)
            archives.append(packed(folder))
    check(archives[0] == archives[1], "the same files give other bytes")
    check(archives[0] != archives[2], "other files give the same bytes")


check_sbom()
check_packing()
print("the bill of materials is whole, and packing is reproducible")
