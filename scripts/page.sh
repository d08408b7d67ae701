#!/usr/bin/env bash
# Builds the pages without a release and a spec, web/dist/{reader,planner}.html, from web/src and web/core/*.wasm.gz. They are
# committed, so that nobody needs node to build residua.
#   scripts/page.sh         builds them
#   scripts/page.sh test    checks that the committed pages are what their sources make, and tries them in a browser
#   scripts/page.sh lint    checks format, types and lint
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(node --version 2>/dev/null | sed 's/^v//' || true)
if [ -z "$version" ] || [ "$(printf '%s\n' 20.19 "$version" | sort -V | head -1)" != 20.19 ]; then
  if [ "${1:-}" = "" ]; then
    echo "page: node 20.19 or newer is needed to build the page" >&2
    exit 1
  fi
  echo "page: not checked, for lack of node 20.19 or newer"
  exit 0
fi

cd web
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --loglevel=error > /dev/null
  touch node_modules/.package-lock.json
fi
case ${1:-} in
  lint)
    npm run --silent lint > ../build/page_lint.log 2>&1 || { cat ../build/page_lint.log >&2; exit 1; }
    npm run --silent check
    echo "lint: the page passes"
    ;;
  test)
    ../scripts/setup.sh web
    ../scripts/wasm.sh check
    npm run --silent check
    for page in reader planner; do
      npx vite build --logLevel warn --mode $page --outDir ../build/page
      cmp ../build/page/$page.html dist/$page.html || {
        echo "page: web/dist/$page.html is not what web/src makes; run make page and commit it" >&2
        exit 1
      }
    done
    npm test --silent > ../build/page_tests.log 2>&1 || { cat ../build/page_tests.log >&2; exit 1; }
    echo "page: $(grep -c '^ok' ../build/page_tests.log) tests pass in $(sed -n 's/^# duration_ms \([0-9]*\)[0-9][0-9][0-9]\..*/\1/p' ../build/page_tests.log) s"
    ;;
  *)
    npm run --silent check
    for page in reader planner; do
      npx vite build --logLevel warn --mode $page
      echo "page: web/dist/$page.html, $(stat -c %s dist/$page.html) bytes"
    done
    ;;
esac
