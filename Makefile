# A thin front for meson: `make help` lists what there is.
BUILD ?= build
PREFIX ?= /usr/local
# What the language images are compiled for (meson_options.txt): this machine,
# unless it is named; then also by later calls that do not name it.
IMAGE_CPU ?=
MESON = tools/alone meson setup $(MESON_FLAGS)
# One part that fails does not keep the others from being built.  Ninja has no
# lock of its own: two in one folder lose each other's record of dependencies.
NINJA = tools/alone ninja -k 0 -C

.DEFAULT_GOAL = all
.PHONY: all help deps configure

all: configure ## build everything into build/
	@$(NINJA) $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

deps:
	@deps/fetch

# What meson finds by listing folders: when the list changes, it looks again.
configure: deps
	@mkdir -p $(BUILD)
	@ls -d src/*/meson.build src/jail/bpf_gen.c tests/*/*.c fuzz/*.c \
		bench/*.c tools/*.c guest/*/* guest/*/*/* 2>/dev/null >$(BUILD)/.found.new || :
	@if ! [ -f $(BUILD)/build.ninja ]; then \
		$(MESON) $(BUILD) --prefix=$(PREFIX) --libdir=lib \
			$(if $(IMAGE_CPU),-Dimage_cpu=$(IMAGE_CPU)); \
	elif ! cmp -s $(BUILD)/.found.new $(BUILD)/.found; then \
		$(MESON) --reconfigure $(BUILD); \
	fi
	@mv $(BUILD)/.found.new $(BUILD)/.found
	$(if $(IMAGE_CPU),@meson configure $(BUILD) -Dimage_cpu=$(IMAGE_CPU))

TEST = python3 tests/run.py --build $(BUILD)

tree-before:
	@mkdir -p $(BUILD)
	@git status --porcelain >$(BUILD)/.tree 2>/dev/null || :

test: tree-before all ## build and run the tests; T='words' selects some
	@deps/fetch --python-tests
	@$(TEST) $(T)

test-slow: tree-before all ## the same with the nightly lengths
	@deps/fetch --python-tests
	@$(TEST) --slow $(T)

test-v2: all ## the jail's tests on Debian's kernel with cgroup v2 alone, emulated
	@tests/v2/run --build $(BUILD) $(T)

test-python: all ## CPython's own tests of what the Python image holds, in a jar (minutes)
	@deps/fetch --python-tests
	@python3 tests/python/upstream.py --build $(BUILD) $(T)

test-data: all ## make the data image (fetches 98 MB) and try it (minutes)
	@REDOMA_BUILD=$(abspath $(BUILD)) python3 tests/data/check.py $(T)

san: ## unit tests and fuzz corpora under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory BUILD=build-san configure \
		MESON_FLAGS='-Db_sanitize=address,undefined -Db_lundef=false'
	@$(NINJA) build-san small-tests
	@ASAN_OPTIONS=abort_on_error=1 \
	UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1 \
		python3 tests/run.py --build build-san --kind unit --kind fuzz $(T)

FUZZ_SECONDS ?= 20
fuzz: ## every fuzz target for FUZZ_SECONDS (20) each
	@CC=clang-19 $(MAKE) --no-print-directory BUILD=build-fuzz configure \
		MESON_FLAGS='-Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false'
	@$(NINJA) build-fuzz fuzz-targets
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

demo: all ## sums a CSV by group under a one-file grant; shows the refusals
	@demo/run $(BUILD)

bench: all ## measure, and print a table
	@bench/run $(BUILD)

bench-check: all ## measure, and compare with bench/targets
	@bench/run --check $(BUILD)

# Another PREFIX compiles one file (gen/place); tests are not built for it.
install: configure ## PREFIX (/usr/local), DESTDIR; a package: IMAGE_CPU=x86-64-v3
	@meson introspect $(BUILD) --buildoptions | grep -q '"value": "$(PREFIX)"' || \
		meson configure $(BUILD) -Dprefix=$(PREFIX)
	@$(NINJA) $(BUILD) installed
	@meson install -C $(BUILD) --no-rebuild --quiet

dist: ## redoma-VERSION.tar.gz from the commit that is checked out
	@tools/dist

bump-engine: ## move to the newest patch release of Wasmtime 48, test everything
	@tools/bump-engine
	@$(MAKE) --no-print-directory test

clean: ## remove what was built; the cache of dependencies stays
	@rm -rf build build-san build-fuzz

.PHONY: test test-data test-slow test-v2 san fuzz demo bench bench-check install dist \
	bump-engine clean tree-before
