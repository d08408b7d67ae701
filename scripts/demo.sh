#!/usr/bin/env bash
# The main job, on 200,000 people that nobody is: plan, measure once, tables, and a few questions.
set -euo pipefail
cd "$(dirname "$0")/.."
residua=$PWD/build/release/residua
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
run plan people.toml -o plan.json
run measure plan.json -o measurements.parquet
run verify measurements.parquet
run tables measurements.parquet -o tables
run query measurements.parquet 'age=18..30 sex=female' 'region=north|east education=doctorate' 'income=45000..'
run query measurements.parquet --covariance 'sex=female education=master' 'sex=male education=master'
run ledger

echo
echo "The truth, which a real release would not show:"
awk -F, '$1 >= 18 && $1 <= 30 && $2 == "female"' people.csv | wc -l | sed 's/^/  age=18..30 sex=female                  /'
awk -F, '($3 == "north" || $3 == "east") && $4 == "doctorate"' people.csv | wc -l | sed 's/^/  region=north|east education=doctorate   /'
awk -F, 'NR > 1 && $5 > 45000' people.csv | wc -l | sed 's/^/  income=45000..                          /'
echo
echo "Everything is in build/demo; tables/ has one CSV a table."
