# SPDX-License-Identifier: MIT
# The front door. CMake does the work; each target sets up what it needs.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# The compiler wrappers of the MPIs to build for, separated by semicolons; empty: those that are found.
REPRISE_MPICC ?=
# The plugins of reprise-cc, which take long to compile.
PLUGINS = ON

.PHONY: all setup configured tests demo test test-page format bench coverage dist install clean

all: configured
	cmake --build $(BUILD) -j $(JOBS) >>$(BUILD).log 2>&1 || { tail -n 60 $(BUILD).log; exit 1; }

configured: setup
	cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DREPRISE_MPICC="$(REPRISE_MPICC)" -DREPRISE_PLUGINS=$(PLUGINS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }

# All that `make test` runs.
tests: all
	cmake --build $(BUILD) -j $(JOBS) --target tests >>$(BUILD).log 2>&1 || { tail -n 60 $(BUILD).log; exit 1; }

setup:
	@REPRISE_MPICC="$(REPRISE_MPICC)" tools/setup

# What the demo needs, and no more.
demo: PLUGINS = OFF
demo: configured
	cmake --build $(BUILD) -j $(JOBS) --target demo >>$(BUILD).log 2>&1 || { tail -n 60 $(BUILD).log; exit 1; }
	@tools/demo $(BUILD)

# An MPI with ULFM, for the last of the tests, is made beside the others where there is none (tools/ulfm).
test: tests
	@tools/ulfm --find >/dev/null || { echo "making an Open MPI with ULFM in the background, once: $(BUILD)/ulfm.log"; nice -n 19 tools/ulfm --build >$(BUILD)/ulfm.log 2>&1 & }
	ctest --test-dir $(BUILD) --output-on-failure --timeout 600 -j 3

# The tests of pages in a browser, which `make test` skips where there is none: installs it.
test-page: tests
	@tools/setup chromium chromium-driver
	ctest --test-dir $(BUILD) --output-on-failure --timeout 1000 -R '^page\.'

# C and C++ as .clang-format says.
format:
	@command -v clang-format-14 >/dev/null || tools/setup clang-format-14
	git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs clang-format-14 -i

bench: all
	@tools/setup valgrind
	BENCH_BUILD=$(abspath $(BUILD)) bench/run overhead

coverage: setup
	@mkdir -p $(BUILD)
	@tools/coverage $(abspath $(BUILD))/coverage

# The release of the last commit.
dist:
	@tools/dist .

# DESTDIR is honoured.
install: all
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD).log
