#!/usr/bin/env bash
# Runs the fuzzers: fuzz.sh SECONDS [NAME...], each for SECONDS, as many at once as there are processors; a line each.
# New inputs go to build/fuzz/corpus, findings to build/fuzz/findings. fuzz.sh keep [NAME...] adds what reached new code
# to fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
if [ $# -eq 0 ]; then
  mapfile -t names < <(basename --suffix=_fuzz.cc fuzz/*_fuzz.cc)
  set -- "${names[@]}"
fi
if [ $# -gt 1 ]; then
  printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 scripts/fuzz.sh "$seconds"
  exit
fi

name=$1
log=build/fuzz/$name.log
fuzzer=build/fuzz/fuzz/${name}_fuzz
corpora=("build/fuzz/corpus/$name" "fuzz/corpus/$name")
# An input that takes longer or more memory than these is a finding: readers must refuse it instead.
options=(-timeout=60 -report_slow_units=60 -rss_limit_mb=2048 -max_len=8192)
mkdir -p "${corpora[@]}" build/fuzz/findings
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

if [ "$seconds" = keep ]; then
  "$fuzzer" "${options[@]}" -set_cover_merge=1 -use_counters=0 "${corpora[1]}" "${corpora[0]}" > "$log" 2>&1
  exit
fi
options+=("-max_total_time=$seconds" -print_final_stats=1 "-artifact_prefix=build/fuzz/findings/$name-")
if [ -f "fuzz/dictionary/$name.txt" ]; then options+=("-dict=fuzz/dictionary/$name.txt"); fi
if "$fuzzer" "${options[@]}" "${corpora[@]}" > "$log" 2>&1; then
  echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, no finding"
else
  echo "fuzz: $name: a finding in build/fuzz/findings, explained in $log:" >&2
  grep -m1 -E 'ERROR|what\(\)|runtime error' "$log" >&2 || tail -3 "$log" >&2
  exit 1
fi
