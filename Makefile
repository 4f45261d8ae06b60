# What can be made from nothing but Python 3.11, a C++ compiler, make and the package registries:
#
#   make demo        the main job on the built-in corpus: train, pack, score, time, translate (under ten minutes on two cores)
#   make test        every check: format, lint, types, floors, tests, a fresh install
#   make sanitize    the engine's tests and the hostile model files under AddressSanitizer, UBSan and ThreadSanitizer
#   make benchmark   the measurements of benchmarks/: beside CTranslate2, every scheme beside 8 bit, the core's limits, every kernel
#   make marian      Marian, by pymarian, in an environment of its own (1.1 GB): `make benchmark` then measures beside it, too
#   make format      puts Python and C++ in the one format that `make test` checks
#   make lock        pins the newest versions of what developing needs in requirements.lock
#   make clean       removes what make made, the virtual environment too; runs of your own in build/ stay
#
# Each makes first what it needs: the virtual environment, the pinned packages, the native engine (cmake and ninja are packages).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# A shell's own settings for Python must not reach what is made and checked here.
unexport PYTHONPATH PYTHONHOME

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
ENGINE := $(VENV)/.engine
PEER := $(VENV)/.peer
MARIAN := build/marian
SANITIZED := build/sanitize
comma := ,
MODULES := build/modules
MADE := $(SANITIZED) $(MODULES) $(MARIAN) build/demo build/editable build/wheel build/install.json build/aarch64
NATIVE_SOURCES := $(shell find native -type f 2>/dev/null)
PYTHON_SOURCES := $(sort $(shell find src -name '*.py'))
CPP_SOURCES := $(filter %.h %.cpp %.inl,$(NATIVE_SOURCES))
PYTHON_FOLDERS := src tests tools benchmarks

# The builds of PyTorch without CUDA are not on PyPI; pip prefers them where it sees them, here or on a mirror or disk. The
# index is not required: one retry, then pip goes on without it.
TORCH_INDEX := https://download.pytorch.org/whl/cpu
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test check sanitize benchmark marian format lock clean engine always

help:
	@sed -n 's/^#   make/make/p' Makefile

demo: $(ENGINE)
	$(BIN)/python -m benchmarks.demo

# A file's tests stay together: they share what is slow to make.
test: check
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile
	$(BIN)/python tools/check_install.py --output build/install.json

# All that needs no run of the program.
check: $(ENGINE)
	$(BIN)/ruff check $(PYTHON_FOLDERS)
	$(BIN)/ruff format --check --quiet $(PYTHON_FOLDERS)
	$(BIN)/clang-format --dry-run -Werror $(CPP_SOURCES)
	$(BIN)/mypy $(PYTHON_FOLDERS)
	$(BIN)/lint-imports
	$(BIN)/python tools/check_lengths.py
	$(BIN)/python tools/render_records.py --check

BESIDE_PEERS = $(BIN)/python -m benchmarks.peer $(if $(wildcard $(MARIAN)/.packages),--marian-python $(MARIAN)/bin/python)
benchmark: $(ENGINE) $(PEER)
	$(BIN)/python tools/check_install.py --output benchmarks/records/install.json
	$(BESIDE_PEERS) --trained captions-en-de-8bit --random base --shortlist without --rounds 5
	$(BESIDE_PEERS) --trained --random base --shortlist with --precisions int8 --rounds 3 --output benchmarks/records/peer-shortlist.json
	$(BESIDE_PEERS) --trained --random 6-2.tiny --precisions float32 --rounds 3 --output benchmarks/records/peer-float-students.json
	$(BESIDE_PEERS) --trained --random 12-1.tiny --precisions float32 --rounds 3 --output benchmarks/records/peer-float-deep-students.json
	$(BESIDE_PEERS) --trained --random 6-2.tiny --precisions int8 --rounds 5 --output benchmarks/records/peer-students.json
	$(BESIDE_PEERS) --trained --random 12-1.tiny --precisions int8 --rounds 5 --output benchmarks/records/peer-deep-students.json
	$(BESIDE_PEERS) --workers $$(nproc) --trained --random base --shortlist without --precisions int8 --rounds 5 --output benchmarks/records/peer-threads.json
	$(BIN)/python -m benchmarks.schemes
	$(BIN)/python -m benchmarks.binary_codes
	$(BIN)/python -m benchmarks.student_shapes
	$(BIN)/python -m benchmarks.threads
	$(BIN)/python -m benchmarks.first_word
	$(BIN)/python -m benchmarks.log_products
	$(BIN)/pocketmt benchmark captions-en-de ../shared/data/multi30k/test_2016_flickr.en --beam-size 1 --mode throughput \
	    --lines 1000000 --repeats 1 --workers 2 --json > build/million-lines.json
	mv build/million-lines.json benchmarks/records/million-lines.json
	$(BIN)/pocketmt benchmark captions-en-de ../shared/data/multi30k/test_2016_flickr.en --beam-size 1 --mode latency \
	    --lines 86400 --repeats 1 --json > build/day.json
	mv build/day.json benchmarks/records/day.json
	$(BIN)/python -m benchmarks.floor
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/python tools/render_records.py

