#!/usr/bin/env bash
# Installs the Python package into its test environment and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_python.sh
exec build/python-test/bin/python -m pytest --quiet python/tests "$@"
