# Each target explains itself: `make` prints the list.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# The newest Python from 3.11 on that is installed; `make PYTHON=/path/to/python demo` overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH := .venv-bench
DEMO := transformers.models.llama.modeling_llama.LlamaAttention
JOBS ?= 2

export OMP_NUM_THREADS ?= 1
export HF_HUB_OFFLINE ?= 1

.PHONY: help demo test lint format types layers check schema explain site readme bench-core bench-explain clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "forwardbook needs Python 3.11 or newer; none found. Install one, or: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,ty]'
	@touch $@

demo: $(STAMP) ## set up .venv if needed, then analyse LlamaAttention (formula, cost per line, proof) and prove it again
	$(BIN)/forwardbook analyze-module $(DEMO)
	$(BIN)/forwardbook validate $(DEMO)

test: $(STAMP) ## set up .venv if needed, then run the tests (JOBS=2 processes)
	$(BIN)/python -m pytest -n $(JOBS) -q

lint: $(STAMP) ## style: ruff
	$(BIN)/ruff check .

format: $(STAMP) ## let ruff mend what it can
	$(BIN)/ruff check --fix .

types: $(STAMP) ## types: mypy, strict
	$(BIN)/mypy

layers: $(STAMP) ## import direction: the layers contracts of pyproject.toml
	PYTHONPATH=src $(BIN)/lint-imports

check: test lint types layers ## everything that continuous integration runs after the set-up

schema: $(STAMP) ## write the database's JSON schema from the models
	$(BIN)/forwardbook schema > src/forwardbook/module_db.schema.json

explain: $(STAMP) ## document this repository into build/explained, every claim checked
	$(BIN)/forwardbook explain --repository . --out build/explained --strict --jobs $(JOBS)

site: $(STAMP) ## build the book into site/: a page for every class and model, every link checked
	$(BIN)/forwardbook site build

readme: $(STAMP) ## fill the README's worked examples with the real output of their commands
	$(BIN)/python docs/fill_readme.py

models: $(STAMP) ## bring formulas and parameters of the shipped models up to date
	$(BIN)/python docs/fill_models.py

# The counters of others come into an environment of their own, which sees the packages of .venv beneath.
$(BENCH)/.installed: $(STAMP) benchmarks/requirements.txt
	$(BIN)/python -m venv --clear $(BENCH)
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' > \
	  $$($(BENCH)/bin/python -c 'import site; print(site.getsitepackages()[0])')/beneath.pth
	$(BENCH)/bin/python -m pip install --quiet --constraint constraints.txt --requirement benchmarks/requirements.txt
	$(BENCH)/bin/python -m pip install --quiet --no-deps --requirement benchmarks/requirements-analytic.txt
	@touch $@

bench-core: $(BENCH)/.installed ## time per class, per evaluation, and other counters beside ours (half an hour)
	PYTHONPATH=src $(BENCH)/bin/python -m benchmarks.evaluation
	PYTHONPATH=src $(BENCH)/bin/python -m benchmarks.peers
	PYTHONPATH=src $(BENCH)/bin/python -m benchmarks.cost_per_class

bench-explain: $(BENCH)/.installed ## explain TREE=<unpacked nvidia-modelopt 0.33.0> beside parsing it, griffe and pyreverse
	@test -d "$(TREE)" || { echo "give the tree: make bench-explain TREE=/path/to/unpacked/nvidia-modelopt" >&2; exit 1; }
	PYTHONPATH=src $(BENCH)/bin/python -m benchmarks.explain $(TREE) --focus modelopt.torch.trace

bench-profile: $(STAMP) ## what measuring costs: the timing pass beside a bare loop, operators beside torch's profiler
	KINETO_LOG_LEVEL=99 PYTHONPATH=src $(BIN)/python -m benchmarks.profile_overhead

bench-models: $(BENCH)/.installed ## whole models at full size: totals against three counts, other tools beside ours (two hours)
	PYTHONPATH=src $(BENCH)/bin/python -W ignore -m benchmarks.model_totals
	PYTHONPATH=src $(BENCH)/bin/python -W ignore -m benchmarks.model_peers

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) $(BENCH) build dist site docs/book .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
