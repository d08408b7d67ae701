# The commands a person types; CMakePresets.json holds the build itself.
.PHONY: setup build demo test test-python test-dev lint format bench clean

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

# What the Python package is tested with is fetched while the rest is built and tested.
test: setup
	@mkdir -p build
	@scripts/python_env.sh > build/python_env.log 2>&1 & \
	cmake --preset release > /dev/null && cmake --build --preset release && ctest --preset release && \
	{ wait $$! || { cat build/python_env.log >&2; exit 1; }; } && \
	scripts/test_python.sh

# The Python package alone.
test-python: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target residua_cli
	@scripts/test_python.sh

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
	@scripts/install_python.sh
	@scripts/bench.sh

clean:
	@rm -rf build
