#!/usr/bin/env bash
# Makes build/wheels: self-contained wheels of the Python package, one for Python 3.11 and one for 3.12 and all later
# versions, each with the command-line program inside. A Python that is not installed is left out and named. With
# arguments, only for these interpreters.
set -euo pipefail
cd "$(dirname "$0")/.."
wheels=build/wheels
mkdir -p "$wheels"

# The libraries that the extension and the program need are put into the wheel, and its name says for which systems it is.
make_wheel() {
  local python=$1 tag=$2 tools scratch
  tools=$(scripts/wheel_tools.sh "$python")
  scratch=$(mktemp -d)
  "$tools/bin/pip" wheel --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$scratch" . \
    > "build/wheel_$tag.log" 2>&1 || { tail -n 60 "build/wheel_$tag.log" >&2; rm -rf "$scratch"; exit 1; }
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --strip --wheel-dir "$scratch/repaired" "$scratch"/*.whl > "build/repair_$tag.log" 2>&1 || { cat "build/repair_$tag.log" >&2; exit 1; }
  rm -f "$wheels"/residua-*-"$tag"-*.whl
  mv "$scratch"/repaired/*.whl "$wheels"
  rm -rf "$scratch"
}

# The first interpreter of these versions that is there, also of pyenv's.
find_python() {
  local version found
  for version in "$@"; do
    for found in "$(command -v "python$version" || true)" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
      if [ -x "$found" ] && "$found" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2> /dev/null; then
        echo "$found"
        return
      fi
    done
  done
}

asked=${*:-"3.11 3.12"}
for version in $asked; do
  case $version in
    3.11) python=$(find_python 3.11) tag=cp311 ;;
    3.12) python=$(find_python 3.12 3.13 3.14) tag=cp312 ;;
    *) echo "wheels: there are wheels for 3.11 and 3.12 (and later), not for $version" >&2; exit 1 ;;
  esac
  if [ -z "$python" ]; then
    echo "wheels: Python $version is not installed; its wheel is left out" >&2
    continue
  fi
  make_wheel "$python" "$tag"
done
ls -l "$wheels"/*.whl
