# The front door. The truth about the build is in CMakeLists.txt and CMakePresets.json, what runs where in tools/presets.
ATTN := build/release/cli/attn
PRESETS := $(filter-out fuzz,$(shell awk '!/^\#/ && NF { print $$1 }' tools/presets))
BENCH ?= forward backward small gemm
EXPLORE ?= --open
FORMAT ?=
FUZZ_SECONDS ?= 300

.PHONY: help run explore test test-all bench fuzz format clean $(PRESETS)

help:     ## this list
	@sed -n 's/^\([a-z-]*\): *## /\1|/p' Makefile | awk -F'|' '{ printf "  make %-10s %s\n", $$1, $$2 }'
	@echo "  make PRESET     the tests of one preset: $(PRESETS)"

run:      ## build the command and take a short tour
	@tools/setup run && tools/build release attn && tools/tour

explore:  ## build the page and serve it: make explore EXPLORE="--port 9000"
	@tools/setup explore && tools/build-explorer && $(ATTN) explore $(EXPLORE)

test:     ## is it right? gcc, sanitizers, the page; ten minutes at most on two cores
	@tools/setup test && tools/run-tests

test-all: ## every test: all compilers, sanitizers, emulators, fuzzers; an hour at most on two cores
	@tools/setup test-all && tools/run-tests --all

bench:    ## how near the machine's limit; FMA peak and OpenBLAS in the same run: make bench BENCH=forward
	@tools/setup bench && tools/build release attn
	@for what in $(BENCH); do echo "== $$what" && $(ATTN) bench $$what || exit 1; done

fuzz:     ## fuzz every parser for longer: make fuzz FUZZ_SECONDS=300
	@tools/setup test-all && FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run-tests fuzz

$(PRESETS):
	@tools/setup test-all && tools/run-tests $@

format:   ## lay out every C file: make format FORMAT=--check only tells which differ
	@tools/format $(FORMAT)

clean:    ## remove everything built
	@rm -rf build web/dist web/node_modules
