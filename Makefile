# Run "make" for a list of targets.

SHELL     := bash
LINT      := go tool -modfile=tools.mod golangci-lint
BENCHSTAT := go tool -modfile=tools.mod benchstat
SKIPPED   := $(abspath bin/skipped)

# How many packages are tested at once, and how many tests of each: most of them wait.
TESTS ?= -p 3 -parallel 4 -timeout 25m

# Packages whose tests have the work done by other processes, or share it with them, or do none: a race
# in the product would hardly be seen there. What they run is raced by the tests of its own package.
OUTSIDE := /(cmd/bedrock|interop(/.*)?|examples/.*|internal/torture/bank|internal/(testenv|housetest|samples|mutants(/.*)?)|.*/mutants)$$

# How many runs of each kind sim simulates, and the seed of the first.
RUNS ?= 5000
FROM ?= 1

# How long torture spends on each kind of locks and of stores.
TORTURE  ?= 20s

# Which part of the mutants to try, such as 3/8 for the third of eight.
PART ?= 1/1

# How long fuzz spends on each target, and what bench runs.
FUZZTIME ?= 30s
BENCH    ?= locks -quick

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: fmt
fmt: ## Format all code
	$(LINT) fmt ./...

.PHONY: lint
lint: ## Run all linters
	$(LINT) run ./...
	go vet -C bench ./...

.PHONY: test
test: ## Run all tests, with RACE=1 under the race detector; install the servers where possible, list what was skipped
	@build/servers.sh || true
	@mkdir -p $(dir $(SKIPPED)) && : > $(SKIPPED)
	@BEDROCK_SKIPPED=$(SKIPPED) $(MAKE) --no-print-directory -k $(if $(RACE),race outside,everything); \
	code=$$?; build/skipped.sh $(SKIPPED); exit $$code

.PHONY: everything
everything:
	@build/gotest.sh -count=1 $(TESTS) ./...

# What race leaves out: packages, and the files of others that it does not compile.
.PHONY: outside
outside:
	@build/gotest.sh -count=1 $(TESTS) $$(go list ./... | grep -E '$(OUTSIDE)'); code=$$?; \
	build/unraced.sh -count=1 $(TESTS) && exit $$code

.PHONY: oldest
oldest: ## Build everything, tests too, with the oldest Go that go.mod allows
	GOTOOLCHAIN=go$$(go list -m -f '{{.GoVersion}}') go vet ./...

# The packages that take the longest come first, and no process sleeps for a second before it ends.
.PHONY: race
race: ## Run the tests with the race detector, but for those of OUTSIDE
	@GORACE=atexit_sleep_ms=50 build/gotest.sh -race -count=1 $(TESTS) \
		./lock/redislock ./lock/sqllock/postgres ./client $$(go list ./... | grep -vE '$(OUTSIDE)')

.PHONY: interop
interop: ## Run Bedrock beside the real Redisson, Curator, ShedLock and etcdctl (needs a JDK and Maven)
	go test -count=1 -v -parallel 4 ./interop/...

.PHONY: bench
bench: ## Measure Bedrock beside its peers; BENCH="locks" for the full run
	cd bench && go run . $(BENCH)

.PHONY: torture
torture: ## Break everything under locks and transactions for TORTURE (20s) each, and check that promises are kept
	@build/torture.sh $(TORTURE)

.PHONY: servers
servers: ## Install the servers tests need (Debian, Ubuntu), or say how to
	@build/servers.sh

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for FUZZTIME (30s)
	@build/fuzz.sh $(FUZZTIME)

.PHONY: proto
proto: ## Check the .proto files and generate Go code from them
	go run github.com/bufbuild/buf/cmd/buf@v1.70.0 lint
	go run github.com/bufbuild/buf/cmd/buf@v1.70.0 generate

.PHONY: sim
sim: ## Simulate RUNS (5000) of each kind in virtual time, from seed FROM (1)
	go test -p 1 -count=1 -timeout 0 -v -run 'TestSim$$' ./internal/sim/locks ./internal/sim/txns -runs $(RUNS) -from $(FROM)

.PHONY: mutants
mutants: ## Break the code on purpose and show which test notices; PART="3/8" for the third of eight parts
	go run ./internal/mutants/locks -part $(PART)
	go run ./internal/mutants/txns -part $(PART)
	go run ./internal/sim/mutants -part $(PART)
