# Everything a user or developer runs. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BIN := bin
TOOL := go tool -modfile=$(CURDIR)/tools/go.mod
# What go needs for the RocksDB of this system; nothing for 7.8.
include $(shell ROCKSDB='$(ROCKSDB)' deploy/rocksdb.sh make)
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error ROCKSDB=$(ROCKSDB)))

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | expand -t 16

demo: ## install what is missing, build, import a corpus, start a cluster, ask it
	@deploy/demo.sh

setup: ## install the Debian packages that building needs, and say which RocksDB is linked
	@deploy/setup.sh build

build: setup ## build the programs into bin/
	go build -o $(BIN)/ ./cmd/...
	go -C bench build -o ../$(BIN)/ ./cmd/...

test: ## everything that must be green: some fifteen to twenty minutes on two cores
	@deploy/test.sh

test-long: ## the long forms: more property cases, minutes of fuzzing each
	@deploy/test.sh long

mutations: ## break the product in each of some 300 ways, and see a test notice (six minutes; make test does a sixteenth)
	MUTATIONS=all go test ./internal/mutation -count=1 -timeout 60m -v -run '^TestMutations$$'

arm64: ## build the programs for arm64, and run the tests of search, stores and codecs under qemu (on amd64, as root)
	@deploy/arm64.sh

lint: ## vet, staticcheck, the rules of the house
	go vet ./...
	go -C counters vet ./...
	go -C bench vet ./...
	go -C bench/examples/strategy vet ./...
	$(TOOL) staticcheck ./...
	cd counters && $(TOOL) staticcheck ./...
	cd bench && $(TOOL) staticcheck ./...
	go test ./internal/lint/...

structure: ## count packages, imports and calls between them, long functions (of another checkout: DIR=...)
	@go run ./internal/lint/structure $(or $(DIR),.)

generate: ## rebuild the generated code (needs protoc, flatc and capnp)
	go generate ./backend/fields
	./schema/generate.sh
	./internal/node/httpapi/generate.sh
	./bench/layouts/rdb/generate.sh
	go -C counters generate ./...

packages: ## build the Debian packages into bin/packages (ROCKSDB=11: with RocksDB 11 linked statically, compiled here)
	@deploy/setup.sh packages
	rm -rf $(BIN)/packages
	deploy/packages/build.sh $(BIN)/packages

package-check: packages ## check packages, units and manifests with the tools that are there; says what it could not check
	@deploy/packages/check.sh

package-try: ## install, run, upgrade and purge the packages in a system of their own, of this release (root; some minutes)
	@deploy/packages/try.sh

reproduce: ## build the packages twice, compare their bytes, and put them into bin/packages (ten minutes)
	@deploy/setup.sh packages
	rm -rf $(BIN)/packages
	deploy/packages/reproduce.sh $(BIN)/packages

release: ## build, check and try the packages of a release for all systems, with checksums and notes (VERSION=1.2.3, FROM=COMMIT to upgrade from; root; an hour)
	@deploy/release.sh "$(VERSION)" "$(FROM)"

notice: ## rewrite the list of Go modules in NOTICE
	sed -i '/this list of Go modules:$$/q' NOTICE
	go run ./internal/modules notice >>NOTICE

test-rocksdb: setup ## test with RocksDB 11, and that the system's and it read each other's stores (compiles it the first time: some minutes)
	@ROCKSDB=11 deploy/setup.sh build
	@deploy/rocksdb.sh test
	@deploy/rocksdb.sh stores

measure-rocksdb: setup ## compare the costs of RocksDB 11 with those of Debian's (hours)
	@ROCKSDB=11 deploy/setup.sh build
	@deploy/rocksdb.sh measure

languages: ## judge the stemmers of all languages by Debian's dictionaries, and print its thesauri (docs/languages.md; some minutes)
	@deploy/setup.sh languages
	go test ./search/words -count=1 -timeout 60m -v -run '^TestQuality$$' -args -rules
	go test ./search/words/lexicon -count=1 -v -run '^TestDebian$$' -args -sample=50 -languages=cs,da,de,en,sv -extra=no=/usr/share/mythes/th_nb_NO_v2.dat

