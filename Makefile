# Every target sets up what it needs in .venv; nothing but make and Python 3.11 or newer has to be there before.
# PYTHON=python3.12 chooses the interpreter; pip's own settings (PIP_INDEX_URL and the like) hold as usual.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
QUICK ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-long check bench fuzz docs clean

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## two small studies from judging to report, in about a minute
	@$(BIN)/judgewell demo -o demo

# Tests wait for servers and browsers now and then, so one more than there are processors runs at a time.
# Their processes share compiled modules, also where the environment keeps Python from writing any.
PYTEST = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/build/bytecode \
	  OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest \
	  -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --no-loadscope-reorder

test: $(VENV)/.dev browser ## run the tests, but for the long ones
	@$(PYTEST) -m "not long"

test-long: $(VENV)/.dev browser ## run the long tests, and property tests with more examples
	@JUDGEWELL_LONG_TESTS=1 $(PYTEST) -m "long or hypothesis"

check: $(VENV)/.dev ## check style, types and which package may import which
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/.dev ## measure speed and memory beside other tools (QUICK=1: small sizes; STAGE=evaluate: one; LARGE=1)
	@LARGE=$(LARGE) $(BIN)/python bench/run.py $(STAGE) $(if $(QUICK),--quick)

# The kernel is built twice, with and without SIMD; AddressSanitizer has to be loaded before Python.
SECONDS ?= 60
SEED ?= 0
fuzz: $(VENV)/.dev ## fuzz the compiled kernel under AddressSanitizer (SECONDS=60 SEED=0)
	@mkdir -p build/fuzz
	@for define in SIMD NO_SIMD; do \
	  $(CC) -std=c11 -g -O1 -D$$define -Wall -Wextra -Wno-missing-field-initializers -Werror -fPIC -shared \
	    -fsanitize=address,undefined -fno-sanitize-recover=all \
	    -I$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["include"])') \
	    src/judgewell/evaluation/_kernel.c -o build/fuzz/_kernel.abi3.so && \
	  LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
	    $(BIN)/python scripts/fuzz_kernel.py build/fuzz/_kernel.abi3.so $(SECONDS) $(SEED) || exit 1; \
	done

docs: $(VENV)/.dev ## build the documentation in site/; warnings and dead links are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

# Pages are tested in Debian's Chromium: installed where we may, asked for where we may not.
.PHONY: browser
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests of pages"; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else echo "Tests of pages need Chromium and are skipped without it: install the package chromium"; fi

clean: ## remove all that make has made, .venv and benchmark data included
	rm -rf $(VENV) build dist site bench/data .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: a second run finds them newer than what they depend on and installs nothing.
KERNEL := hatch_build.py src/judgewell/evaluation/_kernel.c

$(VENV)/.runtime: pyproject.toml constraints.txt $(KERNEL)
	@$(ensure_venv)
	@echo "Installing judgewell into $(VENV)"
	@$(PIP) install -c constraints.txt -e '.[server,report]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(KERNEL)
	@$(ensure_venv)
	@echo "Installing judgewell and its development tools into $(VENV)"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $(VENV)/.runtime $@

# The first interpreter that runs, is new enough and can make environments; names alone prove nothing.
define ensure_venv
set -e; \
if $(BIN)/python -m pip --version >/dev/null 2>&1; then exit 0; fi; \
for python in $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python); do \
  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
    echo "Making $(VENV) with $$($$python --version)"; \
    exec $$python -m venv --clear $(VENV); \
  fi; \
done; \
echo "No Python 3.11 or newer with the venv module was found$(if $(PYTHON), at $(PYTHON)); install one, or name it: make PYTHON=…" >&2; \
exit 1
endef
