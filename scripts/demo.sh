#!/usr/bin/env bash
# A whole release of 200,000 made-up people, and three questions to it, compared with the truth.
set -euo pipefail
cd "$(dirname "$0")/.."
residua=$PWD/build/release/residua
compare=$PWD/scripts/compare_with_truth.py
rm -rf build/demo
mkdir -p build/demo
cp examples/people.toml build/demo/
python3 examples/make_people.py 200000 > build/demo/people.csv
cd build/demo

run() {
  echo
  printf '$ residua'
  for argument in "$@"; do
    case $argument in *[\ \|]*) printf " '%s'" "$argument" ;; *) printf ' %s' "$argument" ;; esac
  done
  echo
  "$residua" "$@"
}
run check people.toml
run release people.toml -o release --yes
run verify release/measurements.parquet
run query release/measurements.parquet --covariance 'sex=female education=master' 'sex=male education=master'
run ledger

echo
echo 'Three questions, and the truth, which a real release would not show:'
python3 "$compare" "$residua" release/measurements.parquet people.csv \
  'age=18..30 sex=female' 'district=N1|N2|N3 occupation=health' 'income=40000..'
echo
echo 'Everything is in build/demo/release: read summary.md first; tables/ has one CSV file per table.'
echo "To look at it, open this page in a browser: file://$PWD/release/index.html"
