#!/usr/bin/env bash
# Makes the environment in which wheels and the source archive are made, with pinned tools, for the interpreter given,
# and prints its folder. It is made again when the pins change.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=build/wheel-tools/$("$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
pins=$(sha256sum scripts/wheel_tools.txt; "$1" --version)
if [ "$(cat "$tools/pins" 2> /dev/null)" != "$pins" ]; then
  rm -rf "$tools"
  "$1" -m venv "$tools"
  "$tools/bin/pip" install --disable-pip-version-check --retries 10 --quiet --require-hashes -r scripts/wheel_tools.txt
  echo "$pins" > "$tools/pins"
fi
echo "$tools"
