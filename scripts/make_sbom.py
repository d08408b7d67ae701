#!/usr/bin/env python3
"""Writes the software bill of materials, SPDX 2.3 JSON: make_sbom.py PROGRAM VERSION EPOCH > FILE

Of the program: the Debian packages of the libraries it loads, those whose headers are compiled into it, the compiler,
and DuckDB's pinned npm packages; versions as they are on this machine, SHA-256 of the packages as apt and the pins have
them. EPOCH, the time of the commit, is the only time in it."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

# By Debian package. A library that is not here stops the release until someone has looked up its
# licence.
LICENSES = {
    "libc6": "LGPL-2.1-or-later", "libcrypt1": "LGPL-2.1-or-later", "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1", "libgmp10": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "libmpfr6": "LGPL-3.0-or-later", "libfmt9": "MIT", "libtbb12": "Apache-2.0", "libtbbmalloc2": "Apache-2.0",
    "libssl3": "Apache-2.0", "libsqlite3-0": "blessing", "libtomlplusplus3": "MIT", "zlib1g": "Zlib",
    "libeigen3-dev": "MPL-2.0", "nlohmann-json3-dev": "MIT", "libcli11-dev": "BSD-3-Clause",
    "g++-12": "GPL-3.0-or-later",
}
HEADERS = ["libeigen3-dev", "nlohmann-json3-dev", "libcli11-dev"]
TOOLS = ["g++-12"]
PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb.pins")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make_sbom: {' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def pins():
    with open(PINS, encoding="utf-8") as file:
        return [line.split() for line in file if not line.startswith("#")]


def check_is_pinned(path):
    if sha256(path) not in [pin[4] for pin in pins()]:
        sys.exit(f"make_sbom: {path} is not the pinned DuckDB; build without a DuckDB on the system")


def loaded_packages(program):
    """The Debian packages of the shared libraries, except DuckDB, which we ship ourselves."""
    packages = set()
    for path in re.findall(r"^\s*(?:\S+ => )?(/.*) \(0x", output("ldd", program), re.M):
        if os.path.basename(path).startswith("libduckdb."):
            check_is_pinned(path)
            continue
        # dpkg knows a file by the name it was installed under, from before /lib became a link to /usr/lib.
        real = os.path.realpath(path)
        for name in [real, re.sub("^/usr", "", real)]:
            done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if done.returncode == 0:
                packages.add(done.stdout.split(":")[0])
                break
        else:
            sys.exit(f"make_sbom: no Debian package has {path}; build with Debian's libraries")
    return sorted(packages)


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, license_name, purl, checksum):
    entry = {"SPDXID": spdx_id(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
             "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license_name,
             "copyrightText": "NOASSERTION"}
    if checksum:
        entry["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    if purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def installed(name):
    if name not in LICENSES:
        sys.exit(f"make_sbom: the licence of {name} is not known; add it to LICENSES")
    return output("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", name).splitlines()[0].split()


def apt_checksums(versions):
    """Of the packages that apt lists in these versions."""
    shown = subprocess.run(["apt-cache", "show", *(f"{name}={version}" for name, (version, _) in versions.items())],
                           capture_output=True, text=True).stdout
    checksums = {}
    for stanza in shown.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if re.match(r"[A-Za-z0-9]+: ", line))
        if "SHA256" in fields:
            checksums[fields["Package"], fields["Version"]] = fields["SHA256"]
    return checksums


def debian_packages(names):
    versions = {name: installed(name) for name in names}
    checksums = apt_checksums(versions)
    for name, (version, architecture) in versions.items():
        checksum = checksums.get((name, version))
        if not checksum:
            print(f"make_sbom: apt has no checksum of {name} {version}; run apt-get update and upgrade", file=sys.stderr)
        purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe='')}?arch={architecture}&distro=debian-12"
        yield package(name, version, LICENSES[name], purl, checksum)


def pinned_packages():
    for name, version, checksum, *_ in pins():
        yield package(name, version, "MIT", f"pkg:npm/{urllib.parse.quote(name, safe='/')}@{version}", checksum)


def main():
    program, version, epoch = sys.argv[1:]
    ours = package("residua", version, "Apache-2.0", "", "")
    ours["comment"] = "SHA-256 of the program: " + sha256(program)
    debian = list(debian_packages(HEADERS + loaded_packages(program) + TOOLS))
    contained = debian[:len(HEADERS)]
    loaded = debian[len(HEADERS):-len(TOOLS)]
    tools = debian[-len(TOOLS):]
    pinned = list(pinned_packages())

    def relate(packages, kind):
        return [{"spdxElementId": entry["SPDXID"], "relationshipType": kind, "relatedSpdxElement": ours["SPDXID"]}
                for entry in packages]

    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": ours["SPDXID"]}]
    relationships += relate(loaded + pinned[:1], "RUNTIME_DEPENDENCY_OF")
    relationships += relate(contained + pinned[1:], "BUILD_DEPENDENCY_OF") + relate(tools, "BUILD_TOOL_OF")
    packages = [ours] + debian + pinned
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                "name": f"residua-{version}", "documentNamespace": f"https://residua.invalid/spdx/{version}-{digest}",
                "creationInfo": {"created": created, "creators": ["Tool: residua-make_sbom"]},
                "packages": packages, "relationships": relationships}
    json.dump(document, sys.stdout, indent=1)
    print()


main()
