# Every target makes its own environment in .venv; only Python 3.11 (or newer) has to be there.

ifndef PYTHON
PYTHON := $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
endif

VENV := .venv
RUN := $(VENV)/bin/python
PYTEST_ARGS ?=
# One more than there are processors: some tests wait for processes that they have started.
JOBS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# With byte code, the tests start in a quarter of the time; container images often forbid it.
export PYTHONDONTWRITEBYTECODE :=

.NOTPARALLEL:
.PHONY: help demo test test-plain quick lint format generated bench docs docs-serve docs-test man vscode clean

help:
	@echo 'make demo     run the examples and compare them with their expected results'
	@echo 'make test     run all tests (PYTEST_ARGS="-k name" selects, JOBS=2 with two processes)'
	@echo 'make test-plain  run the tests of programs, rules and runs without any acceleration'
	@echo 'make quick    run the tests of changed files, then some of every layer, in less than a minute'
	@echo 'make lint     check style, types, and imports between subpackages'
	@echo 'make format   rewrite the sources in the project style'
	@echo 'make generated  write generated files again: pages, the index, the grammar for editors'
	@echo 'make bench    run the benchmarks, compared with xdsl-opt and numpy'
	@echo 'make docs     build the site in build/site, with examples that are verified and run'
	@echo 'make docs-serve  build the site and serve it on http://127.0.0.1:8000'
	@echo 'make docs-test  test pages of the site in Chromium: errors, themes, narrow windows, axe, search'
	@echo 'make man      write man pages of the commands to build/man'
	@echo 'make vscode   package the extension for VS Code as build/pto-dialect.vsix (needs Node)'
	@echo 'make clean    remove .venv and all generated files'

demo: $(VENV)/installed
	$(RUN) examples/run_all.py

test: $(VENV)/installed-test
	$(RUN) -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

# Everything that exists for speed alone is off (docs/performance.md); tests of these accelerations are skipped.
PLAIN_TESTS := tests/accel tests/test_lit.py tests/examples tests/analysis tests/verify tests/passes tests/syntax \
	tests/diagnostics tests/runtime tests/sanitize

test-plain: export PTO_PLAIN := 1
test-plain: $(VENV)/installed-test
	$(RUN) -m pytest -n $(JOBS) --dist worksteal $(PLAIN_TESTS) $(PYTEST_ARGS)
	$(RUN) examples/run_all.py

quick: $(VENV)/installed-test
	@changed=$$($(RUN) tests/helpers/quick.py changed); \
	[ -z "$$changed" ] || $(RUN) -m pytest -q -x -n $(JOBS) --dist worksteal $$changed
	@$(RUN) -m pytest -q -n $(JOBS) --dist worksteal $$($(RUN) tests/helpers/quick.py layers)

lint: $(VENV)/installed-test $(VENV)/installed-lint $(VENV)/installed-bench
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m pyright
	$(VENV)/bin/lint-imports --no-cache

format: $(VENV)/installed-lint
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

generated: $(VENV)/installed
	$(RUN) -m pto_dialect.ir.core.make_index
	$(RUN) -m pto_dialect.verify.catalogue
	$(RUN) -m pto_dialect.driver.reference
	$(RUN) -m pto_dialect.driver.reference.textmate
	$(RUN) -m pto_dialect.runtime.kernels.refusals > docs/semantics.md
	$(RUN) docs/site/command_pages.py

bench: $(VENV)/installed-bench
	$(RUN) benchmarks/run.py

docs: $(VENV)/installed-docs
	$(RUN) -m mkdocs build --strict --quiet

docs-test: docs $(VENV)/installed-test
	$(RUN) tests/helpers/site_pages.py build/site

man: $(VENV)/installed-man
	$(RUN) docs/site/man_pages.py build/man

docs-serve: $(VENV)/installed-docs
	$(RUN) -m mkdocs serve

vscode:
	tools/vscode/build.sh

$(RUN):
ifeq ($(PYTHON),)
	@echo 'Python 3.11 or newer with venv was not found; name one: make PYTHON=/path/to/python3.11' >&2
	@exit 1
endif
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
# Scripts that older ones write import what a command does not need; without a newer one there, the given one does.
	-$(RUN) -m pip install --quiet --upgrade 'pip>=25.2'

# The stamps: one per extra, renewed when the dependencies change.
$(VENV)/installed: pyproject.toml setup.py | $(RUN)
	$(RUN) -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-%: pyproject.toml setup.py | $(RUN)
	$(RUN) -m pip install --quiet --editable '.[$*]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis lit-tests/.lit_test_times.txt
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
