# SPDX-License-Identifier: BSD-3-Clause
# A thin layer over CMake: every target is a line or two, and `cmake --preset release` does as well.
# scripts/setup finds or installs what is needed; SETUP=no leaves it out.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SETUP  ?= yes
DEMO   ?= --ambit-progress=1 --ambit-report=1

# The make that CMake starts is not a part of this one: JOBS says how many processes it has.
build = env -u MAKEFLAGS -u MAKELEVEL cmake --build
# Ninja where it is installed: its builds take a tenth less processor time. A folder keeps what it was configured for.
preset = cmake --preset $(1) $(if $(wildcard $(2)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja))
setup = $(if $(filter yes,$(SETUP)),scripts/setup $(1),@:)

.PHONY: all demo check check-threads check-long check-matrix coverage docs dist check-packages bench install format clean help

all:
	$(call setup,build)
	$(call preset,release,build)
	$(build) build -j $(JOBS) --target ambit ambit_tool examples

# The library and the one example, nothing else; to configure the tests would take seconds. The other targets do.
demo:
	$(call setup,build)
	$(call preset,release,build) -DBUILD_TESTING=OFF
	$(build) build -j $(JOBS) --target heat
	build/examples/01_heat/heat $(DEMO)

# Configuring takes one core: both at once. Many tests wait, for processes or the end of a time: there are four more than cores. The
# sanitized build first: its tests of one process compile the kernels that several processes of the other one would each compile.
check:
	$(call setup,check)
	$(call preset,release,build) & first=$$!; $(call preset,dev,build/sanitize) && wait $$first
	$(build) build -j $(JOBS) --target checked
	$(build) build/sanitize -j $(JOBS) --target checked
	python3 tests/meta/run_tests.py --jobs $$(($(JOBS) + 4)) dev release

check-threads:
	$(call setup,check)
	$(call preset,threads,build/threads)
	$(build) build/threads -j $(JOBS) --target thread_tests
	python3 tests/meta/run_tests.py --jobs $(JOBS) threads

check-long:
	$(call setup,check)
	$(call preset,release,build) & first=$$!; $(call preset,dev,build/sanitize) && wait $$first
	$(build) build -j $(JOBS)
	$(build) build/sanitize -j $(JOBS)
	python3 tests/meta/run_tests.py --jobs $(JOBS) dev-all long

# Each optional part left out, a build each (an hour).
check-matrix:
	$(call setup,check)
	python3 tests/meta/run_matrix.py --jobs $(JOBS)

# Counts of earlier runs are forgotten; build/coverage/coverage.html has every line.
coverage:
	$(call setup,check)
	$(call preset,coverage,build/coverage)
	$(build) build/coverage -j $(JOBS)
	find build/coverage -name '*.gcda' -delete
	python3 tests/meta/run_tests.py --jobs $(JOBS) coverage
	python3 tests/meta/measure_tests.py coverage build/coverage

docs:
	$(call setup,docs)
	python3 -B docs/site/build.py build/site

dist:
	mkdir -p build
	packaging/dist build/ambit-$$(sed -n 's/^.define AMBIT_VERSION_[A-Z]* \([0-9]*\).*/\1/p' include/ambit.h | paste -sd.).tar.gz

# Debian packages and a wheel, tried in a fresh Debian (as root; minutes), and a conda package.
check-packages:
	$(call setup,packages)
	packaging/build-deb build/deb
	packaging/try-deb build/deb
	packaging/try-wheel build/wheels
	packaging/try-conda build/conda

bench:
	$(call setup,bench)
	$(call preset,release,build)
	$(build) build -j $(JOBS) --target ambit_tool bench_programs
	bench/run build
	bench/programs/run build
	bench/port/run build

# The linker finds a new library in /usr/local/lib after ldconfig only.
install: all
	$(build) build -j $(JOBS) --target ambit_installable
	cmake --install build --prefix $(PREFIX)
	-@[ ! -w /etc/ld.so.cache ] || ldconfig

format:
	python3 tests/meta/check_format.py --fix

clean:
	rm -rf build heat.png

help:
	@echo "make           set up and build: build/ambit, build/libambit.so, build/examples/"
	@echo "make demo      run the heat example on all cores; writes heat.png"
	@echo "make check     each test, optimised or with sanitizers"
	@echo "make check-threads  threads, pools and messages, with the thread sanitizer"
	@echo "make check-long  all tests in both builds, random programs and fuzzing beyond make check (hours)"
	@echo "make check-matrix  builds without each optional part, and their tests (an hour)"
	@echo "make coverage  lines and branches that the tests reach"
	@echo "make docs      the documents as a site with a search, build/site/index.html"
	@echo "make dist      build/ambit-VERSION.tar.gz, the sources"
	@echo "make check-packages  Debian packages and a wheel, installed and removed in a fresh Debian (as root)"
	@echo "make bench     measure, beside other programs (minutes)"
	@echo "make install   into PREFIX=$(PREFIX)"
	@echo "make format    lay out the C files as .clang-format says"
	@echo "make clean     remove build/ and heat.png"
	@echo "JOBS=$(JOBS) processes; SETUP=no installs and checks nothing."
