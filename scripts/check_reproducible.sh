#!/usr/bin/env bash
# Builds the archives of the commit that is checked out in two folders of different names, and compares them byte by byte.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
umask 022
for folder in one "another folder"; do
  git clone --quiet . "$scratch/$folder"
  mkdir -p "$scratch/$folder/build"
  if [ -d build/duckdb ]; then cp -r build/duckdb "$scratch/$folder/build/"; fi
  (cd "$scratch/$folder" && scripts/dist.sh > /dev/null)
  umask 077
done
diff -r "$scratch/one/build/dist" "$scratch/another folder/build/dist" --exclude build ||
  { echo "reproducible: the archives differ" >&2; exit 1; }
cat "$scratch/one/build/dist/SHA256SUMS"
echo "reproducible: two folders, the same bytes"
