#!/usr/bin/env bash
# Makes the documentation site, build/site, from docs/, the notebook and the docstrings, and tests every link of it. The
# pictures of its gallery are drawn by the package in build/python-test.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/docs-env
pins=$(sha256sum scripts/docs_tools.txt; python3 --version)
if [ "$(cat "$environment/pins" 2> /dev/null)" != "$pins" ]; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --disable-pip-version-check --retries 10 --quiet --require-hashes -r scripts/docs_tools.txt
  echo "$pins" > "$environment/pins"
fi
pages=build/site-pages
rm -rf "$pages" build/site
mkdir -p "$pages"
cp docs/*.md docs/*.svg docs/*.png docs/*.tsv CONTRIBUTING.md python/notebooks/*.ipynb "$pages"
# Links that lead out of docs/ lead to the copies.
sed -i 's|](\.\./CONTRIBUTING\.md)|](CONTRIBUTING.md)|; s|](\.\./python/notebooks/|](|' "$pages"/*.md
sed -i 's|](docs/|](|g' "$pages/CONTRIBUTING.md"
build/python-test/bin/python scripts/make_gallery.py "$pages"
"$environment/bin/python" scripts/make_reference.py python/residua/__init__.py > "$pages/reference.md"
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --quiet --strict --config-file scripts/mkdocs.yml
rm -rf .cache  # of the notebook's page
"$environment/bin/python" scripts/check_links.py build/site
