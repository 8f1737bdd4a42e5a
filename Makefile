# swiftwing-sim. Start with `make run` and `make test`; `make help` lists all targets.

# The options are set here because make 3.81, which macOS ships, ignores .SHELLFLAGS.
SHELL := /bin/bash -eu -o pipefail
.DEFAULT_GOAL := help
# Targets run one after the other, also with `make -j`: `deps` must run before the targets that need it.
.NOTPARALLEL:

PREFIX ?= /usr/local
SCENARIO ?= flaky-network.scenario
BUILD := .build
BINARY := $(BUILD)/release/swiftwing-sim
# For a program that runs without an installed Swift: make build FLAGS=--static-swift-stdlib (as `make deb` does)
FLAGS ?=
CHECKS := --explicit-target-dependency-import-check error

# The program and its modules as Package.swift sets them for the tests (SWIFTWING_SIM_FOR_TESTS), which is not the code that is
# shipped: in a folder of its own.
TESTABLE := -c release --scratch-path $(BUILD)/tests

# TIMED: the test targets that use a clock or a socket. The tests of these that mostly wait run at once: those of the program, and
# those of modules, in two groups that take equally long.
TIMED := ^(EndToEnd|Dashboard|CurlLoop|EventLoop|HTTPClient|LivePhones|LiveServer)Tests[.]
SIDE_BY_SIDE := ^EndToEndTests[.]SideBySide/
WAITING := ^LivePhonesTests[.] ^(Dashboard|LiveServer|HTTPClient)Tests[.]
# Not in `make test`.
SEARCHES := ^EndToEndTests[.]Searches/

# What --version names (Package.swift). A build by `swift build` alone names no commit, rather than perhaps a wrong one.
export SWIFTWING_SIM_COMMIT ?= $(shell commit=$$(git rev-parse --short=12 HEAD 2>/dev/null) && \
	echo "$$commit$$(git diff --quiet HEAD || echo +changes)")

FUZZ_SECONDS ?= 60
FUZZ_SEED ?= $(shell date +%s)
FUZZ_NOTES := $(BUILD)/fuzz

# The program of a package contains the Swift runtime. It is built in its own folder, since its flags differ.
STATIC := $(BUILD)/static
PACKAGES := $(BUILD)/packages
RELEASE := $(BUILD)/release-files
TAG ?=

CLIENTS ?=
MUTANTS ?=
CONFORMANCE ?=
TARGETS ?=
BACKENDS ?=
MANUAL ?=

