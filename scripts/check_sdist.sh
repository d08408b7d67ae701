#!/usr/bin/env bash
# Makes the source archive, lets pip build a wheel of it in an environment that has nothing else, and uses that wheel in
# another. The system packages of scripts/setup.sh are there; DuckDB and the tools are fetched as for any user.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scripts/sdist.sh "$scratch"
cd "$scratch"
python3 -m venv make
make/bin/pip wheel --disable-pip-version-check --retries 10 --quiet --no-deps --wheel-dir wheels residua-*.tar.gz
python3 -m venv use
use/bin/pip install --disable-pip-version-check --retries 10 --quiet wheels/*.whl
use/bin/residua --version
use/bin/python - <<'PYTHON'
import pandas as pd
import residua as rs

plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals="<=1", rho=10)
release = plan.release(pd.DataFrame({"sex": ["male"] * 500}), "released", ledger="a.ledger")
assert abs(release.query(sex="male").value - 500) < 10
PYTHON
echo "sdist: built by pip, and it works"
