#!/usr/bin/env bash
# Makes the wheel of the Python package, as users get it, and installs it into its test environment build/python-test.
# The library's objects come from ccache where the release build has compiled them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python_env.sh
is_later=$(build/python-test/bin/python -c 'import sys; print(int(sys.version_info >= (3, 12)))')
if [ "$is_later" = 1 ]; then version=3.12 tag=cp312; else version=3.11 tag=cp311; fi
scripts/wheels.sh "$version" > /dev/null
build/python-test/bin/pip install --disable-pip-version-check --quiet --no-deps --force-reinstall build/wheels/residua-*-"$tag"-*.whl
