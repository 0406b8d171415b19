# make test | test-changed | thorough | demo | lint | docs | bench | fuzz | coverage | clean
# Tests run on all cores: `test` the first lane of them, `test-changed` those of what differs from
# BASE, `thorough` the second lane, in slices, going on where it was interrupted.
# PYTHON chooses the interpreter, VENV the environment's directory, PYTEST_ARGS what pytest gets.
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
BENCH_ARGS ?=
THOROUGH_ARGS ?=
BASE ?= main
FUZZ ?= 2000
WORKERS ?= 1

BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --no-compile
RUN_TESTS := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: test test-changed thorough demo lint docs bench fuzz coverage clean installed

# Bytecode is kept, of the tests and of what is installed too: else each process would make it anew.
unexport PYTHONDONTWRITEBYTECODE

# Bytecode first: most of what a process that a test starts would do else is compile the compiler.
test: $(VENV)/.installed-test
	$(BIN)/python -m compileall -q adcompiler rules
	$(RUN_TESTS) $(PYTEST_ARGS)

test-changed: $(VENV)/.installed-test
	$(BIN)/python -m tests.changed --base $(BASE) -n auto --dist worksteal $(PYTEST_ARGS)

thorough: $(VENV)/.installed-test
	$(BIN)/python -m compileall -q adcompiler rules
	$(BIN)/python -m tests.thorough $(THOROUGH_ARGS)

demo: $(VENV)/.installed-examples
	$(BIN)/python examples/demo.py

lint: $(VENV)/.installed-lint $(VENV)/.installed-test
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pytest -q tests/typing

# The pages of docs/ as a site, in build/docs; warnings are errors, and nothing is fetched.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html -d build/doctrees docs build/docs

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Compile FUZZ random programs in WORKERS processes, check each against plain Python, print a tally.
fuzz: $(VENV)/.installed-test
	ADCOMPILER_FUZZ=$(FUZZ) ADCOMPILER_FUZZ_WORKERS=$(WORKERS) $(BIN)/python -m pytest -s \
		tests/properties/test_random_programs.py -k fuzz $(PYTEST_ARGS)

# Which lines and branches of the compiler the tests reach; fails below the least share in pyproject.toml.
coverage: $(VENV)/.installed-coverage $(VENV)/.installed-test
	$(RUN_TESTS) --cov --cov-report=term $(PYTEST_ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What tests, lint and documentation need, installed at once: resolved and built once, not thrice.
installed: pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) -e '.[test,lint,docs]'
	touch $(VENV)/.installed-test $(VENV)/.installed-lint $(VENV)/.installed-docs

# One stamp per extra: the install is repeated only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) -e '.[$*]'
	touch $@

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)
