# Every target sets up what it needs in .venv and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test coverage lint format bench readme-figures bench-exact bench-large bench-scale paper paper-quick docs pictures dist clean

demo: $(VENV)/.base
	$(BIN)/python -m frugalsvm demo

# Files of tests side by side: a fixture of a file is made once.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test: lint
	$(PYTEST)

# The tests once more, half as long again: which lines they run.
coverage: $(VENV)/.dev
	$(PYTEST) --cov=frugalsvm

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests experiments examples docs
	$(BIN)/ruff format --check src tests experiments examples docs
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests experiments examples docs
	$(BIN)/ruff format src tests experiments examples docs

# Needs FRUGALSVM_DATA, the folder with the data sets; make bench ARGS="--quick" is shorter.
bench: $(VENV)/.bench
	$(BIN)/python -m experiments bench $(ARGS)

# Time to proved optima against SCIP (and COPT, if you install coptpy).
bench-exact: $(VENV)/.bench
	$(BIN)/python -m experiments exact $(ARGS)

# The 18 large instances; 300 s each unless ARGS="--limit 60".
bench-large: $(VENV)/.bench
	$(BIN)/python -m experiments large $(ARGS)

# Time and memory against the size of the data; needs no data sets.
bench-scale: $(VENV)/.bench
	$(BIN)/python -m experiments scale $(ARGS)

# Tables of README and docs from experiments/results, which benchmarks write; says which
# are older than the last change of kernels, searches or trees.
readme-figures: $(VENV)/.base
	$(BIN)/python -m experiments pages

# Every table and figure of the paper's study on a small grid: 18 minutes on two cores.
# Finished cells are in results/study/cells.sqlite; the page is index.html there.
paper-quick: $(VENV)/.study
	$(BIN)/python -m experiments paper --quick --jobs 2 $(ARGS)

# In full, at most 60 s for each cell: weeks, and it can be stopped and started again.
# ARGS="--limit 3600" has the paper's limit, ARGS="--limit H-KS=600" that of one column.
paper: $(VENV)/.study
	$(BIN)/python -m experiments paper --jobs 2 --limit 60 $(ARGS)

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -b html docs docs/_build/html
	$(BIN)/python docs/links.py docs/_build/html

# The pictures of README and explanation, from real runs; they are under version control.
pictures: $(VENV)/.docs
	$(BIN)/python docs/pictures.py

# The source archive, and the wheel that is built from it.
dist: $(VENV)/.build
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) docs/_build docs/gallery docs/api docs/_generated build dist .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "frugalsvm needs Python 3.11 or newer; set PYTHON=python3.11 or similar")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV) ..."
	$(PIP) install -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV) for development ..."
	$(PIP) install -e .[test,lint]
	@touch $@ $(VENV)/.base

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e .[bench]
	@touch $@

$(VENV)/.study: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e .[study]
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e .[docs]
	@touch $@

$(VENV)/.build: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e .[build]
	@touch $@
