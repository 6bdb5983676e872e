# The one interface to the course: people and continuous integration call the same targets.
# Bare `make` prints the help, which is made from the `##` comments below.

## ARGS=...         more arguments, e.g. make lab ARGS=--no-browser
ARGS =
## DIR=demo         where `make demo` makes its course
DIR = demo
## PYTHON=python3   the Python to set up with (3.11 to 3.14)
PYTHON ?= python3
## TORCH_INDEX=URL  PyTorch from its CPU-only index: gigabytes less on Linux.
##                  URL: https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=

# Both ends of requires-python in pyproject.toml; a test compares them.
PYTHON_MIN := 3.11
PYTHON_MAX := 3.14

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/set-up-done
UNFINISHED := $(VENV)/set-up-unfinished
ACTIVATE := . $(VENV)/bin/activate &&
STOP := stop() { echo "make: $$*" >&2; exit 2; };

# Settings of the user that must not affect .venv: another Python's modules, pip's --user, kernels of the home folder.
unexport PYTHONPATH PYTHONHOME
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export JUPYTER_PREFER_ENV_PATH := 1

.DEFAULT_GOAL := help
.PHONY: help lab model test trial demo build book bench lint lock clean FORCE

help: ## Print this help
	@echo "Attention by Hand. Every command does the set-up that it needs, once, in $(VENV)."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile
	@echo
	@sed -n 's/^## /  /p' Makefile

lab: $(STAMP) ## Open JupyterLab at your next lesson
	@$(ACTIVATE) python -m autograder lab $(ARGS)

model: $(STAMP) ## Fetch the real model of lessons 20 to 23 (98 MB, once)
	@$(ACTIVATE) python -m autograder model $(ARGS)

PYTEST := python -m pytest -q --numprocesses logical --dist loadgroup

test: $(STAMP) ## Run the tests
	@$(ACTIVATE) $(PYTEST) -m "not trial" $(ARGS)

trial: $(STAMP) ## Run every proof: all answers, seeds, attacks; lessons; bundle; browser
	@$(ACTIVATE) $(PYTEST) -m "not sample" $(ARGS)

demo: $(STAMP) ## Make a course with a sample class in DIR, grade it, print grades
	@$(ACTIVATE) python -m autograder demo "$(DIR)" $(ARGS)

build: $(STAMP) ## Make the notebooks from their sources
	@$(ACTIVATE) python -m autograder build $(ARGS)

book: $(STAMP) ## Make the website of the worked lessons, for reading
	@$(ACTIVATE) python -m autograder build
	@$(ACTIVATE) python -m sphinx -W --keep-going -q $(ARGS) book book/_build/html
	@echo "Open book/_build/html/index.html in a browser."

bench: $(STAMP) ## Time what people wait for: a class, the first tick, checks, the model
	@$(ACTIVATE) python tests/bench_grading.py
	@$(ACTIVATE) python tests/bench_waits.py
	@$(ACTIVATE) PYTHONPATH=tests/support python tests/bench_first_tick.py
	@$(ACTIVATE) PYTHONPATH=tests/support python tests/bench.py
	@$(ACTIVATE) PYTHONPATH=tests/support python tests/bench_model.py

lint: $(STAMP) ## Check the style, the spelling and the types of the code
	@$(ACTIVATE) python -m ruff check $(ARGS)
	@$(ACTIVATE) python -m ruff format --check $(ARGS)
	@$(ACTIVATE) python -m codespell_lib
	@$(ACTIVATE) python tests/dense.py
	@$(ACTIVATE) python -m mypy autograder

