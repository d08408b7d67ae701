#!/usr/bin/env bash
# Makes build/dist: the source archive, which pip builds too, the archive of the built program and library, the bill of
# materials of the latter, and their checksums. All are made from the commit that is checked out, and the same commit gives
# the same bytes in any folder (scripts/check_reproducible.sh shows it).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "$(git status --porcelain)" ]; then
  echo "dist: there are changes that are not committed; commit or remove them" >&2
  exit 1
fi
version=$(sed -n 's/^project(residua VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export CCACHE_DISABLE=1  # it may rewrite the paths that the compiler sees
source=residua-$version
binary=residua-$version-linux-$(uname -m)
dist=build/dist
stage=$dist/stage/$binary
rm -rf "$dist/stage" "$dist"/residua-* "$dist/SHA256SUMS"
mkdir -p "$dist/stage"

scripts/sdist.sh "$dist"  # $source.tar.gz

# The run path is that of the installed program from the start: changing it afterwards would leave traces of the folder.
cmake -S . -B "$dist/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DRESIDUA_BENCH=OFF \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_LIBDIR=lib > /dev/null
cmake --build "$dist/build" --target residua residua_cli residua_shell
cmake --install "$dist/build" --prefix "$stage" --strip > /dev/null

# What Debian says of the licences of the libraries whose headers are compiled in.
mkdir -p "$stage/share/doc/residua/licenses"
for package in libeigen3-dev nlohmann-json3-dev libcli11-dev libfmt-dev libtomlplusplus-dev libtbb-dev; do
  cp "/usr/share/doc/$package/copyright" "$stage/share/doc/residua/licenses/$package"
done
scripts/make_sbom.py "$stage/bin/residua" "$version" "$SOURCE_DATE_EPOCH" > "$dist/$source.sbom.json"
cp "$dist/$source.sbom.json" "$stage/share/doc/residua/"
scripts/pack.sh "$stage" "$SOURCE_DATE_EPOCH" > "$dist/$binary.tar.gz"
rm -rf "$dist/stage"
(cd "$dist" && sha256sum residua-* | tee SHA256SUMS)
