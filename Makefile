# Every target sets up .venv by itself; all that is needed is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TEST_STAMP := $(VENV)/.stamp-test
BENCH_STAMP := $(VENV)/.stamp-bench
# uv installs in six seconds what takes pip forty. pip follows where uv finds no way, as to an index that only pip's
# settings name. Half of its time would be compiling modules that nothing imports; Python compiles those it does.
PIP_INSTALL := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check
UV_INSTALL := $(BIN)/python -m uv pip install -q --system-certs --python $(BIN)/python
COMMA := ,
INSTALL = $(PIP_INSTALL) uv && $(UV_INSTALL) -e '.[$(1)]' || $(PIP_INSTALL) -e '.[$(1)]'

# Hundreds of processes of the tests would compile the same modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test suite lint bench bench-peers soak fuzz bitcode bitcode-check web clean

demo: $(TEST_STAMP)
	$(BIN)/kinegraph demo

# Lint takes one core alone for half a minute, so both go side by side. Tests take all cores as it is: libraries of
# linear algebra would start threads of their own, which wait for each other.
test: $(TEST_STAMP)
	$(MAKE) --no-print-directory -j2 lint suite

# Nothing may hang. A test that takes five minutes ends its process (pyproject.toml), a process that ends ends the run
# (with `loadfile` xdist would wait for its tests for ever), and whatever else may hang ends after MINUTES.
MINUTES ?= 45
LIMITED = $(if $(shell command -v timeout),timeout --foreground --signal=INT --kill-after=30 $(MINUTES)m)
suite: $(TEST_STAMP)
	@$(BIN)/python -m pytest -q --collect-only >/dev/null || true # compiles every module once, not in each process
	OPENBLAS_NUM_THREADS=1 $(LIMITED) $(BIN)/python -m pytest -q -n auto --dist loadfile --max-worker-restart=0

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict

# Ratios measured in one run, never asserted: the machine may be busy. Installs the peers; takes the better part of an
# hour. `make bench-peers` is the part about robots, which prints one table and writes one JSON file.
bench: bench-peers
	$(BIN)/python -m benchmarks kernels
	$(BIN)/python -m benchmarks loops
	$(BIN)/python -m benchmarks closed-loops
	$(BIN)/python -m benchmarks counts
	$(BIN)/python -m benchmarks store
	$(BIN)/python -m benchmarks kidym
	$(BIN)/python -m benchmarks stiff
	$(BIN)/python -m benchmarks simulate --peers

bench-peers: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks peers

# The same tests with many more random cases than `make test` has time for.
soak: $(TEST_STAMP) bitcode-check
	KINEGRAPH_SOAK=1 $(BIN)/python -m pytest -q -n auto --dist loadfile --max-worker-restart=0 -o faulthandler_timeout=7200

# Random and damaged input of every kind: nothing but success or an error of ours, within 10 s and 2 GB each. Each fault
# names its case; `make fuzz ARGS="--subject urdf --case 17"` shows and runs it again.
CASES ?= 200000
SEED ?= 1
fuzz: $(TEST_STAMP)
	$(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED) $(ARGS)

# The loops of solvers, search and recursions over bodies as LLVM bitcode, which is part of the package. Bytes depend on
# the versions of Python, Numba, llvmlite and NumPy; bitcode of an older LLVM can be read by every newer one.
# `make bitcode FILES=solve.loops.stepping` makes one file alone.
BITCODE := .venv-bitcode/.stamp
BITCODE_PYTHON := NUMBA_NUM_THREADS=1 PYTHONPATH=src:. .venv-bitcode/bin/python -W ignore -m tools.bitcode
bitcode: $(BITCODE)
	$(BITCODE_PYTHON) $(FILES)

bitcode-check: $(BITCODE)
	$(BITCODE_PYTHON) --check $(FILES)

$(BITCODE): tools/bitcode/requirements.txt
	$(PYTHON) -m venv .venv-bitcode
	.venv-bitcode/bin/python -m pip install -qq --disable-pip-version-check -r tools/bitcode/requirements.txt .
	.venv-bitcode/bin/python -m pip uninstall -qq -y kinegraph
	@touch $@

# The script and style of the page that simulate --page writes; needs Node, which users do not.
web:
	cd web && npm ci --silent && npm run --silent build

clean:
	rm -rf $(VENV) .venv-bitcode web/node_modules build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(TEST_STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Kinegraph needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,test)
	@touch $@

$(BENCH_STAMP): $(TEST_STAMP)
	$(call INSTALL,test$(COMMA)bench)
	@touch $@