# pip-compile keeps the pins that it finds in its output file: plain `make lock` changes only what must change.
# subtle: a CPU build of PyTorch is called 2.13.0+cpu, and only some indexes have it under that name. The lock
# says 2.13.0, which every index can meet. A build for GPUs, with its gigabytes of further packages, is refused.
lock: $(STAMP) ## Renew requirements.lock (ARGS=--upgrade: newest versions)
	@echo "Choosing versions (about half a minute) ..."
	@cp requirements.lock $(VENV)/lock.txt
	@$(ACTIVATE) CUSTOM_COMPILE_COMMAND="make lock" python -m piptools compile --quiet --extra teach --extra dev --extra book --extra cluster --extra postgres \
		--allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
		$(if $(TORCH_INDEX),--extra-index-url "$(TORCH_INDEX)") $(ARGS) \
		--output-file $(VENV)/lock.txt pyproject.toml
	@$(STOP) ! grep -E '^(nvidia|cuda|triton)' $(VENV)/lock.txt >&2 || \
		stop "pip chose a PyTorch for GPUs; run make lock with TORCH_INDEX (see make help)."
	@sed 's/^\(torch==[^+]*\)+.*/\1/' $(VENV)/lock.txt > $(VENV)/requirements.lock
	@mv $(VENV)/requirements.lock requirements.lock
	@echo "requirements.lock is renewed; call python tests/wheels.py, and bring environment.yml into line where make test says so."

clean: ## Remove .venv and caches; notebooks and DIR stay
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache *.egg-info

# --- Set-up -------------------------------------------------------------------------------------------------
# While it runs, the file UNFINISHED holds the process id of make; at the end it becomes STAMP and holds the
# folder's path. So make notices an interrupted set-up, a folder that was moved or copied, and a Python that was
# removed or upgraded, and makes .venv anew. A .venv that somebody else made is used as it is.
SUPPORTED := import sys; part = lambda v: [int(n) for n in v.split('.')]; \
	sys.exit(not part('$(PYTHON_MIN)') <= list(sys.version_info[:2]) <= part('$(PYTHON_MAX)'))
USABLE := { test ! -e $(UNFINISHED) && $(PY) -c "import pip; $(SUPPORTED)" && \
	{ test ! -e $(STAMP) || test "`cat $(STAMP)`" = "`pwd -P`"; }; } >/dev/null 2>&1

PIP_INSTALL := $(PY) -m pip install -qq
SMALLER := $(if $(TORCH_INDEX),,(to download gigabytes less, see TORCH_INDEX in make help) )
OTHER_PYTHON = name a Python from $(PYTHON_MIN) to $(PYTHON_MAX), as in: make $(MAKECMDGOALS) PYTHON=python$(PYTHON_MIN)

ifneq ($(shell $(USABLE) && echo yes),yes)
$(STAMP): FORCE
endif

$(STAMP): requirements.lock pyproject.toml
	@$(STOP) { test -w . && { test ! -e $(VENV) || test -w $(VENV); }; } || \
		stop "this folder cannot be written to; clone the course to a place of your own."
	@$(STOP) command -v "$(PYTHON)" >/dev/null || stop "there is no $(PYTHON) here; $(OTHER_PYTHON)"
	@$(STOP) "$(PYTHON)" -c "$(SUPPORTED)" || stop "$(PYTHON) is `"$(PYTHON)" -V 2>&1`; $(OTHER_PYTHON)"
	@$(STOP) "$(PYTHON)" -c "import venv, ensurepip" 2>/dev/null || stop "$(PYTHON) comes without venv and" \
		"ensurepip; install them (on Debian and Ubuntu: apt install python3-venv), or $(OTHER_PYTHON)"
	@$(STOP) ! kill -0 `cat $(UNFINISHED) 2>/dev/null || echo none` 2>/dev/null || stop "another make (process" \
		"`cat $(UNFINISHED)`) is setting up here; wait for it, or remove $(UNFINISHED) and try again."
	@if $(USABLE); then echo $$PPID > $(UNFINISHED); else \
		echo "Making $(VENV) $(SMALLER)..." && mkdir -p $(VENV) && echo $$PPID > $(UNFINISHED) && \
		find $(VENV) -mindepth 1 -maxdepth 1 ! -name $(notdir $(UNFINISHED)) -exec rm -rf {} + && \
		"$(PYTHON)" -m venv $(VENV); fi
	@echo "Installing the pinned packages into $(VENV) (a few minutes the first time) ..."
	@$(STOP) { $(PIP_INSTALL) $(if $(TORCH_INDEX),--extra-index-url "$(TORCH_INDEX)") -r requirements.lock && \
		$(PIP_INSTALL) --no-deps --no-build-isolation --editable .; } || { rm -f $(UNFINISHED); \
		stop "the set-up did not finish, see above; try again, or start afresh with make clean."; }
	@pwd -P > $(UNFINISHED) && mv $(UNFINISHED) $(STAMP)
