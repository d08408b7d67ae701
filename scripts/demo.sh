#!/usr/bin/env bash
# The main job on the bundled example: choose the noise for a small census-like table.
set -euo pipefail
cd "$(dirname "$0")/.."
residua=build/release/residua
mkdir -p build/demo
echo "\$ residua plan examples/people.toml -o plan.json"
"$residua" plan examples/people.toml -o build/demo/plan.json
echo
echo "\$ residua verify plan.json"
"$residua" verify build/demo/plan.json
