#!/usr/bin/env bash
# clang-format, clang-tidy, and the order of the rooms: a folder includes only what stands above it and stays small, true
# counts and noise for tests stay in measure/, and the library's messages name no flag and no command, which each front end
# has its own words for.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files '*.cc' '*.h')
clang-format --dry-run --Werror "${files[@]}"

python3 - "${files[@]}" <<'PYTHON'
import re, sys
order = ["base", "model", "basis", "privacy", "select", "noise", "measure", "reconstruct",
         "text", "data", "files", "ledger", "draft", "release"]
inner = ("residua/measure/", "tests/", "bench/")
bad = 0
for name in sys.argv[1:]:
    parts = name.split("/")
    if not name.startswith(inner):
        for number, line in enumerate(open(name, encoding="utf-8"), 1):
            if re.match(r'#include "residua/measure/(true_\w+|counted_cells|measure_with_bits)\.h"', line):
                print(f"{name}:{number}: only measure/ and tests include {line.split(chr(34))[1]}")
                bad += 1
    if parts[0] != "residua" or len(parts) < 3:
        continue
    rank = order.index(parts[1])
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        match = re.match(r'#include "(?:residua/(\w+)/|(cli|tests|bench)/)', line)
        if match and (match[2] or order.index(match[1]) > rank):
            print(f"{name}:{number}: {parts[1]}/ must not include {line.split(chr(34))[1]}")
            bad += 1
sys.exit(bad > 0)
PYTHON

# A room of more files than these has more than about twenty nouns.
crowded=$(git ls-files 'residua/*/*' | xargs -n1 dirname | sort | uniq -c | awk '$1 > 45 {print $2 "/ has " $1 " files; at most 45"}')
# What draft_spec.cc and summary.cc write are files for people who use the command line.
flags=$(git ls-files 'residua/*.cc' | grep -vE '^residua/(draft/draft_spec|release/summary).cc$' | xargs grep -nE \
  '"[^"]*(--[a-z]+|residua (plan|measure|release|ledger|tables|query|init|check|verify))[^"]*"' |
  sed 's/$/   <- names a flag or a command; pass a Phrase/' || true)
if [ -n "$crowded$flags" ]; then
  printf '%s\n' ${crowded:+"$crowded"} ${flags:+"$flags"} >&2
  exit 1
fi

# clang-tidy runs again only on files that changed since it last passed them.
stamps=build/lint/passed
mkdir -p "$stamps"
todo=()
newest_header=$(git ls-files '*.h' .clang-tidy | xargs ls -t | sed -n 1p)
for file in $(git ls-files 'residua/*.cc' 'cli/*.cc'); do
  stamp=$stamps/${file//\//_}
  if [ ! -e "$stamp" ] || [ "$file" -nt "$stamp" ] || [ "$newest_header" -nt "$stamp" ]; then todo+=("$file"); fi
done
if [ ${#todo[@]} -gt 0 ]; then
  printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -I{} sh -c \
    'clang-tidy --quiet -p build/lint "$1" 2>/dev/null && touch "$2/$(echo "$1" | tr / _)"' _ {} "$stamps"
fi
echo "lint: ${#files[@]} files pass"
