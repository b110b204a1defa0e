# toolboundary: `make help` lists the targets.
SHELL := /bin/bash
export GOTOOLCHAIN ?= local
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
REPORT := $(CURDIR)/.cache/servers.txt
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help
.PHONY: help build demo run deps test check fmt lint fuzz fault bench cover clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

build: ## build bin/toolboundary
	@mkdir -p bin
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o bin/toolboundary ./cmd/app

bin/demodb: $(shell find test/demodb -name '*.go' -o -name go.mod -o -name '*.sql' 2>/dev/null)
	@mkdir -p bin
	@echo "building the demo's embedded MySQL engine; the first time takes a minute or two ..." >&2
	cd test/demodb && CGO_ENABLED=0 $(GO) build -o $(CURDIR)/bin/demodb .

demo: build bin/demodb ## walk through one run on an embedded database; needs nothing but Go
	@$(GO) run ./test/demo --app bin/toolboundary --db bin/demodb

run: build bin/demodb ## start the demo's service and database and keep them running
	@$(GO) run ./test/demo --app bin/toolboundary --db bin/demodb --stay

deps: ## install the servers that the tests start (apt, as root)
	@bash test/servers/install.sh

test: deps build bin/demodb ## run every test, on real servers that it installs and starts
	@mkdir -p .cache && rm -f $(REPORT)
	$(GO) vet ./...
	TOOLBOUNDARY_TEST_REPORT=$(REPORT) $(GO) test -vet=off -timeout 9m ./...
	cd test/demodb && export CGO_ENABLED=0 && $(GO) vet ./... && $(GO) test -vet=off ./...
	@echo; echo "real servers used (how many, which, for what):"; sed -E 's/^real server: (.*) at .* for /\1 for /' $(REPORT) | sort | uniq -c

check: deps ## check formatting, vet, tidy, staticcheck, imports; unit tests under the race detector
	@test -z "$$(gofmt -l . | grep -v node_modules)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) run $(STATICCHECK) ./...
	$(GO) test ./test/arch ./test/docs
	$(GO) test -race -short ./domain/... ./application/... ./config/... ./adapters/... ./test/contract/...

lint: ## run staticcheck alone
	$(GO) run $(STATICCHECK) ./...

fuzz: deps ## run 200,000 generated statements against MariaDB, then each fuzz target for a minute
	TOOLBOUNDARY_FUZZ_STATEMENTS=200000 TOOLBOUNDARY_FUZZ_SEED=1 $(GO) test -timeout 60m -v ./test/sqloracle
	for f in $$($(GO) test -list '^Fuzz' ./adapters/mysql/sqlguard | grep ^Fuzz); do \
	  $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s ./adapters/mysql/sqlguard || exit 1; done

fault: deps ## test the store under faults, in full
	TOOLBOUNDARY_FAULT=full $(GO) test -timeout 60m -v ./test/fault

bench: deps ## measure the boundary against the floor, as ratios; then one call and the guard alone
	$(GO) test -run '^$$' -bench AgainstFloor -benchtime 1x -timeout 30m ./test/bench
	$(GO) test -run '^$$' -bench Call -benchtime 2s ./test/bench
	$(GO) test -run '^$$' -bench Prepare -benchtime 2s ./adapters/mysql/sqlguard

cover: deps ## measure the coverage of the unit tests
	$(GO) test -coverprofile .cache/cover.out ./domain/... ./application/... ./config/... ./adapters/...
	$(GO) tool cover -func .cache/cover.out | tail -1

clean: ## remove what was built
	rm -rf bin .cache
