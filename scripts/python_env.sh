#!/usr/bin/env bash
# A virtual environment for the tests of the Python package, build/python-test, with what they need, pinned.
# It is made again when the pins change.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/python-test
pins=$(sha256sum python/requirements-test.txt; python3 --version)
if [ "$(cat "$environment/pins" 2> /dev/null)" = "$pins" ]; then exit 0; fi
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/pip" install --disable-pip-version-check --retries 10 --quiet -r python/requirements-test.txt
echo "$pins" > "$environment/pins"
