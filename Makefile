# Targets; they need Python 3.11, a C++ compiler, make and PyPI:
#
#   make demo        makes a small model of a large one from plain text alone, and compares the two (a few minutes on two cores)
#   make docs        the documentation as a site in build/docs
#   make check       format, lint, types, layers, lengths of functions and files, tables of the documentation
#   make test        `make check`, the tests, and an installation in a fresh environment
#   make test-gpu    the tests that need a GPU, and PyTorch for it
#   make sanitize    tests of the engine and of hostile model files under AddressSanitizer, UBSan and ThreadSanitizer
#   make benchmark   the measurements of benchmarks/: speed compared with CTranslate2, all schemes, threads, all kernels
#   make wheel       builds the source distribution and the wheels into dist and checks them (ten minutes on two cores)
#   make marian      installs Marian (pymarian) in a separate environment, 1.1 GB; `make benchmark` then compares with it, too
#   make ggml        compiles ggml, the library of llama.cpp, twice (150 MB, two minutes), for benchmarks/low_bit_peers
#   make libretranslate  installs LibreTranslate in a separate environment, 1.6 GB, for benchmarks/serve
#   make javascript-client  installs a client of LibreTranslate for Node, 20 kB; the test with it is skipped without
#   make web         the npm package in web/dist: the engine as WebAssembly, and a page that translates in the browser; needs npm
#   make bergamot    installs bergamot's WebAssembly for Node, 5 MB; tests that compare with it are skipped without
#   make format      formats Python and C++
#   make lock        pins the newest versions of the development packages in requirements.lock
#   make clean       removes all that make created, also the virtual environment; your own files in build/ stay
#
# Each target first creates the virtual environment with the pinned packages and the native engine, if needed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# Settings of the shell must not affect Python here, nor keep it from storing bytecode, without which commands start slowly.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

PYTHON ?= python3.11
# The folder of the corpora that benchmarks and some tests read; docs/appendices/data.md says where each can be had.
export POCKETMT_DATA ?= $(abspath ../shared/data)
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
ENGINE := $(VENV)/.engine
MARIAN := build/marian
BERGAMOT := build/bergamot
LIBRETRANSLATE := build/libretranslate
GGML := build/ggml
JAVASCRIPT_CLIENT := build/javascript-client
WEB := web/dist/.built
WEB_PEERS := build/web-peers
LOCK := build/lock
SANITIZED := build/sanitize
comma := ,
MODULES := build/modules
MADE := $(SANITIZED) $(MODULES) $(MARIAN) $(BERGAMOT) $(GGML) $(LIBRETRANSLATE) $(JAVASCRIPT_CLIENT) $(WEB_PEERS) $(LOCK) \
    build/web web/dist web/LICENSE web/node_modules web/source/generated build/demo build/editable build/install.json build/install.log build/types.log build/aarch64 \
    build/docs build/tutorial build/packages dist
NATIVE_SOURCES := $(shell find native -type f 2>/dev/null)
PYTHON_SOURCES := $(sort $(shell find src -name '*.py'))
CPP_SOURCES := $(filter %.h %.cpp %.inl,$(NATIVE_SOURCES))
PYTHON_FOLDERS := src tests tools benchmarks examples

# The builds of PyTorch without CUDA are not on PyPI; pip prefers them if it finds them, in this index, a mirror or a folder.
# The index is optional: after one retry, pip continues without it.
TORCH_INDEX := https://download.pytorch.org/whl/cpu
# Twice quiet: errors only. Warnings about the package index settings of the machine hide the progress.
PIP_QUIETLY := -m pip --disable-pip-version-check --quiet --quiet
PIP := $(BIN)/python $(PIP_QUIETLY)

# The first later CPython that is installed; name another one by `make wheel STABLE_PYTHON=/path/to/python3`.
STABLE_PYTHON ?= $(firstword $(foreach minor,12 13 14,$(shell python3.$(minor) -c 'import sys; print(sys.executable)' 2>/dev/null)))
PACKAGING := build/packages/environment

