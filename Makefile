# The commands that people type; CMakePresets.json holds the build itself.
.PHONY: setup build fuzzers demo test test-quick test-python test-page test-dev test-threads test-valgrind test-slow fuzz wasm page wheels docs dist lint format bench clean

BUILD := build/release
SECONDS := 600

setup:
	@scripts/setup.sh

build: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release

demo: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target residua_cli
	@scripts/demo.sh

fuzzers: build
	@scripts/setup.sh fuzz
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz

# What the Python package is tested with, and the drivers of databases, are fetched while the rest is built.
test: setup
	@scripts/setup.sh test
	@mkdir -p build
	@scripts/python_env.sh > build/python_env.log 2>&1 & \
	$(MAKE) --no-print-directory fuzzers && \
	{ wait $$! || { cat build/python_env.log >&2; exit 1; }; } && \
	ctest --preset release && scripts/fuzz.sh 5 && scripts/test_python.sh && scripts/page.sh test

# The tests of the core alone; they need no database.
test-quick: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target core_tests
	@ctest --preset release -R '^(base|model|basis|privacy|select|noise|measure|reconstruct)\.'

# The Python package alone.
test-python: setup
	@scripts/test_python.sh

# The page alone, in a browser.
test-page: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target residua_cli
	@scripts/page.sh test

# What pages compute with, and the page without a release. Both are committed; the program holds them.
wasm:
	@scripts/setup.sh wasm
	@scripts/wasm.sh

page:
	@scripts/page.sh

# Every reader for SECONDS each, two at a time on two processors: about an hour.
fuzz: fuzzers
	@scripts/fuzz.sh $(SECONDS)

# The whole suite under AddressSanitizer and UndefinedBehaviorSanitizer.
test-dev: setup
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev
	@ctest --preset dev

# The same under ThreadSanitizer.
test-threads: setup
	@cmake --preset tsan > /dev/null
	@cmake --build --preset tsan
	@ctest --preset tsan

# The command line's golden tests under valgrind.
test-valgrind: build
	@scripts/setup.sh valgrind
	@scripts/valgrind.sh

# What takes too long for every change: the archives, built twice, the source archive, built by pip, and the page's
# WebAssembly, compiled again.
test-slow: setup
	@scripts/check_reproducible.sh
	@scripts/check_sdist.sh
	@scripts/setup.sh wasm
	@scripts/wasm.sh compare

# Wheels for pip, for each Python that is installed, in build/wheels.
wheels: setup
	@scripts/wheels.sh

# The documentation site, build/site, with every link tested.
docs: setup
	@scripts/install_python.sh
	@scripts/docs.sh

# The archives, their bill of materials and the wheels, in build/dist.
dist: setup
	@scripts/dist.sh
	@scripts/wheels.sh
	@cp build/wheels/*.whl build/dist
	@cd build/dist && sha256sum residua-* > SHA256SUMS

lint:
	@scripts/setup.sh lint
	@cmake --preset lint > /dev/null
	@scripts/lint.sh
	@scripts/page.sh lint

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i
	@cd web && npm run --silent format > /dev/null

bench: build
	@cmake --build --preset release --target benchmarks
	@scripts/install_python.sh
	@scripts/bench.sh

clean:
	@rm -rf build
