# The commands that people type; CMakePresets.json holds the build itself.
.PHONY: setup build fuzzers demo test test-quick test-python test-dev test-threads test-valgrind test-slow fuzz dist lint format bench clean

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

# What the Python package is tested with is fetched while the rest is built and tested.
test: setup
	@mkdir -p build
	@scripts/python_env.sh > build/python_env.log 2>&1 & \
	$(MAKE) --no-print-directory fuzzers && ctest --preset release && scripts/fuzz.sh 5 && \
	{ wait $$! || { cat build/python_env.log >&2; exit 1; }; } && \
	scripts/test_python.sh

# The tests of the core alone; they need no database.
test-quick: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target core_tests
	@ctest --preset release -R '^(base|model|basis|privacy|select|noise|measure|reconstruct)\.'

# The Python package alone.
test-python: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target residua_cli
	@scripts/test_python.sh

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

# What takes too long for every change: the archives, built twice.
test-slow: setup
	@scripts/check_reproducible.sh

dist: setup
	@scripts/dist.sh

lint:
	@scripts/setup.sh lint
	@cmake --preset lint > /dev/null
	@scripts/lint.sh

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

bench: build
	@cmake --build --preset release --target benchmarks
	@scripts/install_python.sh
	@scripts/bench.sh

clean:
	@rm -rf build
