# The commands a person types; CMakePresets.json holds the build itself.
.PHONY: setup build demo test test-dev lint format bench clean

BUILD := build/release

setup:
	@scripts/setup.sh

build: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release

demo: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target residua_cli
	@scripts/demo.sh

test: build
	@ctest --preset release

# The whole suite under AddressSanitizer and UndefinedBehaviorSanitizer.
test-dev: setup
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev
	@ctest --preset dev

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
