# Commands of the project; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
UV_VERSION := 0.13.9

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
