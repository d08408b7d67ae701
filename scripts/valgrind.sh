#!/usr/bin/env bash
# Runs golden tests of the command line with every command under valgrind: valgrind.sh [FILE...], all of tests/cli by default.
# Memory that is used wrongly, or lost by residua, fails the command; what was found is in build/valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/valgrind
rm -rf "$folder"
mkdir -p "$folder"
cat > "$folder/residua" <<WRAPPER
#!/usr/bin/env bash
exec valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \\
  --suppressions="$PWD/tests/valgrind.supp" --log-file="$PWD/$folder/log.%p" "$PWD/build/release/residua" "\$@"
WRAPPER
chmod +x "$folder/residua"
if [ $# -eq 0 ]; then set -- tests/cli/*.golden; fi
failed=0
GOLDEN_TIMEOUT=1200 python3 tests/cli/run_golden.py "$folder/residua" "$@" || failed=1
find "$folder" -name 'log.*' -size +0 -exec cat {} + >&2
exit "$failed"
