# `make help` says what there is. Everything real lives in CMakePresets.json and tools/; these are short names.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 10
SOAK_SECONDS ?= 600
.DEFAULT_GOAL := help
.PHONY: help run tour doctor release test check bench asan tsan gcc debug fuzz soak denied few_files seeds ci \
    clean

help:
	@echo 'make release     build release and run nothing'
	@echo 'make run         build the gateway and run it: an OpenAI-compatible server with a mock model'
	@echo 'make tour        build and run every program of examples/, in order'
	@echo 'make doctor      say what this machine gives a runtime, and which driver it gets'
	@echo 'make test        install what is missing, build release, run every test'
	@echo 'make check       layers, names, format, lints, each header alone: what no compiler says'
	@echo 'make bench       run every benchmark;  make bench-NAME  runs bench/NAME'
	@echo 'make asan        build and test with the address and undefined-behaviour sanitizers'
	@echo 'make tsan        ... with the thread sanitizer;  make gcc  with GCC;  make debug  at -O0'
	@echo 'make fuzz        every fuzzer for FUZZ_SECONDS;  make soak  seeds and fuzzers for SOAK_SECONDS'
	@echo 'make denied      the suite where io_uring is refused;  make few_files  with 64 descriptors'
	@echo 'make seeds       100 fresh seeds of what is simulated (SIMULATIONS in tools/soak.py)'
	@echo 'make ci          all of it, as .ci/run'
	@echo 'make clean       remove build/'
	@echo
	@echo 'JOBS=N limits how many compilers and tests run at once (now $(JOBS)).'

run:
	@tools/install_packages.sh build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target gateway -j $(JOBS)
	@exec build/release/apps/gateway/gateway $(ARGS)

tour:
	@tools/install_packages.sh build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target pitsaw_examples -j $(JOBS)
	@tools/tour.sh build/release/examples

doctor:
	@tools/install_packages.sh build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target pitsaw_tool -j $(JOBS) >/dev/null
	@build/release/tools/cli/pitsaw doctor

test:
	@tools/install_packages.sh build
	@tools/run_tests.py release --jobs $(JOBS)

asan tsan debug:
	@tools/install_packages.sh build sanitize
	@tools/run_tests.py $@ --jobs $(JOBS)

gcc:
	@tools/install_packages.sh build gcc
	@tools/run_tests.py $@ --jobs $(JOBS)

fuzz:
	@tools/install_packages.sh build sanitize
	@tools/fuzz.py $(FUZZ_SECONDS) --jobs $(JOBS)

soak:
	@tools/install_packages.sh build sanitize
	@tools/soak.py $(SOAK_SECONDS) --jobs $(JOBS)

denied few_files:
	@tools/install_packages.sh build
	@tools/fault_rows.py $@ --jobs $(JOBS)

seeds:
	@tools/install_packages.sh build
	@tools/soak.py --seeds 100 --jobs $(JOBS)

check:
	@tools/install_packages.sh build check
	@cmake --preset release --log-level=WARNING
	@tools/check.py --jobs $(JOBS)

bench: release
	@python3 bench/run.py

bench-%: release
	@python3 bench/run.py $*

release:
	@tools/install_packages.sh build
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release -j $(JOBS)

ci:
	@JOBS=$(JOBS) .ci/run

clean:
	rm -rf build
