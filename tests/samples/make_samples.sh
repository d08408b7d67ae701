#!/usr/bin/env bash
# Writes one file of every format with the residua given: make_samples.sh RESIDUA FOLDER
# Run it when a version is released, and keep the folder as tests/samples/VERSION: check_samples.py holds every later
# version to it. Ledgers record the absolute FOLDER, so choose one that tells nothing, such as /srv/people.
set -euo pipefail
residua=$(realpath "$1")
mkdir -p "$2"
cd "$2"

python3 - > people.csv <<'PYTHON'
print("age,sex,region,income,score")
for i in range(300):
    age, income = i * 37 % 12, i * i * 131 % 90000 + 0.5
    sex, region = ["f", "m", ""][i % 7 % 3], ["N1", "N2", "S1", "S2"][i * 11 % 13 % 4]
    print(f"{age},{sex},{region},{income},{i * 5 % 4}")
PYTHON
printf '# low, middle, high\n1,1,0,0\n0,1,1,0\n0,0,1,1\n1,1,1,1\n' > queries.csv
cat > people.toml <<'TOML'
[data]
source = "people.csv"
[privacy]
rho = "1/3"
delta = 1e-9
[attributes.age]
integers = [0, 11]
outside = "clamp"
queries = "prefix"
[attributes.sex]
values = ["f", "m"]
null = true
[attributes.region]
values = ["N1", "N2", "S1", "S2"]
hierarchy = { north = ["N1", "N2"], south = ["S1", "S2"] }
queries = "hierarchy"
[attributes.income]
cuts = [10000, 25000.5, 50000]
queries = "range"
[attributes.score]
integers = [0, 3]
queries = "custom"
custom = { matrix = "queries.csv" }
[workload]
marginals = "<=1"
tables = [["age", "sex"], { attributes = ["region", "income"], weight = 2.5 }, ["sex", "score"]]
objective = "max-variance"
TOML
# So little budget that the noisy values take more than 64 bits; and a guarantee for all rows of an identifier.
cat > wide.toml <<'TOML'
[data]
source = "people.csv"
ledger = "wide.ledger"
[privacy]
pcost = "1e-32"
identifier = "income"
max_rows = 2
[attributes.age]
integers = [0, 11]
[attributes.sex]
values = ["f", "m"]
null = true
[workload]
marginals = 2
TOML
# A budget on the Gaussian curve, so large that every set is measured on a finer lattice.
cp people.csv curve.csv
cat > curve.toml <<'TOML'
[data]
source = "curve.csv"
[privacy]
epsilon = 8
delta = 1e-6
[attributes.sex]
values = ["f", "m"]
null = true
[attributes.age]
integers = [0, 11]
queries = "prefix"
[workload]
marginals = "<=2"
TOML

"$residua" plan people.toml --basis-cache bases.json > /dev/null
"$residua" release people.toml -o release --yes > /dev/null 2>&1
"$residua" plan wide.toml -o wide.json > /dev/null
"$residua" measure wide.json -o wide.parquet > /dev/null 2>&1
"$residua" tables wide.parquet --digits full -o wide_tables > /dev/null
"$residua" plan curve.toml -o curve.json > /dev/null
"$residua" measure curve.json -o curve.parquet > /dev/null 2>&1
"$residua" tables curve.parquet --digits full -o curve_tables > /dev/null
"$residua" ledger grant --ledger curve.csv.ledger --epsilon 1 --delta 1e-9 --reason 'a second question' > /dev/null
"$residua" ledger --ledger curve.csv.ledger --json > curve_ledger.json
"$residua" verify curve.parquet --json > curve_verified.json
"$residua" ledger grant --ledger people.csv.ledger --rho 1/7 --reason 'a second question' > /dev/null
"$residua" plan people.toml --rho 1/5 -o too_dear.json > /dev/null
"$residua" measure too_dear.json -o never.parquet > /dev/null 2>&1 && { echo "an overspend was allowed" >&2; exit 1; }
"$residua" query release/measurements.parquet 'age=3..7 sex=f' 'region=N1|S2 income=25000.5..' '' --json > answers.json
"$residua" ledger --ledger people.csv.ledger --json > ledger.json
"$residua" verify release/measurements.parquet --json > verified.json