figures: build ## measure what docs/figures.md reports (about 7 minutes)
	@deploy/figures.sh

figures-age: build ## list the pages whose figures are older than what they measure
	@$(BIN)/adbench figures-age

audit: build ## an hour of killing, hanging and damaging under queries, against the oracle
	@deploy/audit.sh

kills: build ## of these the half hour in which replicas and masters fail
	@AUDIT_ONLY=replicas deploy/audit.sh

budgets: ## clicks and kills against budgets under load, and what is spent beyond them; a database that is away for a minute, a collector that is paused for half a minute (some four minutes)
	BUDGETS_LONG=1 go test ./internal/node/processtest -run '^TestBudget' -count=1 -v -timeout 20m | grep -v '^=== '
	BUDGETS_LONG=1 go test ./internal/node/collector -run '^(TestServerAway|TestKill)$$' -count=1 -v -timeout 20m | grep -v '^=== '

alerts: ## bring about a cause of each alert, and see it fire in a real Prometheus (about a minute)
	ALERTS_LONG=1 go test ./internal/e2e -run '^TestAlertsFire$$' -count=1 -v -timeout 20m | grep -v '^=== \|level='

breakages: ## break a cluster in each of a dozen ways, and see the doctor name the cause (some three minutes; disks need root)
	BREAKAGES_LONG=1 go test ./internal/node/processtest -run '^TestBreakages$$' -count=1 -v -timeout 20m | grep -v '^=== \|level='

takeover: ## kill, stop and end the leading balancer; how soon the standby leads and budget marks are in answers (COUNT=3)
	@deploy/takeover.sh $(COUNT)

test-faults: ## seeded schedules of faults under queries (FAULTS_FROM=1 FAULTS_COUNT=100: an hour; FAULTS_ONLY=SEED replays one)
	@deploy/faults.sh

gone: ## kill a slave, the leading balancer, a master, the distributor, a member of etcd; each comes back when all has gone on without it; pause each for half a minute (four minutes)
	GONE_LONG=1 go test ./internal/faults -run '^(TestGoneForGood|TestPausedForLong)$$' -count=1 -v | sed -n 's/^ *\(gone\|paused\)_test.go:[0-9]*: gone: //p; /^---\|^ *\(gone for good\|paused\).*whole\|^ *seed/p; /FAIL/p'

simulate: ## ten thousand seeds of the simulator
	SIM_SEEDS=10000 go test -count=1 -timeout 3h ./balance/sim -run '^TestSeeds$$' -v

site: ## draw the documents as pages, with a reference of commands, configuration, HTTP and metrics, into bin/site
	rm -rf $(BIN)/site
	go run ./internal/site $(BIN)/site

growth: ## a million distinct queries, each of another tenant: what processes keep of them in memory is bounded (some fifteen minutes)
	GROWTH_LONG=1 go test ./internal/node/processtest -run '^TestCostliestQueries$$' -count=1 -v -timeout 1h | grep -v '^=== \|level='

experiments: build ## compare strategies; writes docs/experiments/ (most of an hour)
	@deploy/experiments.sh

peers: ## install the systems that adbench search --peers measures
	@deploy/peers.sh

search-figures: build ## measure layouts, peers and the served search side by side (hours; deploy/search.sh PIECE for less)
	@deploy/search.sh

conformance: ## hold a running cluster against openapi.yaml with Schemathesis, linters and a generated client (Python 3 with venv, Node; some minutes)
	@deploy/conformance.sh

huge: build ## build a store of 100,000,000 keywords, open it and ask it (eight minutes on two free cores, 35 GB of disk)
	@deploy/huge.sh

clean: ## remove what was built and the demo's data
	rm -rf $(BIN) demo

.PHONY: help demo setup build test test-long mutations arm64 lint structure generate packages package-check package-try reproduce notice release test-rocksdb measure-rocksdb languages figures figures-age audit kills budgets alerts breakages takeover test-faults gone growth simulate site experiments peers search-figures huge conformance clean