MODULE ?=
MODULES := $(patsubst %Tests,%,$(notdir $(wildcard Tests/*/*Tests)))

.PHONY: help run build deps test try test-deps lint unit testable searches docs clients fuzz fuzz-sockets mutants asan \
	bench manual conformance targets backends templates install deb deb-test release clean

help: ## lists all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: deps build ## builds the program and runs flaky-network.scenario (SCENARIO=NAME for another)
	@$(BINARY) run $(SCENARIO)

deps: ## installs missing C libraries of the build
	@.ci/packages build

build: ## builds the release program, as `swift build -c release` does
	@test -x $(BINARY) || echo 'Building swiftwing-sim: four minutes on two free cores. There is no output until the end.'
	@swift build -c release --product swiftwing-sim $(CHECKS) $(FLAGS) --quiet

test: deps test-deps lint unit ## installs missing dependencies, checks the format, and runs all tests

test-deps: # curl, nginx, a browser, and Python with the published clients and readers
	@.ci/packages test

lint: ## checks the formatting, and that every mutant of Tests/Mutants still applies
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests
	@PYTHONDONTWRITEBYTECODE=1 Tests/Mutants/mutants.py --list > /dev/null

# The package is this module and what it and its tests need (Package.swift), in a folder of its own.
try: ## builds one module and runs its tests, as in `make try MODULE=Phone`
	@test -n '$(filter $(MODULE),$(MODULES))' || { \
		echo "swiftwing-sim: '$(MODULE)' is not a module with tests. MODULE can be: $(sort $(MODULES))" >&2; exit 64; }
	@if [[ '$(MODULE)Tests.' =~ $(TIMED) ]]; then order=--no-parallel; else order=--parallel; fi; \
		SWIFTWING_SIM_MODULE='$(MODULE)' swift test --scratch-path $(BUILD)/try $(CHECKS) --quiet $$order

# Tests without a clock or a socket run in parallel; the others run one after another, since some measure times. Those that mostly
# wait run at once, and those that fail run again by themselves (.ci/at-once).
unit: testable
	@swift test $(TESTABLE) --skip-build --skip '$(TIMED)'
	@swift test $(TESTABLE) --skip-build --no-parallel --filter '$(TIMED)' \
		$(patsubst %,--skip '%',$(SIDE_BY_SIDE) $(WAITING) $(SEARCHES))
	@.ci/at-once '$(SIDE_BY_SIDE)' -- $(TESTABLE)
	@.ci/at-once $(patsubst %,'%',$(WAITING)) -- $(TESTABLE)

unit searches testable: export SWIFTWING_SIM_FOR_TESTS := 1
unit searches testable: export SWIFTWING_SIM_BINARY := $(CURDIR)/$(BUILD)/tests/release/swiftwing-sim
testable:
	@test -x $$SWIFTWING_SIM_BINARY || \
		echo 'Building the tests: ten minutes on two free cores. There is no output until the end.'
	@swift build $(TESTABLE) --build-tests $(CHECKS) --quiet

searches: testable ## runs the tests that search thousands of seeds or make hundreds of runs, which `make test` leaves out
	@swift test $(TESTABLE) --skip-build --no-parallel --filter '$(SEARCHES)'

# The program contains the pages of the manual, so it is built again after they have changed.
docs: build ## generates the pages that are made from tables of the program, and Docs/swiftwing-head.md from runs
	@$(BINARY) schema --faults > Docs/faults.md
	@for page in scenario metrics links invariants exit-codes client-rules; do $(BINARY) schema --$$page > Docs/manual/$$page.md; done
	@$(MAKE) --no-print-directory build
	@$(BINARY) schema > Docs/scenario.schema.json
	@$(BINARY) schema --openapi > Docs/talaria-openapi.yaml
	@PYTHONDONTWRITEBYTECODE=1 Tests/Quirks/page.py --binary $(BINARY) > $(BUILD)/swiftwing-head.md
	@mv $(BUILD)/swiftwing-head.md Docs/swiftwing-head.md

# About five minutes. CLIENTS can name options: see Tests/Clients/clients.py --help.
clients: build ## follows every dialect with published clients of event streams, and generates Docs/clients.md
	@.ci/packages clients
	@PYTHONDONTWRITEBYTECODE=1 Tests/Clients/clients.py --binary $(BINARY) $(CLIENTS) > $(BUILD)/clients.md
	@mv $(BUILD)/clients.md Docs/clients.md

# A test that crashes leaves the number of its case in FUZZ_NOTES; each of these lines, put before `swift test`, reproduces it.
fuzz: testable ## fuzzes every parser for FUZZ_SECONDS (default: 60) each, from FUZZ_SEED (default: the time), then the sockets
	@rm -rf $(FUZZ_NOTES) && mkdir -p $(FUZZ_NOTES)
	@SWIFTWING_SIM_FOR_TESTS=1 SWIFTWING_SIM_FUZZ_SECONDS=$(FUZZ_SECONDS) SWIFTWING_SIM_FUZZ_SEED=$(FUZZ_SEED) \
		SWIFTWING_SIM_FUZZ_NOTES=$(CURDIR)/$(FUZZ_NOTES) \
		swift test $(TESTABLE) --skip-build --no-parallel --filter 'FuzzTests|HostileServerTests' \
		|| { grep -r . $(FUZZ_NOTES); exit 1; }
	@$(MAKE) --no-print-directory fuzz-sockets

fuzz-sockets: build ## fuzzes the program over sockets for FUZZ_SECONDS from FUZZ_SEED
	@PYTHONDONTWRITEBYTECODE=1 Tests/SocketFuzz/fuzz.py --binary $(BINARY) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# MUTANTS can name mutants and options: see Tests/Mutants/mutants.py --help. Results are kept, and computed again only after
# a change.
mutants: build ## inserts one bug at a time, and shows which check detects it
	@PYTHONDONTWRITEBYTECODE=1 Tests/Mutants/mutants.py --binary $(BINARY) --json $(BUILD)/mutants.json $(MUTANTS)

# Leak detection is off, because the test process itself has leaks. The build has its own folder, since its flags differ.
asan: ## runs the tests of photos and of libcurl with the address sanitizer
	@ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path $(BUILD)/asan --quiet $(CHECKS) \
		--filter 'ImagingTests|CurlLoopTests|HTTPClientTests'

bench: build ## measures the performance beside other programs; fails if a figure is beyond its limit
	@.ci/packages bench
	@Benchmarks/table.py

# About five minutes. `make test` runs only those that take a second or two. MANUAL can name options: see
# Tests/Manual/commands.py --help.
manual: build ## runs every command of the README and of the manual in bash, zsh and fish
	@.ci/packages shells
	@PYTHONDONTWRITEBYTECODE=1 Tests/Manual/commands.py --binary $(BINARY) --slow $(MANUAL)

# CONFORMANCE can name options: see Tests/Conformance/conformance.py --help.
conformance: build ## checks the OpenAPI file, and `serve` against it, with openapi-spec-validator and schemathesis
	@.ci/packages conformance
	@PYTHONDONTWRITEBYTECODE=1 $(BUILD)/conformance/venv/bin/python Tests/Conformance/conformance.py --binary $(BINARY) \
		$(CONFORMANCE)

# About twenty minutes. TARGETS can name options, another backend among them: see Tests/Targets/targets.py --help.
targets: build ## reads `serve` with each switch, and runs honest scenarios against healthy backends that are not the simulated one
	@.ci/packages test
	@for gateway in '' --proxy; do \
		PYTHONDONTWRITEBYTECODE=1 $(BUILD)/venv/bin/python Tests/Clients/switches.py --binary $(BINARY) $$gateway || exit; \
	done
	@PYTHONDONTWRITEBYTECODE=1 Tests/Targets/targets.py --binary $(BINARY) $(TARGETS)

# About half an hour. BACKENDS can name switches and options: see Tests/SickBackends/backends.py --help.
backends: build ## runs `backend-trial` against backends with one bug each, and shows which check found it
	@.ci/packages test
	@PYTHONDONTWRITEBYTECODE=1 $(BUILD)/venv/bin/python Tests/SickBackends/backends.py --binary $(BINARY) $(BACKENDS)

SHARE = $(DESTDIR)$(PREFIX)/share
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions

SCHEMA := $(BUILD)/templates/venv/bin/check-jsonschema --quiet --builtin-schema

templates: ## checks the templates in Distributed with published schemas and linters
	@.ci/packages templates
	@$(BUILD)/templates/venv/bin/kubernetes-validate --strict --quiet Distributed/kubernetes/*.yaml
	@$(BUILD)/templates/venv/bin/hadolint Distributed/Containerfile
	@rm -rf $(BUILD)/templates/files
	@PYTHONDONTWRITEBYTECODE=1 Tests/Manual/commands.py --extract $(BUILD)/templates/files Docs/manual/ci.md
	@$(SCHEMA) vendor.github-actions Distributed/github/action.yml
	@$(SCHEMA) vendor.github-workflows .ci/macos.yml Distributed/github/release.yml $(BUILD)/templates/files/.github/workflows/*.yml
	@$(SCHEMA) vendor.gitlab-ci $(BUILD)/templates/files/.gitlab-ci.yml
	@$(BUILD)/templates/venv/bin/shellcheck Distributed/slurm/*.sbatch Distributed/debian/build \
		Distributed/release/build Tests/Packages/deb Tests/Packages/unpacked .ci/packages .ci/run
	@$(BUILD)/templates/venv/bin/shellcheck --shell=sh Tests/Packages/installed $(BUILD)/templates/files/load.sh
	@ruby -c Distributed/homebrew/swiftwing-sim.rb > /dev/null
	@$(BUILD)/templates/venv/bin/python Tests/EndToEndTests/Tools/grafana.py Distributed/grafana/swiftwing-sim.json

install: build ## installs the program, its man page and completions in PREFIX (default: /usr/local)
	@install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(SHARE)/bash-completion/completions \
		$(DESTDIR)$(ZSH_COMPLETIONS) $(SHARE)/fish/vendor_completions.d $(SHARE)/doc/swiftwing-sim
	@install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/swiftwing-sim
	@install -m 644 LICENSE $(SHARE)/doc/swiftwing-sim/
	@$(BINARY) schema --man > $(SHARE)/man/man1/swiftwing-sim.1
	@$(BINARY) completion bash > $(SHARE)/bash-completion/completions/swiftwing-sim
	@$(BINARY) completion zsh > $(DESTDIR)$(ZSH_COMPLETIONS)/_swiftwing-sim
	@$(BINARY) completion fish > $(SHARE)/fish/vendor_completions.d/swiftwing-sim.fish
	@chmod 644 $(SHARE)/man/man1/swiftwing-sim.1 $(SHARE)/bash-completion/completions/swiftwing-sim \
		$(DESTDIR)$(ZSH_COMPLETIONS)/_swiftwing-sim $(SHARE)/fish/vendor_completions.d/swiftwing-sim.fish
	@echo "installed $(DESTDIR)$(PREFIX)/bin/swiftwing-sim"

# A package contains msgpack-c: the name of its shared library differs between releases of Debian.
deb: deps ## builds a Debian package that needs no Swift toolchain, in .build/packages
	@.ci/packages deb
	@rm -rf $(STATIC)/pkgconfig && mkdir -p $(STATIC)/pkgconfig
	@for name in msgpack msgpack-c; do \
		! pkg-config --exists $$name || sed 's/-l\(msgpack[a-z-]*\)/-l:lib\1.a/' \
			"$$(pkg-config --variable=pcfiledir $$name)/$$name.pc" > $(STATIC)/pkgconfig/$$name.pc; \
	done
	@PKG_CONFIG_PATH="$$PWD/$(STATIC)/pkgconfig$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" $(MAKE) --no-print-directory build \
		FLAGS='--static-swift-stdlib --scratch-path $(STATIC)'
	@rm -rf $(PACKAGES)
	@Distributed/debian/build $(STATIC)/release/swiftwing-sim $(PACKAGES)

release: deb ## makes the files of a release in .build/release-files; with TAG=v1.2.3, only of this version
	@rm -rf $(RELEASE)
	@TAG='$(TAG)' Distributed/release/build $(STATIC)/release/swiftwing-sim $(PACKAGES)/*.deb $(RELEASE)

deb-test: deb ## installs the Debian package in a new root of Debian and runs it there (as root; about five minutes)
	@.ci/packages deb-test
	@lintian --allow-root --fail-on error $(PACKAGES)/*.deb
	@Tests/Packages/deb $(PACKAGES)/*.deb

clean: ## removes all build products
	@rm -rf $(BUILD)
