#!/usr/bin/env bash
# Installs what residua needs to build, and only what is missing. Works as root, or with sudo.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake make ninja-build ccache pkg-config python3 python3-dev python3-venv binutils
  libeigen3-dev libgmp-dev libmpfr-dev libssl-dev libtbb-dev libsqlite3-dev zlib1g-dev
  libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libbenchmark-dev
)
if [ "${1:-}" = test ]; then packages+=(postgresql r-base-core openjdk-17-jre-headless); fi
if [ "${1:-}" = lint ]; then packages+=(clang-format clang-tidy); fi
if [ "${1:-}" = fuzz ]; then packages+=(clang-14 libclang-rt-14-dev); fi
if [ "${1:-}" = wasm ]; then packages+=(emscripten libboost-dev); fi
if [ "${1:-}" = web ]; then packages+=(chromium fonts-dejavu-core); fi
if [ "${1:-}" = valgrind ]; then packages+=(valgrind); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root, or install sudo, to install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get -o Acquire::Retries=5 -qq update
  "${as_root[@]}" apt-get -o Acquire::Retries=5 -qq install -y --no-install-recommends "${missing[@]}"
fi

scripts/fetch_duckdb.sh
