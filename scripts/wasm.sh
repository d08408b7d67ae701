#!/usr/bin/env bash
# Compiles what pages compute with, residua's core, to WebAssembly: web/core/residua.wasm.gz. It is committed, so that pages
# are built without emscripten; web/core/residua.inputs says what it was made of.
#   scripts/wasm.sh            compiles, and writes both files
#   scripts/wasm.sh compare    compiles, and compares with the committed file
#   scripts/wasm.sh check      only whether the committed file is the one that was made; needs no compiler
set -euo pipefail
cd "$(dirname "$0")/.."

# No noise is drawn and no data is counted in a page, and there are no files.
mapfile -t sources < <(git ls-files --cached --others --exclude-standard \
  'residua/base/*.cc' 'residua/model/*.cc' 'residua/basis/*.cc' 'residua/privacy/*.cc' 'residua/select/*.cc' \
  'residua/reconstruct/*.cc' 'residua/text/*.cc' 'web/core/*.cc' residua/measure/measurements.cc \
  residua/noise/discrete_gaussian_variance.cc residua/files/{plan_file,format_version,nesting}.cc |
  grep -vE '^residua/base/(openssl|memory|nameless_file)\.cc$')
mapfile -t headers < <(git ls-files --cached --others --exclude-standard \
  'residua/base/*.h' 'residua/model/*.h' 'residua/basis/*.h' 'residua/privacy/*.h' 'residua/select/*.h' \
  'residua/reconstruct/*.h' 'residua/text/*.h' 'web/core/include/*' residua/measure/measurements.h \
  residua/noise/{decay_rate,discrete_gaussian}.h \
  residua/files/{plan_file,format_version,nesting,digest,file,spec}.h)
version=$(sed -n 's/^project(residua VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
wasm=web/core/residua.wasm.gz

inputs() {
  echo "version $version"
  printf '%s\n' scripts/wasm.sh "${sources[@]}" "${headers[@]}" | LC_ALL=C sort | xargs sha256sum
}

if [ "${1:-}" = check ]; then
  grep -F "$(sha256sum "$wasm")" web/core/residua.inputs > /dev/null || {
    echo "wasm: $wasm is not the file that web/core/residua.inputs names; run make wasm and commit both" >&2
    exit 1
  }
  exit 0
fi

# Boost, Eigen, fmt and JSON have headers only; the rest of the system's headers must not be seen.
build=build/wasm
mkdir -p "$build/include" "$build/objects"
for name in boost fmt nlohmann eigen3/Eigen; do ln -sfn "/usr/include/$name" "$build/include/${name##*/}"; done

# With SSE2 and as many registers as x86-64 has, so that Eigen sums in the order it does natively, and answers are the same to
# the last digit; the version of GCC that clang claims to be is one for which Eigen writes no assembler. Exceptions are the
# browser's own.
flags=(-std=c++20 -O2 -fwasm-exceptions -msimd128 -msse2 -fgnuc-version=5.20 -ffp-contract=off -w
  -DRESIDUA_SERIAL -DFMT_HEADER_ONLY -DEIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS=16 "-DRESIDUA_VERSION=\"$version\"" "-ffile-prefix-map=$PWD/="
  -Iweb/core/include "-I$build/include" -I. -include library_gaps.h)

compile() {
  local object=$1/objects/${2//\//_}.o
  shift
  local source=$1
  shift
  # Made again only if what it was made of changed.
  if [ -e "$object" ] && [ -e "$object.d" ] && ! tr -d '\\\n' < "$object.d" | sed 's/^[^:]*://' | tr -s ' ' '\n' | grep . |
    xargs -I{} find -L {} -newer "$object" 2> /dev/null | grep -q .; then return; fi
  em++ "$@" -MMD -MF "$object.d" -c "$source" -o "$object"
}
export -f compile
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' _ "$build" {} "${flags[@]}"

objects=()
for source in "${sources[@]}"; do objects+=("$build/objects/${source//\//_}.o"); done
em++ -O2 -fwasm-exceptions -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB \
  "${objects[@]}" -o "$build/residua.wasm"
if [ "${1:-}" = compare ]; then
  gunzip < "$wasm" | cmp "$build/residua.wasm" -
  echo "wasm: the committed file is what its sources make"
  exit 0
fi
gzip -9 --no-name < "$build/residua.wasm" > "$wasm"
{ inputs; sha256sum "$wasm"; } > web/core/residua.inputs
echo "wasm: $(stat -c %s "$build/residua.wasm") bytes, $(stat -c %s "$wasm") compressed"
