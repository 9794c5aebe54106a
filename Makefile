# Everything runs in .venv, which the first target that needs it sets up.

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MAKEFLAGS += --no-print-directory

# Hundreds of processes are started: what Python compiles for one is kept for the others, and nowhere but in .venv.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

.PHONY: help setup demo test soak lint bench oracle wild proofs score docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    check the example operations and run the Legendre fit"
	@echo "make test    lint, types, import layers and tests"
	@echo "make soak    run 50,000 random programs, 22,000 compiled, 600 trainings, 10,000 interrupts and 1,000 forks; SOAK=n makes it n programs"
	@echo "make bench   measure against PyTorch, installing it first if it is missing"
	@echo "make oracle  compare every operation with PyTorch's, in all its forms"
	@echo "make wild    run programs of other people's packages on PyTorch and on gradwright, and compare"
	@echo "make proofs  prove the built-in derivatives and write docs/proofs.md"
	@echo "make score   plant errors in the built-in derivatives and write what checkers find to docs/checkers.md"
	@echo "make docs    build the site, guides and reference, in docs/_build, and look through its links"
	@echo "make lint    the first three parts of make test"
	@echo "make clean   remove .venv, caches and build products"

setup: .venv/.ready
	@:

# All that the targets need, or only what `make demo` does. Modules are compiled when they are first used.
# Some systems ship Python without ensurepip: there, the venv is made bare and the system's pip fills it.
.venv/.ready: EXTRAS := dev,docs,cli,special
.venv/.demo: EXTRAS := demo
.venv/.ready .venv/.demo: pyproject.toml hatch_build.py $(wildcard src/gradwright/native/*.[ch])
	@test -n "$(PYTHON)" || { echo "gradwright needs Python 3.11 or later: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Setting up .venv (once, about a minute) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv >/dev/null 2>&1 || { \
	    $(PYTHON) -m venv --clear --without-pip .venv && $(PYTHON) -m pip --python $(BIN)/python install -qq pip; }
	@$(PIP) install -qq --no-compile -e ".[$(EXTRAS)]"
	@touch $@

demo: $(or $(wildcard .venv/.ready),.venv/.demo)
	@$(BIN)/gradwright demo

# The tests run in these parts, two at a time, the dearest first: each is a process that collects no more than it runs. What
# compiles is apart: it looks at every object that there is, several times a step, and those of other tests would be most.
compilation := tests/compilation tests/distributed tests/function/watched/test_in_motion.py \
    $(addprefix tests/test_,compiled_programs.py examples.py oracle_compiled.py)
by_c := tests/compilation/by_c
face := tests/face tests/backends tests/ops
verify := tests/verify tests/viz
engine := tests/native tests/engine tests/function tests/transform
utils := tests/utils tests/docs tests/cli
nn := tests/nn tests/pytorch tests/optim
PARTS := compilation face verify by_c rest engine utils nn
rest := tests src
$(foreach part,$(PARTS),$(eval ignored_$(part) := $(compilation:%=--ignore=%)))
ignored_compilation := $(by_c:%=--ignore=%)
ignored_by_c :=
ignored_rest := $(foreach part,$(filter-out rest,$(PARTS)),$($(part):%=--ignore=%))

test: lint
	@echo "== pytest, in $(words $(PARTS)) parts, two at a time; each tells what it found when it ends, after some minutes"
	@$(MAKE) -j2 -k $(PARTS:%=test-%)

test-%: .venv/.ready
	@echo "== pytest, of $* ..."
	@said=$$(OMP_NUM_THREADS=1 $(BIN)/pytest -q -rfE $($*) $(ignored_$*) 2>&1); \
	    ended=$$?; printf '== pytest, of %s\n%s\n' "$*" "$$said"; exit $$ended

SOAK ?= 50000

soak: .venv/.ready
	@$(BIN)/python -c 'import torch' 2>/dev/null || { \
	    echo "Installing PyTorch into .venv to compare with (once, a large download) ..."; \
	    $(PIP) install -qq -e ".[oracle]"; }
	@OMP_NUM_THREADS=1 SOAK=$(SOAK) GRADWRIGHT_REQUIRE_TORCH=1 $(BIN)/pytest -n 2 -q \
	    tests/engine/test_random_programs.py tests/engine/test_random_programs_at_once.py \
	    tests/compilation/test_random_steps.py tests/compilation/test_random_trainings.py \
	    tests/engine/test_interrupts.py tests/base/cpython/test_forks.py

lint: .venv/.ready
	@echo "== ruff"
	@$(BIN)/ruff check --quiet --output-format concise .
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== import layers"
	@$(BIN)/lint-imports --no-logo

bench: .venv/.ready
	@$(BIN)/python -c 'import torch' 2>/dev/null || { \
	    echo "Installing PyTorch into .venv to measure against (once, a large download) ..."; \
	    $(PIP) install -qq -e ".[oracle]"; }
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.operators

oracle: .venv/.ready
	@$(BIN)/python -c 'import torch' 2>/dev/null || { \
	    echo "Installing PyTorch into .venv to compare with (once, a large download) ..."; \
	    $(PIP) install -qq -e ".[oracle]"; }
	@$(BIN)/python -m oracle --samples all --dtypes --forms --errors --jobs 2

wild: .venv/.ready
	@$(BIN)/python -c 'import torch' 2>/dev/null || { \
	    echo "Installing PyTorch into .venv to compare with (once, a large download) ..."; \
	    $(PIP) install -qq -e ".[oracle]"; }
	@$(MAKE) -s .wild/.ready
	@$(BIN)/python -m wild; programs=$$?; $(BIN)/python -m wild --tests && exit $$programs

# Made anew from nothing when another release is asked for.
.wild/.ready: wild/requirements.txt wild/suites.txt
	@echo "Fetching other people's packages into .wild ..."
	@rm -rf .wild
	@$(PIP) install -qq --no-deps --target .wild -r wild/requirements.txt
	@$(BIN)/python -m wild.suites .wild
	@touch $@

proofs: .venv/.ready
	@$(BIN)/python -m gradwright.verify.proof.table docs/proofs.md

score: .venv/.ready
	@$(BIN)/python -m gradwright.verify.score docs/checkers.md

# From nothing each time, so that no page of before stays; warnings are errors; nothing is fetched.
docs: .venv/.ready
	@rm -rf docs/_build
	@$(BIN)/sphinx-build -q -W --keep-going -j auto -c docs . docs/_build
	@$(BIN)/python -m docs.generator.check docs/_build

clean:
	rm -rf .venv build dist docs/_build docs/reference htmlcov .coverage .coverage.* .hypothesis .*_cache benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
