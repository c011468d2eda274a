# make run       set everything up, train three hospitals' model on real data, write a report
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

# Tests of pages need a browser: where there is none and apt-get may install one, it does. A test
# that asks for one fails without it if it was found here, and is skipped if it was not.
BROWSERS := chromium chromium-browser google-chrome
FIND_BROWSER := for b in $(BROWSERS); do command -v $$b && break; done
HAVE = PIGOU_TEST_CHROMIUM=$(if $(shell $(FIND_BROWSER)),1,0)

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all soak bench lint browser

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

browser:
	@$(FIND_BROWSER) >/dev/null || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	 && echo "Installing Chromium for the tests of pages ..." \
	 && { apt-get -qq update; apt-get -qq install -y chromium >/dev/null; } && $(FIND_BROWSER) >/dev/null; } \
	 || echo "No browser: the tests that open pages are skipped. Install Chromium to run them."

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint browser
	$(HAVE) $(PYTEST) -m "not long and not soak"

test-all: lint browser
	$(HAVE) $(PYTEST) -m "not soak"

soak: $(READY)
	$(BIN)/python -m pytest -m soak || test $$? -eq 5 # 5: there are none

bench: $(READY)
	$(BIN)/python -m benchmarks
