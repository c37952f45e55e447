# A thin front for meson: `make help` lists what there is.
BUILD ?= build
PREFIX ?= /usr/local
MESON = meson setup $(MESON_FLAGS)
NINJA = ninja -C $(BUILD)

.DEFAULT_GOAL = all
.PHONY: all help deps configure

all: configure ## build everything into build/
	@$(NINJA)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

deps:
	@deps/fetch

# What meson finds by listing folders: when the list changes, it looks again.
configure: deps
	@mkdir -p $(BUILD)
	@ls -d src/*/meson.build src/jail/bpf_gen.c tests/*/*.c fuzz/*.c \
		bench/*.c tools/*.c guest/*/* 2>/dev/null >$(BUILD)/.found.new || :
	@if ! [ -f $(BUILD)/build.ninja ]; then \
		$(MESON) $(BUILD) --prefix=$(PREFIX) --libdir=lib; \
	elif ! cmp -s $(BUILD)/.found.new $(BUILD)/.found; then \
		$(MESON) --reconfigure $(BUILD); \
	fi
	@mv $(BUILD)/.found.new $(BUILD)/.found
