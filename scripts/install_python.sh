#!/usr/bin/env bash
# Installs the Python package, as this tree has it, into its test environment build/python-test.
# The library's objects come from ccache where the release build has compiled them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python_env.sh
if ! build/python-test/bin/pip install --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall --verbose . \
  > build/python_install.log 2>&1; then
  tail -n 60 build/python_install.log >&2
  echo "install_python: the package cannot be built; the whole log is build/python_install.log" >&2
  exit 1
fi
