# The commands a person types; CMakePresets.json holds the build itself.
.PHONY: setup build fuzzers demo test test-dev test-slow fuzz dist lint format bench clean

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

test: fuzzers
	@ctest --preset release
	@scripts/fuzz.sh 5

# Every reader for SECONDS each, two at a time on two processors: about an hour.
fuzz: fuzzers
	@scripts/fuzz.sh $(SECONDS)

# The whole suite under AddressSanitizer and UndefinedBehaviorSanitizer.
test-dev: setup
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev
	@ctest --preset dev

# What takes too long for every change: the archives, built twice.
test-slow: setup
	@scripts/check_reproducible.sh

dist: setup
	@scripts/dist.sh

lint:
	@scripts/setup.sh lint
	@cmake --preset release > /dev/null
	@scripts/lint.sh

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

bench: build
	@scripts/bench.sh

clean:
	@rm -rf build
