#!/usr/bin/env bash
# Runs the fuzzers: fuzz.sh SECONDS [NAME...], each for SECONDS, as many at once as there are processors; a line each.
# New inputs go to build/fuzz/corpus, findings to build/fuzz/findings. fuzz.sh keep [NAME...] adds what reached new code
# to fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in fuzz/*_fuzz.cc; do names+=("$(basename "$source" _fuzz.cc)"); done
fi

# An input that takes longer or more memory than these is a finding: readers must refuse, not labour.
limits=(-timeout=10 -rss_limit_mb=2048 -max_len=8192)
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

fuzz_one() {
  local name=$1 log=build/fuzz/$1.log dictionary=() summary
  [ -f "fuzz/dictionary/$name.txt" ] && dictionary=("-dict=fuzz/dictionary/$name.txt")
  mkdir -p "build/fuzz/corpus/$name" build/fuzz/findings
  if "build/fuzz/fuzz/${name}_fuzz" "${limits[@]}" "${dictionary[@]}" "-max_total_time=$seconds" -print_final_stats=1 \
      "-artifact_prefix=build/fuzz/findings/$name-" "build/fuzz/corpus/$name" "fuzz/corpus/$name" > "$log" 2>&1; then
    summary=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "fuzz: $name: $summary inputs in $seconds s, no finding"
  else
    echo "fuzz: $name: a finding in build/fuzz/findings, explained in $log:" >&2
    grep -m1 -E 'ERROR|what\(\)|runtime error' "$log" >&2 || tail -3 "$log" >&2
    return 1
  fi
}

if [ "$seconds" = keep ]; then
  for name in "${names[@]}"; do
    "build/fuzz/fuzz/${name}_fuzz" -set_cover_merge=1 -use_counters=0 "${limits[@]}" "fuzz/corpus/$name" \
      "build/fuzz/corpus/$name" 2> /dev/null
  done
  exit
fi
export -f fuzz_one
export seconds
# Arrays are not exported; xargs starts a shell a target.
export limits_text="${limits[*]}"
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I{} bash -c 'read -ra limits <<< "$limits_text"; fuzz_one "$1"' _ {}
