# The front door.  `make demo` and `make test` do all that a fresh Debian 12 needs.
#
#   build      installs what is missing, builds into build/, links the commands into .venv/bin
#   demo       two workloads through the whole loop, in a few minutes
#   test       every suite; test-unit, test-property, test-lit, test-wrapper, test-python,
#              test-workloads, test-browser, test-loop, test-docs, test-twonode run one
#   test-slow  page migration below programs that are all over their data: minutes; and under
#              stress, for THERMOCLINE_STRESS_SECONDS (20)
#   test-real  ImageMagick, hypre, hpcc and sqlite3 from Debian's sources
#   bench      the measurements of docs/measurements.md
#   docs       the documentation as a site, in build/site
#   lint       clang-format, clang-tidy on what changed, ruff, mypy
#   sanitize   the native tests under ASan + UBSan, and under TSan
#   fuzz       the fuzz targets, FUZZ_SECONDS (60) each
#   install    into PREFIX (/usr/local); DESTDIR is honoured
#   clean      removes build/ and .venv/
SHELL = /bin/sh
BUILD = build
VENV = .venv
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
PYTHON = $(VENV)/bin/python
NATIVE = clang clang++ flang
LINKS = $(NATIVE:%=$(VENV)/bin/thermocline-%)
SUITES = unit property lit wrapper python workloads browser loop docs twonode

CMAKE = cmake -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

.DEFAULT_GOAL = build
.PHONY: build native commands demo test $(SUITES:%=test-%) test-slow test-real bench docs lint sanitize fuzz \
  install clean help

help:
	@sed -n '/^#   /p' Makefile

build: native commands
	@echo "thermocline is built: $(VENV)/bin/thermocline --help (or: . $(VENV)/bin/activate)"

# Stamps make a second `make build` quick: packages, Python's packages, CMake, ninja.
$(BUILD)/.packages-%: scripts/bootstrap.sh
	@mkdir -p $(BUILD)
	@scripts/bootstrap.sh $*
	@touch $@

third_party/mimalloc/src/static.c: scripts/fetch_mimalloc.py
	@python3 scripts/fetch_mimalloc.py third_party/mimalloc
	@touch $@

$(BUILD)/build.ninja: | $(BUILD)/.packages-build third_party/mimalloc/src/static.c
	@$(CMAKE) -S . -B $(BUILD) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; rm -f $@; exit 1; }

native: $(BUILD)/.packages-build third_party/mimalloc/src/static.c $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD) -j $(JOBS)

# Editable, so that only a change of pyproject.toml needs another pip run.
$(VENV)/.installed: pyproject.toml | $(BUILD)/.packages-build
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --retries 8 -e '.[dev]'
	@touch $@

$(LINKS): $(VENV)/bin/thermocline-%: | $(VENV)/.installed
	@ln -sf $(abspath $(BUILD))/bin/thermocline-$* $@

commands: $(VENV)/.installed $(LINKS)

demo: build
	@$(PYTHON) scripts/demo.py

test: build $(BUILD)/.packages-test
	@$(PYTHON) scripts/run_tests.py $(SUITES)

$(SUITES:%=test-%): test-%: build $(BUILD)/.packages-test
	@$(PYTHON) scripts/run_tests.py $*

test-slow: build $(BUILD)/.packages-test
	@THERMOCLINE_SLOW=1 $(PYTHON) -m pytest -q tests/workloads/test_migrated.py \
	  tests/loop/test_migrate_stress.py tests/twonode/test_migration.py

test-real: build $(BUILD)/.packages-real
	@$(PYTHON) scripts/test_real.py

bench: build $(BUILD)/.packages-test
	@$(MAKE) --no-print-directory -C bench PYTHON=$(abspath $(PYTHON)) BUILD=$(abspath $(BUILD))

docs: $(VENV)/.installed
	@$(PYTHON) scripts/docs_site.py $(BUILD)/site

lint: build $(BUILD)/.packages-lint
	@$(PYTHON) scripts/lint.py

# AddressSanitizer and ThreadSanitizer want a build each.
sanitize: build $(BUILD)/.packages-test
	@for kind in address,undefined thread; do \
	  dir=$(BUILD)/sanitize-$${kind%%,*}; \
	  $(CMAKE) -S . -B $$dir -DTHERMOCLINE_SANITIZE=$$kind >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }; \
	  ninja --quiet -C $$dir -j $(JOBS) || exit 1; \
	  ctest --test-dir $$dir -L 'unit|property' --output-on-failure --no-tests=error -j $(JOBS) || exit 1; \
	done

fuzz: build $(BUILD)/.packages-test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) ctest --test-dir $(BUILD) -L fuzz --output-on-failure --no-tests=error

# The Python half gets an environment of its own below PREFIX, so that nothing of the
# system's Python is touched.
install: build
	@scripts/install.sh "$(DESTDIR)" "$(PREFIX)" $(BUILD)

clean:
	rm -rf $(BUILD) $(VENV)