.PHONY: help demo docs test wheel check sanitize benchmark marian bergamot ggml libretranslate javascript-client web
.PHONY: sanitize-address sanitize-thread check-style check-types
.PHONY: format lock clean engine always prerequisites stable-python

help:
	@sed -n 's/^#   make/make/p' Makefile

demo: $(ENGINE)
	$(BIN)/python -m examples.demo

# Fails at a broken link or anchor.
docs: $(ENGINE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/docs/index.html; with search: python3 -m http.server --directory build/docs"

# Beside the checks of style, one process compiles the tests, which each process of the tests would otherwise do. Types and the
# installation are checked beside the tests, some of which wait for other programs; their output follows. The tests of a file
# run in one process, because they share slow fixtures. More threads of PyTorch would wait for one another.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $$(($$(nproc) < 4 ? $$(nproc) + 1 : 4)) --dist loadfile \
    --no-loadscope-reorder --durations 60 --durations-min 3
test: $(ENGINE) $(if $(and $(shell command -v npm),$(shell command -v node)),$(BERGAMOT)/.packages $(JAVASCRIPT_CLIENT)/.packages)
	$(BIN)/python -m pytest --collect-only --quiet > /dev/null 2>&1 & collection=$$!; \
	$(MAKE) --no-print-directory check-style; wait $$collection || true; \
	$(CHECK_TYPES) > build/types.log 2>&1 & types=$$!; \
	$(BIN)/python tools/check_install.py --output build/install.json > build/install.log 2>&1 & installation=$$!; \
	failed=; $(PYTEST) || failed=" tests"; \
	wait $$types || failed+=" types"; wait $$installation || failed+=" installation"; \
	cat build/types.log build/install.log; \
	[ -z "$$failed" ] || { echo "error: failed:$$failed" >&2; exit 1; }

test-gpu: $(ENGINE)
	$(BIN)/python -c 'import torch, triton; raise SystemExit(None if torch.cuda.is_available() else "error: PyTorch finds no GPU")'
	TRITON_INTERPRET=0 $(BIN)/python -m pytest -n 0 tests/gpu

# One wheel for Python 3.11, one by the stable ABI for 3.12 and later.
wheel: $(PACKAGING)/.packages
	$(PACKAGING)/bin/python tools/build_packages.py $$(command -v $(PYTHON)) $(STABLE_PYTHON)

stable-python:
	[ -n "$(STABLE_PYTHON)" ] || { echo "error: no CPython 3.12 or later was found on PATH, which builds the wheel of the stable" \
	    "ABI; install one, or name one: make wheel STABLE_PYTHON=/path/to/python3.12" >&2; exit 1; }

$(PACKAGING)/.packages: tools/packages-requirements.lock | prerequisites stable-python
	echo "Installing the pinned tools that build packages into $(PACKAGING) (about 400 MB) ..."
	$(PYTHON) -m venv $(PACKAGING)
	$(PACKAGING)/bin/python $(PIP_QUIETLY) install -r tools/packages-requirements.lock
	touch $@

# Static checks.
check: check-style check-types

CHECK_TYPES = $(BIN)/mypy $(PYTHON_FOLDERS)
check-types: $(ENGINE)
	$(CHECK_TYPES)

check-style: $(ENGINE)
	$(BIN)/ruff check $(PYTHON_FOLDERS)
	$(BIN)/ruff format --check --quiet $(PYTHON_FOLDERS)
	$(BIN)/clang-format --dry-run -Werror $(CPP_SOURCES)
	$(BIN)/lint-imports
	$(BIN)/lizard --warnings_only --length 60 --CCN 1000 --arguments 1000 native $(PYTHON_FOLDERS)
	find native $(PYTHON_FOLDERS) -name '*.py' -o -name '*.cpp' -o -name '*.h' | \
	    xargs awk 'FNR == 401 { print FILENAME ": more than 400 lines"; failed = 1 } END { exit failed }'
	$(BIN)/python -m benchmarks.render_records --check
	$(BIN)/python -m tools.documentation --check
	$(BIN)/python tools/check_language.py

WITH_MARIAN = $(if $(wildcard $(MARIAN)/.packages),--marian-python $(MARIAN)/bin/python)
PEERS_BENCHMARK = $(BIN)/python -m benchmarks.peer $(WITH_MARIAN)
# A program with the processor's best instructions, and again with every engine held to AVX2.
define both_instruction_sets
	$(BIN)/python -m benchmarks.$(1)
	$(BIN)/python -m benchmarks.$(1) --instruction-set avx2 --output benchmarks/records/$(subst _,-,$(firstword $(1)))-avx2.json
endef
benchmark: $(ENGINE)
	$(BIN)/python tools/check_install.py --output benchmarks/records/install.json
	$(PEERS_BENCHMARK) --trained captions-en-de-8bit --random base --shortlist without --rounds 5
	$(PEERS_BENCHMARK) --trained --random base --shortlist with --precisions int8 --rounds 3 --output benchmarks/records/peer-shortlist.json
	$(PEERS_BENCHMARK) --instruction-set avx2 --trained --random base --shortlist without --precisions int8 --sentences 10 64 --rounds 5 --output benchmarks/records/peer-avx2.json
	$(PEERS_BENCHMARK) --instruction-set avx2 --trained captions-en-de-8bit --random 6-2.tiny --precisions int8 --rounds 5 --output benchmarks/records/peer-avx2-students.json
	$(PEERS_BENCHMARK) --instruction-set avx2 --trained captions-en-de-8bit --random base 6-2.tiny --shortlist without --precisions float32 --sentences 10 64 --rounds 3 --output benchmarks/records/peer-avx2-float.json
	$(PEERS_BENCHMARK) --instruction-set avx2 --trained --random base 6-2.tiny --shortlist without --precisions int8 --forms uniform8 uniform7 affine6 --sentences 8 64 --rounds 5 --output benchmarks/records/peer-avx2-7-bits.json
	$(if $(shell grep -m 1 -o amx_int8 /proc/cpuinfo),$(PEERS_BENCHMARK) --trained captions-en-de-8bit --random base 6-2.tiny --shortlist without --precisions int8 --rounds 5 --output benchmarks/records/peer-amx.json)
	$(if $(shell grep -m 1 -o avx_vnni /proc/cpuinfo),$(PEERS_BENCHMARK) --instruction-set avx_vnni --trained captions-en-de-8bit --random base 6-2.tiny --shortlist without --precisions int8 --rounds 5 --output benchmarks/records/peer-avx-vnni.json)
	$(BIN)/python -m benchmarks.seven_bits
	$(PEERS_BENCHMARK) --trained --random 6-2.tiny --precisions float32 --rounds 3 --output benchmarks/records/peer-float-students.json
	$(PEERS_BENCHMARK) --trained --random 6-2.tiny --precisions int8 --rounds 5 --output benchmarks/records/peer-students.json
	$(PEERS_BENCHMARK) --trained --random 12-1.tiny --precisions int8 --rounds 5 --output benchmarks/records/peer-deep-students.json
	$(PEERS_BENCHMARK) --workers $$(nproc) --trained --random base --shortlist without --precisions int8 --rounds 5 --output benchmarks/records/peer-threads.json
	$(BIN)/python -m benchmarks.schemes
	$(BIN)/python -m benchmarks.binary_codes
	$(call both_instruction_sets,student_shapes)
	$(call both_instruction_sets,threads)
	$(call both_instruction_sets,processes)
	$(call both_instruction_sets,first_word)
	$(call both_instruction_sets,loading)
	$(BIN)/python -m benchmarks.serve.load $(if $(wildcard $(LIBRETRANSLATE)/.packages),,--without-libretranslate)
	$(BIN)/python -m benchmarks.serve.faults
	$(call both_instruction_sets,lengths $(WITH_MARIAN))
	$(BIN)/pocketmt benchmark captions-en-de $(POCKETMT_DATA)/multi30k/test_2016_flickr.en --beam-size 1 --mode throughput \
	    --lines 1000000 --repeats 1 --workers 2 --json > build/million-lines.json
	mv build/million-lines.json benchmarks/records/million-lines.json
	$(BIN)/pocketmt benchmark captions-en-de $(POCKETMT_DATA)/multi30k/test_2016_flickr.en --beam-size 1 --mode latency \
	    --lines 86400 --repeats 1 --json > build/day.json
	mv build/day.json benchmarks/records/day.json
	$(BIN)/python -m benchmarks.cleaning_memory
	$(BIN)/python -m benchmarks.ray_faults
	$(BIN)/python -m benchmarks.scheduler_simulation
	$(BIN)/python -m benchmarks.floor
	$(BIN)/python -m benchmarks.kernels
	$(if $(and $(wildcard $(GGML)/build/.built),$(wildcard $(GGML)/avx2/.built)),$(call both_instruction_sets,low_bit_peers))
	$(BIN)/python -m benchmarks.between_products
	$(if $(and $(shell command -v qemu-aarch64),$(shell command -v aarch64-linux-gnu-g++)),$(BIN)/python -m benchmarks.arm_instructions)
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/python -m benchmarks.render_records

format: $(PACKAGES)
	$(BIN)/ruff check --fix $(PYTHON_FOLDERS)
	$(BIN)/ruff format $(PYTHON_FOLDERS)
	$(BIN)/clang-format -i $(CPP_SOURCES)

engine: $(ENGINE)

# uv is several times as fast as pip. It does not read pip's settings, such as a mirror of PyPI; where it fails, pip is used.
$(PACKAGES): requirements.lock | prerequisites
	$(PYTHON) -m venv $(VENV)
	echo "Installing the pinned packages into $(VENV) (about 2 GB, less than a minute with a fast connection) ..."
	$(PIP) install --no-deps "$$(grep '^uv==' requirements.lock)"
	$(PIP) install --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$$(grep '^torch==' requirements.lock)" \
	    2> >(grep -v "WARNING: Retrying" >&2)
	$(BIN)/uv pip install --quiet --no-config --python $(BIN)/python -r requirements.lock 2> /dev/null || $(PIP) install -r requirements.lock
	touch $@

$(ENGINE): $(PACKAGES) pyproject.toml $(NATIVE_SOURCES) $(MODULES) | prerequisites
	echo "Building the native engine ..."
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

# An editable install maps each module to the path of its file: it is repeated if files are added, removed or moved.
$(MODULES): always
	mkdir -p $(@D)
	cmp --quiet $@ <(echo $(PYTHON_SOURCES)) || echo $(PYTHON_SOURCES) > $@

web: $(WEB)

# The tests of tests/web fail if one of these, or of native/, is newer than the package.
WEB_SOURCES := tools/build_web.py $(addprefix src/pocketmt/,$(addprefix sentences/abbreviations.,py toml) \
    $(addprefix bundled/,everyday-en-de.pocketmt README.md)) \
    $(shell find web -type f -not -path 'web/LICENSE' -not -path 'web/dist/*' -not -path 'web/node_modules/*' -not -path 'web/source/generated/*')
$(WEB): $(ENGINE) $(WEB_SOURCES) web/node_modules/.package-lock.json
	echo "Building the npm package in web/dist (the engine takes some minutes the first time) ..."
	$(BIN)/python -m tools.build_web
	touch $@

# The scripts of packages are not run; esbuild works without its own.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm ci --prefix web --no-audit --no-fund --ignore-scripts
	touch $@

bergamot: $(BERGAMOT)/.packages

javascript-client: $(JAVASCRIPT_CLIENT)/.packages

$(WEB_PEERS)/.packages: $(addprefix benchmarks/web/,package.json package-lock.json)
$(BERGAMOT)/.packages: $(addprefix benchmarks/four_engines/,package.json package-lock.json)
$(JAVASCRIPT_CLIENT)/.packages: $(addprefix tests/serve/javascript/,package.json package-lock.json)
$(foreach folder,$(WEB_PEERS) $(BERGAMOT) $(JAVASCRIPT_CLIENT),$(folder)/.packages):
	mkdir -p $(@D)
	cp $^ $(@D)
	npm ci --prefix $(@D) --no-audit --no-fund --ignore-scripts
	touch $@

libretranslate: $(LIBRETRANSLATE)/.packages

# Its licence is the AGPL: it runs as a separate program that benchmarks compare with, and nothing of it is used.
$(LIBRETRANSLATE)/.packages: benchmarks/libretranslate-requirements.lock | prerequisites
	$(PYTHON) -m venv $(LIBRETRANSLATE)
	$(LIBRETRANSLATE)/bin/python $(PIP_QUIETLY) install --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$$(grep '^torch==' $<)"
	$(LIBRETRANSLATE)/bin/python $(PIP_QUIETLY) install --no-deps -r $<
	touch $@

ggml: $(GGML)/build/.built $(GGML)/avx2/.built

# The package of Python bindings is the only release of ggml's source on PyPI; its distribution lacks ggml.pc.in.
$(GGML)/.source: benchmarks/low_bit_peers/requirements.lock | $(ENGINE)
	mkdir -p $(GGML)
	$(PIP) download --no-deps --no-build-isolation --no-binary :all: --dest $(GGML) -r $<
	tar --extract --file $(GGML)/llama_cpp_python-*.tar.gz --directory $(GGML) --strip-components 3 --wildcards '*/vendor/llama.cpp/ggml/*'
	touch $(GGML)/ggml/ggml.pc.in
	touch $@

# ggml's kernels are chosen when it is compiled: once with all instructions of this processor, and once with those of AVX2.
$(GGML)/build/.built: INSTRUCTIONS := -DGGML_NATIVE=ON
$(GGML)/avx2/.built: INSTRUCTIONS := -DGGML_NATIVE=OFF $(foreach each,SSE42 AVX AVX2 BMI2 FMA F16C,-DGGML_$(each)=ON)
$(GGML)/%/.built: $(GGML)/.source
	mkdir -p $(@D)
	PATH="$(abspath $(BIN)):$$PATH" cmake -S $(GGML)/ggml -B $(@D) -G Ninja -DCMAKE_BUILD_TYPE=Release $(INSTRUCTIONS) \
	    -DGGML_OPENMP=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF > $(@D)/configuration.log
	PATH="$(abspath $(BIN)):$$PATH" cmake --build $(@D) > $(@D)/compilation.log
	touch $@

marian: $(MARIAN)/.packages

# pymarian needs other versions of some packages.
$(MARIAN)/.packages: benchmarks/marian-requirements.lock | prerequisites
	$(PYTHON) -m venv $(MARIAN)
	$(MARIAN)/bin/python $(PIP_QUIETLY) install -r benchmarks/marian-requirements.lock
	touch $@

# Separate environments whose pocketmt is compiled with sanitizers, with the other packages of .venv. Messages of sanitizers
# are not captured (--capture=sys), because they end the process. Left out are tests of memory use, which such builds change,
# of thousands of lines of text, which take too long, and of the AArch64 program. ThreadSanitizer ignores the libraries of
# other packages, which are not compiled for it.
define sanitized
	$(BIN)/python -m venv --without-pip $(SANITIZED)/$(1)/venv
	realpath $(VENV)/lib/python3.11/site-packages > $(SANITIZED)/$(1)/venv/lib/python3.11/site-packages/development.pth
	CXX=$(CXX) $(BIN)/python -m pip --python $(SANITIZED)/$(1)/venv/bin/python install --quiet --no-build-isolation --no-deps \
	    --force-reinstall . -C build-dir=$(SANITIZED)/$(1)/cmake -C install.strip=false \
	    -C cmake.define.POCKETMT_SANITIZE=$(2) -C cmake.define.POCKETMT_TESTING=ON \
	    -C cmake.define.POCKETMT_INSTRUCTION_SETS="$$($(BIN)/python -c \
	        'from pocketmt.engine import _native; print(*_native.instruction_sets(), sep=";")')"
	cp src/pocketmt/bundled/*.pocketmt $(SANITIZED)/$(1)/venv/lib/python3.11/site-packages/pocketmt/bundled
endef
library = $$($(CXX) -print-file-name=$(1).so)

sanitize: sanitize-address sanitize-thread

sanitize-address: $(ENGINE)
	$(call sanitized,address,address$(comma)undefined)
	LD_PRELOAD="$(call library,libasan) $(call library,libubsan)" \
	    ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    $(SANITIZED)/address/venv/bin/python -m pytest --capture=sys \
	        tests/native tests/engine tests/model_file tests/cli/test_translate.py \
	        --ignore tests/engine/memory --ignore tests/engine/text/test_real_text.py \
	        --ignore tests/native/test_aarch64.py

sanitize-thread: $(ENGINE)
	$(call sanitized,thread,thread)
	LD_PRELOAD="$(call library,libtsan)" TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1" \
	    setarch --addr-no-randomize $(SANITIZED)/thread/venv/bin/python -m pytest --capture=sys \
	        tests/native/test_thread_pool.py tests/engine/test_sameness.py tests/engine/text/test_translator.py tests/engine/text/test_futures.py

# The newest versions for Linux x86-64. [tool.uv] in pyproject.toml pins PyTorch and excludes the packages of CUDA; the pin
# accepts builds with and without CUDA, so there are no hashes.
lock: | prerequisites
	$(PYTHON) -m venv $(LOCK)
	$(LOCK)/bin/python $(PIP_QUIETLY) install uv
	{ grep '^#' requirements.lock; $(LOCK)/bin/uv pip compile pyproject.toml --extra dev --quiet --no-header --no-annotate \
	    --python-version 3.11 --python-platform x86_64-unknown-linux-gnu; } > $(LOCK)/requirements.lock
	mv $(LOCK)/requirements.lock requirements.lock

clean:
	rm -rf $(VENV) $(MADE) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find $(PYTHON_FOLDERS) -name __pycache__ -type d -prune -exec rm -rf {} +
	@if [ -d build ] && ! rmdir build 2> /dev/null; then echo "kept, not created by make:" build/*; fi

.SILENT: prerequisites stable-python wheel $(PACKAGING)/.packages $(PACKAGES) $(MODULES) $(ENGINE)
prerequisites:
	command -v $(PYTHON) > /dev/null || { \
	    echo "error: $(PYTHON) was not found. Install Python 3.11, or give its path: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	    echo "error: $(PYTHON) is not Python 3.11, which the pinned packages need: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -c 'import ensurepip' 2> /dev/null || { \
	    echo "error: $(PYTHON) cannot create virtual environments; on Debian and Ubuntu: apt install python3.11-venv" >&2; exit 1; }
	test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || { \
	    echo "error: Python.h of $(PYTHON) was not found; on Debian and Ubuntu: apt install python3.11-dev" >&2; exit 1; }
	command -v $(CXX) > /dev/null || { \
	    echo "error: no C++ compiler ($(CXX)) was found. Install one (Debian, Ubuntu: apt install g++), or name one: make CXX=g++-12" >&2; exit 1; }
	echo 'static_assert(__cplusplus > 201703L); int main() { return 0; }' | $(CXX) -std=c++20 -x c++ -fsyntax-only - || { \
	    echo "error: $(CXX) does not support C++20; install GCC 11 or newer, or name another compiler: make CXX=g++-12" >&2; exit 1; }
