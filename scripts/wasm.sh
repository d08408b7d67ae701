#!/usr/bin/env bash
# Compiles what pages compute with, residua's core, to WebAssembly: web/core/reader.wasm.gz for the page of a release and
# web/core/planner.wasm.gz for the planning page. Both are committed, so that pages are built without emscripten;
# web/core/wasm.inputs says what they were made of.
#   scripts/wasm.sh            compiles, and writes all three files
#   scripts/wasm.sh compare    compiles, and compares with the committed files
#   scripts/wasm.sh check      only whether the committed files are the ones that were made; needs no compiler
set -euo pipefail
cd "$(dirname "$0")/.."

# No noise is drawn and no data is counted in a page, and there are no files. What only the planning page needs comes second.
mapfile -t core_sources < <(git ls-files --cached --others --exclude-standard \
  'residua/base/*.cc' 'residua/model/*.cc' 'residua/basis/*.cc' 'residua/privacy/*.cc' 'residua/select/*.cc' \
  'residua/reconstruct/*.cc' 'residua/text/*.cc' web/core/{door,stand_ins}.cc residua/measure/measurements.cc \
  residua/noise/{discrete_gaussian_variance,variance_limits}.cc residua/files/{attribute_json,plan_file,format_version,nesting}.cc |
  grep -vE '^residua/base/(openssl|memory|nameless_file)\.cc$')
planner_sources=(web/core/planner_core.cc residua/files/{spec,spec_attributes,matrix_file}.cc
  residua/data/{database_url,null_values,push_down_check}.cc residua/measure/remote/joint_cells.cc residua/draft/edit_spec.cc
  residua/release/{expected_errors,privacy_facts,published_errors,warnings}.cc
  cli/{guarantee_report,mean_report,plan_report,words}.cc)
reader_sources=(web/core/{reader_core,page_release}.cc residua/measure/measured_sets.cc residua/release/question_answer.cc
  residua/files/{measurement_layout,measurement_rows}.cc residua/files/parquet/{packed_integers,parquet_reader,thrift}.cc)
sources=("${core_sources[@]}" "${reader_sources[@]}" "${planner_sources[@]}")
mapfile -t headers < <(git ls-files --cached --others --exclude-standard \
  'residua/base/*.h' 'residua/model/*.h' 'residua/basis/*.h' 'residua/privacy/*.h' 'residua/select/*.h' \
  'residua/reconstruct/*.h' 'residua/text/*.h' 'web/core/*.h' 'web/core/include/*' 'residua/measure/*.h' 'residua/noise/*.h' \
  'residua/data/*.h' 'residua/files/*.h' residua/ledger/ledger.h residua/draft/edit_spec.h \
  residua/release/{expected_errors,privacy_facts,published_errors,question_answer,warnings}.h cli/{guarantee_report,mean_report,plan_report,print_text,words}.h)
version=$(sed -n 's/^project(residua VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
pages=(reader planner)

inputs() {
  echo "version $version"
  printf '%s\n' scripts/wasm.sh "${sources[@]}" "${headers[@]}" | LC_ALL=C sort | xargs sha256sum
}

if [ "${1:-}" = check ]; then
  for page in "${pages[@]}"; do
    grep -F "$(sha256sum "web/core/$page.wasm.gz")" web/core/wasm.inputs > /dev/null || {
      echo "wasm: web/core/$page.wasm.gz is not the file that web/core/wasm.inputs names; run make wasm and commit all" >&2
      exit 1
    }
  done
  exit 0
fi

# Boost, Eigen, fmt, JSON and TOML have headers only; the rest of the system's headers must not be seen.
build=build/wasm
mkdir -p "$build/include" "$build/objects"
for name in boost fmt nlohmann toml++ eigen3/Eigen; do ln -sfn "/usr/include/$name" "$build/include/${name##*/}"; done

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

for page in "${pages[@]}"; do
  declare -n page_sources=${page}_sources
  objects=()
  for source in "${core_sources[@]}" "${page_sources[@]}"; do objects+=("$build/objects/${source//\//_}.o"); done
  em++ -O2 -fwasm-exceptions -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB \
    "${objects[@]}" -o "$build/$page.wasm"
  wasm=web/core/$page.wasm.gz
  if [ "${1:-}" = compare ]; then
    gunzip < "$wasm" | cmp "$build/$page.wasm" -
    echo "wasm: $wasm is what its sources make"
  else
    gzip -9 --no-name < "$build/$page.wasm" > "$wasm"
    echo "wasm: $page $(stat -c %s "$build/$page.wasm") bytes, $(stat -c %s "$wasm") compressed"
  fi
done
if [ "${1:-}" != compare ]; then
  { inputs; for page in "${pages[@]}"; do sha256sum "web/core/$page.wasm.gz"; done; } > web/core/wasm.inputs
fi
