#!/usr/bin/env bash
# Makes the source archive in the folder given: the files of the commit that is checked out, and what pip asks for. It is
# what `python -m build --sdist` makes.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
tools=$(scripts/wheel_tools.sh python3)
"$tools/bin/python" -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$1" > /dev/null
