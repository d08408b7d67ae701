#!/usr/bin/env bash
# Runs every benchmark; docs/benchmarks.md says which figures came from which.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in build/release/bench/*_bench; do
  echo "== $program"
  "$program"
  echo
done
