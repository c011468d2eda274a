# make run       set everything up, train three hospitals' model on real data, write a report
# make test      set everything up and run the whole gate (lint, types, tests, snippets, arrows)
# make test-all  the gate and the long tests        make soak   tests that run for hours
# make bench     ratios of running times            make lint   only style and types
# make figures   the pictures in docs/figures, anew
#
# Needs Python 3.11 or newer, with pip. Another one than the first found: make PYTHON=python3.12 run

CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach p,$(CANDIDATES),$(shell $(p) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(p))))

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest --numprocesses auto
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)

# Some tests start a PostgreSQL server, some open pages in a browser. What is missing apt-get installs,
# where it may. Tests are told what there is: they fail then where they would be skipped without it.
HAS_POSTGRESQL := command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
HAS_CHROMIUM := command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
INSTALL = echo "Installing $(1) for the tests ..." && $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -qq -y $(1) >/dev/null
WITH_TOOLS := if $(HAS_POSTGRESQL); then export PIGOU_TEST_POSTGRES=1; fi; if $(HAS_CHROMIUM); then export PIGOU_TEST_CHROMIUM=1; fi;

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all soak bench lint tools figures

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
	@$(BIN)/pigou run examples/three_hospitals.toml

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

tools:
	@$(HAS_POSTGRESQL) || { $(call INSTALL,postgresql); } || echo "No PostgreSQL (initdb), and apt-get cannot install it: THE LEDGER IS TESTED ON SQLITE ONLY"
	@$(HAS_CHROMIUM) || { $(call INSTALL,chromium); } || echo "No Chromium, and apt-get cannot install it: NO PAGE IS OPENED IN A BROWSER"

test: lint tools
	$(WITH_TOOLS) $(PYTEST) -m "not long and not soak"

test-all: lint tools
	$(WITH_TOOLS) $(PYTEST) -m "not soak"

soak: $(READY) tools
	$(WITH_TOOLS) $(BIN)/python -m pytest -m soak || test $$? -eq 5 # 5: there are none

bench: $(READY)
	$(BIN)/python -m benchmarks

figures: $(READY)
	@out=$$(mktemp -d) && $(BIN)/pigou reproduce fig1-formulas fig2-formulas --out $$out \
	 && mkdir -p docs/figures && cp $$out/fig1.svg $$out/fig2.svg docs/figures/ && rm -r $$out
