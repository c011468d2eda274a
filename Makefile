# make run       set everything up and show what pricing does for three hospitals
# make test      set everything up and run the whole gate (lint, types, tests, snippets, arrows)
# make test-all  the gate and the long tests        make soak   tests that run for hours
# make bench     ratios of running times            make lint   only style and types
#
# Needs Python 3.11 or newer, with pip. Another one than the first found: make PYTHON=python3.12 run

CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach p,$(CANDIDATES),$(shell $(p) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(p))))

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest --numprocesses auto
HAS_POSTGRESQL := command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all soak bench lint postgresql

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

setup: $(READY)

# Done once, and again when pyproject.toml changes. pip 25.1 is the first that knows --group; a
# Python without ensurepip (Debian's, unless python3-venv is there) lends its own pip.
$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "pigou needs Python 3.11 or newer; found none of: $(CANDIDATES)"; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "pigou needs Python 3.11 or newer; $(PYTHON) is older or does not run"; exit 1; }
	@echo "Setting up $(VENV) (once; takes a minute or two) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 \
	 || if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv --clear $(VENV); \
	    else $(PYTHON) -m venv --clear --without-pip $(VENV) \
	      && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; fi
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(READY)

run: $(READY)
	@$(BIN)/pigou solve examples/three_hospitals.toml

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The tests of the ledger start a server of their own; where there is none, apt-get installs it.
postgresql:
	@$(HAS_POSTGRESQL) || { echo "Installing PostgreSQL for the tests ..." \
	 && $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -qq -y postgresql >/dev/null; } || true
	@$(HAS_POSTGRESQL) || echo "No PostgreSQL here (no initdb), and apt-get cannot install it: THE LEDGER IS TESTED ON SQLITE ONLY"

# With PIGOU_TEST_POSTGRES=1 a test of PostgreSQL fails where it would be skipped.
WITH_POSTGRESQL := if $(HAS_POSTGRESQL); then export PIGOU_TEST_POSTGRES=1; fi;

test: lint postgresql
	$(WITH_POSTGRESQL) $(PYTEST) -m "not long and not soak"

test-all: lint postgresql
	$(WITH_POSTGRESQL) $(PYTEST) -m "not soak"

soak: $(READY) postgresql
	$(WITH_POSTGRESQL) $(BIN)/python -m pytest -m soak || test $$? -eq 5 # 5: there are none

bench: $(READY)
	$(BIN)/python -m benchmarks
