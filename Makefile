# swiftwing-sim. `make run` and `make test` are all that a newcomer needs; the rest is named by `make help`.

# The options stand here because make 3.81, which macOS ships, ignores .SHELLFLAGS.
SHELL := /bin/bash -eu -o pipefail
.DEFAULT_GOAL := help
# One step after the other, also under `make -j`: `deps` comes before what needs it.
.NOTPARALLEL:

PREFIX ?= /usr/local
SCENARIO ?= flaky-network.scenario
BUILD := .build
BINARY := $(BUILD)/release/swiftwing-sim
# For a program that runs where no Swift is installed: make build FLAGS=--static-swift-stdlib
FLAGS ?=
CHECKS := --explicit-target-dependency-import-check error

# Tests that use a clock or a socket, by their targets, and those of them that mostly wait for programs.
TIMED := ^(EndToEnd|Dashboard|CurlLoop|EventLoop|LivePhones|LiveServer)Tests[.]
WAITING := ^EndToEndTests[.]SideBySide/

FUZZ_SECONDS ?= 60
FUZZ_SEED ?= $(shell date +%s)
# Fuzzing wants speed, in a folder of its own: testable code is not the code that ships.
FUZZ_FLAGS ?= -c release -Xswiftc -enable-testing --scratch-path $(BUILD)/tests
FUZZ_NOTES := $(BUILD)/fuzz

MUTANTS ?=

.PHONY: help run build deps test test-deps lint purity unit docs fuzz fuzz-sockets mutants asan bench install clean

help: ## names every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: deps build ## builds and runs flaky-network.scenario (SCENARIO=NAME for another)
	@$(BINARY) run $(SCENARIO)

deps: ## installs the C libraries of the build that are missing
	@.ci/packages build

build: ## builds the release program, exactly as `swift build -c release` does
	@swift build -c release --product swiftwing-sim $(CHECKS) $(FLAGS) --quiet

test: deps test-deps lint purity unit ## installs what is missing, then checks format and purity and runs every test

test-deps: # curl, nginx, a browser, and a Python with the published clients and readers.
	@.ci/packages test

lint: ## checks the formatting, and that every bug of Tests/Mutants can still be planted
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests
	@PYTHONDONTWRITEBYTECODE=1 Tests/Mutants/mutants.py --list > /dev/null

# The pure targets once more, without the concurrency module: a `Task` or a clock in them does not compile here.
purity: ## proves that the pure targets have no way to time, tasks or clocks
	@swift build --product Pure --scratch-path $(BUILD)/purity --quiet $(CHECKS) \
		-Xswiftc -Xfrontend -Xswiftc -disable-implicit-concurrency-module-import

# The end-to-end tests run the program that ships, optimized; the others are built with every check on. Tests without a clock
# or a socket share the processors. The others run one after another, since some measure times, but for those that mostly
# wait: of these, six run at once.
unit: build
	@swift build --build-tests $(CHECKS) --quiet
	@swift test --skip-build --skip '$(TIMED)'
	@SWIFTWING_SIM_BINARY=$(CURDIR)/$(BINARY) \
		swift test --skip-build --no-parallel --filter '$(TIMED)' --skip '$(WAITING)'
	@SWIFTWING_SIM_BINARY=$(CURDIR)/$(BINARY) SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 \
		swift test --skip-build --filter '$(WAITING)'

docs: build ## writes the pages that are made from code
	@$(BINARY) schema --faults > Docs/faults.md
	@$(BINARY) schema > Docs/scenario.schema.json

# A test that dies leaves the number of its case in FUZZ_NOTES; each of these lines, put before `swift test`, shows it again.
fuzz: ## damages the input of every parser, FUZZ_SECONDS=60 each, from FUZZ_SEED (else the time)
	@swift build $(FUZZ_FLAGS) --build-tests $(CHECKS) --quiet
	@rm -rf $(FUZZ_NOTES) && mkdir -p $(FUZZ_NOTES)
	@SWIFTWING_SIM_FUZZ_SECONDS=$(FUZZ_SECONDS) SWIFTWING_SIM_FUZZ_SEED=$(FUZZ_SEED) \
		SWIFTWING_SIM_FUZZ_NOTES=$(CURDIR)/$(FUZZ_NOTES) \
		swift test $(FUZZ_FLAGS) --skip-build --no-parallel --filter 'FuzzTests|HostileServerTests' \
		|| { grep -r . $(FUZZ_NOTES); exit 1; }
	@$(MAKE) --no-print-directory fuzz-sockets

fuzz-sockets: build ## damages what comes over sockets, for FUZZ_SECONDS=60 from FUZZ_SEED
	@PYTHONDONTWRITEBYTECODE=1 Tests/SocketFuzz/fuzz.py --binary $(BINARY) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# MUTANTS may name bugs and options: see Tests/Mutants/mutants.py --help. What was found is kept, and found again only where
# something has changed.
mutants: build ## plants bugs one at a time, and shows which check finds each
	@PYTHONDONTWRITEBYTECODE=1 Tests/Mutants/mutants.py --binary $(BINARY) --json $(BUILD)/mutants.json $(MUTANTS)

# Leaks are left out: the test process itself has some. The folder is its own, since everything is built otherwise.
asan: ## runs the tests of the photographs and of libcurl under the address sanitizer
	@ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path $(BUILD)/asan --quiet $(CHECKS) \
		--filter 'ImagingTests|CurlLoopTests'

bench: build ## measures beside other programs, and fails where a ratio is above its threshold
	@.ci/packages bench
	@Benchmarks/preprocess.py --check
	@Benchmarks/simulate.py

install: build ## puts binary and scenarios under PREFIX (/usr/local)
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/swiftwing-sim/Scenarios \
		$(DESTDIR)$(PREFIX)/share/swiftwing-sim/Images/shelves
	@install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/
	@install -m 644 Scenarios/*.scenario $(DESTDIR)$(PREFIX)/share/swiftwing-sim/Scenarios/
	@install -m 644 Images/shelves/*.jpg $(DESTDIR)$(PREFIX)/share/swiftwing-sim/Images/shelves/
	@echo "installed $(DESTDIR)$(PREFIX)/bin/swiftwing-sim"

clean: ## removes everything that was built
	@rm -rf $(BUILD)