format: $(PACKAGES)
	$(BIN)/ruff check --fix $(PYTHON_FOLDERS)
	$(BIN)/ruff format $(PYTHON_FOLDERS)
	$(BIN)/clang-format -i $(CPP_SOURCES)

engine: $(ENGINE)

$(PACKAGES): requirements.lock | tools-are-here
	$(PYTHON) -m venv $(VENV)
	echo "Installing the pinned packages into $(VENV) (a minute or two, about 1 GB) ..."
	$(PIP) install --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$$(grep '^torch==' requirements.lock)"
	$(PIP) install -r requirements.lock
	touch $@

$(ENGINE): $(PACKAGES) pyproject.toml $(NATIVE_SOURCES) $(MODULES) | tools-are-here
	echo "Building the native engine ..."
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

# An editable install knows each module by the path of its file: where a file came, went or moved, it is made anew.
$(MODULES): always
	mkdir -p $(@D)
	cmp --quiet $@ <(echo $(PYTHON_SOURCES)) || echo $(PYTHON_SOURCES) > $@

$(PEER): $(PACKAGES) benchmarks/requirements.lock
	$(PIP) install -r benchmarks/requirements.lock
	touch $@

marian: $(MARIAN)/.packages

# pymarian asks for versions of its own of what others need, too.
$(MARIAN)/.packages: benchmarks/marian-requirements.lock | tools-are-here
	$(PYTHON) -m venv $(MARIAN)
	$(MARIAN)/bin/python -m pip --disable-pip-version-check --quiet install -r benchmarks/marian-requirements.lock
	touch $@

# Environments of their own whose pocketmt is compiled with sanitizers; every other package is that of the first. The
# sanitizers' messages are not captured (--capture=sys), as they end the process. How much memory such a build takes says
# nothing, thousands of lines of real text take it too long, and AArch64's program is not it. Races are looked for where
# threads are: not in other packages' libraries, which are not compiled for that.
define sanitized
	$(BIN)/python -m venv --without-pip $(SANITIZED)/$(1)/venv
	realpath $(VENV)/lib/python3.11/site-packages > $(SANITIZED)/$(1)/venv/lib/python3.11/site-packages/development.pth
	CXX=$(CXX) $(BIN)/python -m pip --python $(SANITIZED)/$(1)/venv/bin/python install --quiet --no-build-isolation --no-deps \
	    --force-reinstall . -C build-dir=$(SANITIZED)/$(1)/cmake -C install.strip=false \
	    -C cmake.define.POCKETMT_SANITIZE=$(2) -C cmake.define.POCKETMT_TESTING=ON
endef
library = $$($(CXX) -print-file-name=$(1).so)

sanitize: $(ENGINE)
	$(call sanitized,address,address$(comma)undefined)
	LD_PRELOAD="$(call library,libasan) $(call library,libubsan)" \
	    ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    $(SANITIZED)/address/venv/bin/python -m pytest --capture=sys \
	        tests/native tests/engine tests/model_file tests/cli/test_translate.py \
	        --ignore-glob 'tests/engine/test_memory*.py' --ignore tests/engine/test_real_text.py \
	        --ignore tests/native/test_aarch64.py
	$(call sanitized,thread,thread)
	LD_PRELOAD="$(call library,libtsan)" TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1" \
	    setarch --addr-no-randomize $(SANITIZED)/thread/venv/bin/python -m pytest --capture=sys \
	        tests/native/test_crew.py tests/engine/test_sameness.py tests/engine/test_translator.py

lock: | tools-are-here
	$(PYTHON) tools/lock.py $(TORCH_INDEX)

clean:
	rm -rf $(VENV) $(MADE) dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find $(PYTHON_FOLDERS) -name __pycache__ -type d -prune -exec rm -rf {} +
	@if [ -d build ] && ! rmdir build 2> /dev/null; then echo "kept, as make did not make it:" build/*; fi

.PHONY: tools-are-here
.SILENT: tools-are-here $(PACKAGES) $(MODULES) $(ENGINE)
tools-are-here:
	command -v $(PYTHON) > /dev/null || { \
	    echo "error: $(PYTHON) was not found. Install Python 3.11, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	    echo "error: $(PYTHON) is not Python 3.11 (the pinned packages are for it): make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -c 'import ensurepip' 2> /dev/null || { \
	    echo "error: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3.11-venv" >&2; exit 1; }
	test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || { \
	    echo "error: Python.h of $(PYTHON) was not found; on Debian and Ubuntu: apt install python3.11-dev" >&2; exit 1; }
	command -v $(CXX) > /dev/null || { \
	    echo "error: no C++ compiler ($(CXX)) was found. Install one (Debian, Ubuntu: apt install g++), or name it: make CXX=g++-12" >&2; exit 1; }
	echo 'static_assert(__cplusplus > 201703L); int main() { return 0; }' | $(CXX) -std=c++20 -x c++ -fsyntax-only - || { \
	    echo "error: $(CXX) does not know C++20; install GCC 11 or newer, or name it: make CXX=g++-12" >&2; exit 1; }
