# What there is to do with the project. The work is in internal/check, which
# derives from the source what has to be built, raced and fuzzed.

GO       ?= go
DURATION ?= 10m
FUZZTIME ?= 10s
TARGET   ?=
INSTALL  ?= true
PKG      ?= ./...
BENCH    ?= .
COUNT    ?= 1

check = $(GO) run ./internal/check

.DEFAULT_GOAL := help
.PHONY: help test lint bench fuzz soak

help: ## show this list
	@awk -F ' *## *' '/^[a-z]+:.*##/ { sub(/:.*/, "", $$1); printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## all that must pass before a change lands; INSTALL=false installs no tools
	@$(check) -install=$(INSTALL) test

lint: ## only what needs no run: formatting, imports, documents, vet, staticcheck
	@$(check) lint

bench: ## Go benchmarks; PKG=./bits BENCH=Sync COUNT=5 narrow and repeat them
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG)

fuzz: ## every fuzz target for FUZZTIME=10s; TARGET=bits.FuzzReader picks some
	@$(check) -fuzztime=$(FUZZTIME) -target='$(TARGET)' fuzz

soak: ## search for faults for DURATION=10m: many seeds, then long fuzzing
	@$(check) -duration=$(DURATION) -target='$(TARGET)' soak
