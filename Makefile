# Commands of the project; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
UV_VERSION := 0.13.9
# Processes that tests run in; stories mostly wait, so two pay even on small machines.
WORKERS ?= 2

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(STAMP) ## Make the virtual environment with everything pinned

$(STAMP): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: lock
lock: ## Pin the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --group dev pyproject.toml -o requirements.lock

.PHONY: check
check: lint types contracts measure generated ## Everything that reads the code without running it

.PHONY: lint
lint: setup ## Style and likely mistakes
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: format
format: setup ## Put the code into shape
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

.PHONY: types
types: setup ## Types, strictly
	$(BIN)/pyright

.PHONY: contracts
contracts: setup ## Which part may import which
	$(BIN)/lint-imports --no-cache

.PHONY: measure
measure: setup ## Sizes of functions and files against their limits
	$(BIN)/python tools/measure.py

.PHONY: generate
generate: setup ## Write CRDs and reference pages anew
	$(BIN)/python tools/generate.py
	$(BIN)/dynamo-operator generate docs --to docs/reference

.PHONY: generated
generated: setup ## Fail when a generated file is not what its source makes
	$(BIN)/python tools/generate.py --check
	$(BIN)/dynamo-operator generate docs --to docs/reference --check

.PHONY: test
test: setup ## All tests, with the limits of coverage
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist loadfile $(ARGS)
	@$(BIN)/python tools/coverage_limits.py

.PHONY: test-again
test-again: setup ## Once more what failed in the last run, and the limits
	$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist loadfile --last-failed --last-failed-no-failures none $(ARGS)
	@$(BIN)/python tools/coverage_limits.py

.PHONY: test-unit
test-unit: setup ## The tests that need no cluster: seconds
	$(BIN)/pytest -q -m "not cluster" $(ARGS)

.PHONY: test-cluster
test-cluster: setup ## The tests on a real control plane
	$(BIN)/pytest -q -m cluster $(ARGS)

.PHONY: conformance
conformance: setup ## Compare with the recordings of release 0.9, where the suite is present (ARGS=plain)
	$(BIN)/python tools/conformance.py $(ARGS)

.PHONY: bench
bench: setup ## Operator against a floor of plain writes, and the runtime's hot paths (ARGS="--graphs 50")
	$(BIN)/python tools/bench_runtime.py
	$(BIN)/python tools/bench.py $(ARGS)

.PHONY: bench-grove
bench-grove: setup ## The same under Grove (ARGS="--graphs 200")
	$(BIN)/python tools/bench_grove.py $(ARGS)

.PHONY: demo
demo: setup ## Watch the operator bring graphs up on a local Kubernetes
	@$(BIN)/python tools/demo.py

.PHONY: demo-multinode
demo-multinode: setup ## Watch a service stand on several nodes, by LeaderWorkerSet
	@$(BIN)/python tools/demo_multinode.py

.PHONY: clean
clean: ## Remove what tools left behind; the environment and clusters stay
	rm -rf .coverage .coverage.* .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist
	find src tests tools cluster -name __pycache__ -type d -prune -exec rm -rf {} +

NAME ?= default
WITH ?=
PORT ?=

.PHONY: cluster
cluster: setup ## Start a local Kubernetes, or reuse it (NAME=default WITH=istio PORT=6443)
	@$(BIN)/python -m cluster start --name "$(NAME)" --with "$(WITH)" $(if $(PORT),--port "$(PORT)")

.PHONY: cluster-stop
cluster-stop: setup ## Stop it and remove its data (NAME=default)
	@$(BIN)/python -m cluster stop --name "$(NAME)"

.PHONY: cluster-list
cluster-list: setup ## List the local clusters
	@$(BIN)/python -m cluster list
