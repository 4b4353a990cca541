# Two commands for a fresh machine: `make demo` and `make test`. `make help` says what they and the others do.
# Another interpreter: `make demo PYTHON=python3.12`. It is used once, to make the environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo figures test check fix wheel clean

help:
	@echo "make demo     measure four collectives with two gloo ranks, print the table, keep the sweep file and a figure"
	@echo "make figures  draw the figures of docs/figures again, from the sweeps in examples"
	@echo "make test     all checks, then all tests that this machine can run"
	@echo "make check    ruff (lint and format), mypy, the import rules"
	@echo "make fix      let ruff repair what it can"
	@echo "make wheel    build dist/commbench-*.whl"
	@echo "make clean    remove $(VENV), build and dist; demo-results/ stays"
	@echo
	@echo "The first of them installs into $(VENV): torch, ruff, mypy, pytest, in the versions of constraints.txt."
	@echo "Another interpreter (3.11 or newer): make demo PYTHON=python3.12"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "commbench needs Python 3.11 or newer; $(PYTHON) is not. Name another: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --editable '.[torch,gpu,mpi,plots,frameworks,dev]'
	@touch $@

demo: $(STAMP)
	@sh benchmarks/demo.sh $(BIN)

figures: $(STAMP)
	$(BIN)/python -m plots.interconnects examples/two-h200/nvlink.jsonl examples/two-h200/host.jsonl \
	  examples/two-h200/network.jsonl --title 'Two H200: NVLink, host memory, network' \
	  --output docs/figures/two-h200.png
	$(BIN)/python -m plots.interconnects examples/h200x2-nvlink.jsonl examples/h200x2-host.jsonl \
	  --title 'Two H200: NVLink against host memory' --output docs/figures/nvlink-against-host.png
	$(BIN)/python -m plots.training_steps examples/h200x2-nvlink.jsonl examples/h200x2-host.jsonl --model llama2-7b \
	  --output docs/figures/training-step.png

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests that start launchers and ranks run two files at a time, however many cores there are; the others use them all.
LAUNCHED := gloo or mpi or cluster or wheel or browser or gpu
test: check
	$(BIN)/pytest -n logical --maxprocesses 8 -m 'not ($(LAUNCHED))'
	$(BIN)/pytest -n 2 --dist loadfile -m '$(LAUNCHED)'

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist *.egg-info

# MPICH beside Open MPI: both wheels install mpirun, so MPICH has an environment of its own, outside the checkout. Once
# it is there, `make test` also runs the tests that need it.
.PHONY: mpich-venv
MPICH_VENV ?= $(HOME)/.cache/commbench/mpich-venv
ifneq ($(wildcard $(MPICH_VENV)/.installed),)
export COMMBENCH_MPICH_VENV := $(MPICH_VENV)
endif

mpich-venv: $(MPICH_VENV)/.installed

$(MPICH_VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(MPICH_VENV)
	$(MPICH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  mpi4py mpich --editable .
	@touch $@
	@echo "for tests that are not started by make: export COMMBENCH_MPICH_VENV=$(MPICH_VENV)"
