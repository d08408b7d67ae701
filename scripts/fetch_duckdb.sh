#!/usr/bin/env bash
# Puts DuckDB's shared library and C header into build/duckdb, unless the system has a DuckDB that
# a program can be built with. Both come from npm packages, pinned and checksummed in duckdb.pins.
# npm is installed where it is missing, but not with --no-install.
set -euo pipefail
cd "$(dirname "$0")/.."

target=build/duckdb
option=${1:-}

has_checksum() { [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status -; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

system_has_duckdb() {
  echo '#include <duckdb.h>
        int main() { return duckdb_library_version() == nullptr; }' > "$scratch/probe.cc"
  "${CXX:-g++}" "$scratch/probe.cc" -lduckdb -o "$scratch/probe" 2> /dev/null
}

install_npm() {
  command -v npm > /dev/null && return
  if [ "$option" = --no-install ]; then
    echo "fetch_duckdb: npm is missing; install it, or install DuckDB (duckdb.h and libduckdb) on the system" >&2
    exit 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || { echo "fetch_duckdb: npm is missing; install it, or run as root" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "fetch_duckdb: installing npm"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get -o Acquire::Retries=5 -qq update
  "${as_root[@]}" apt-get -o Acquire::Retries=5 -qq install -y --no-install-recommends npm
}

# fetch PACKAGE VERSION PACKAGE_CHECKSUM FILE FILE_CHECKSUM
fetch() {
  local destination archive
  destination=$target/$(basename "$4")
  has_checksum "$destination" "$5" && return
  install_npm
  echo "fetch_duckdb: fetching $1@$2"
  for attempt in 1 2 3 4 5; do
    archive=$(npm pack --silent --pack-destination "$scratch" "$1@$2" | tail -n 1) && break
    [ "$attempt" -lt 5 ] || { echo "fetch_duckdb: npm cannot fetch $1@$2; see whether npm reaches its registry" >&2; exit 1; }
    sleep $((attempt * 2))
  done
  has_checksum "$scratch/$archive" "$3" ||
    { echo "fetch_duckdb: $1@$2 does not have its pinned checksum; not used" >&2; exit 1; }
  tar -xmzf "$scratch/$archive" -C "$scratch" "$4"
  has_checksum "$scratch/$4" "$5" ||
    { echo "fetch_duckdb: $4 of $1@$2 does not have its pinned checksum; not used" >&2; exit 1; }
  mkdir -p "$target"
  mv "$scratch/$4" "$destination"
}

if system_has_duckdb; then exit 0; fi
if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
  echo "fetch_duckdb: no DuckDB is pinned for $(uname -s) on $(uname -m); install DuckDB (duckdb.h and libduckdb) on the system" >&2
  exit 1
fi
while read -r -a pin <&3; do
  [ "${pin[0]}" = "#" ] || fetch "${pin[@]}"
done 3< scripts/duckdb.pins
