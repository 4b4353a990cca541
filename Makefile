# Two commands for a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test check fix wheel clean
help:
	@echo "make demo    install into $(VENV) and measure four collectives with 2 gloo ranks"
	@echo "make test    install, run all checks and all tests"
	@echo "make check   ruff, mypy and the house rules"
	@echo "make fix     let ruff repair what it can"
	@echo "make wheel   build dist/*.whl"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[torch,gpu,dev]'
	@touch $@

demo: $(STAMP)
	@sh benchmarks/demo.sh $(BIN)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist demo-results *.egg-info
