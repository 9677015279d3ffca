# Shortcuts. The build is defined in CMakeLists.txt and CMakePresets.json; tools/presets says which tests run where.
ATTN := build/release/cli/attn
PRESETS := $(filter-out fuzz,$(shell awk '!/^\#/ && NF { print $$1 }' tools/presets))
BENCH ?= forward backward small gemm
BENCH_OPTIONS ?=
EXPLORE ?= --open
FORMAT ?=
FUZZ_SECONDS ?= 300
PEERS ?=
WITH ?= HEAD

.PHONY: help run explore test test-all bench bench-peers compare fuzz format clean $(PRESETS)

help:     ## show this list
	@sed -n 's/^\([a-z-]*\): *## /\1|/p' Makefile | awk -F'|' '{ printf "  make %-11s %s\n", $$1, $$2 }'
	@echo "  make PRESET      run the tests of one preset: $(PRESETS)"

run:      ## build the command and take a short tour
	@tools/setup run && tools/build release attn && tools/tour

explore:  ## build the page and serve it: make explore EXPLORE="--port 9000"
	@tools/setup explore && tools/build-explorer && $(ATTN) explore $(EXPLORE)

test:     ## run the tests: gcc, sanitizers, the page; ten minutes at most on two cores
	@tools/setup test && tools/run-tests

test-all: ## run every test: all compilers, sanitizers, emulators, fuzzers; an hour at most on two cores
	@tools/setup test-all && tools/run-tests --all

bench:    ## measure speed, with the FMA peak and OpenBLAS in the same run: make bench BENCH=forward
	@tools/setup bench && tools/build release attn
	@for what in $(BENCH); do echo "== $$what" && $(ATTN) bench $$what $(BENCH_OPTIONS) || exit 1; done

bench-peers: ## compare speed with PyTorch, ONNX Runtime and OpenVINO (downloads 3 GB): make bench-peers PEERS="--only n=1024"
	@tools/setup run && bench/peers/run $(PEERS)

compare:  ## compare speed with another revision, in turns: make compare WITH=HEAD~10
	@tools/setup run && bench/compare/run $(WITH)

fuzz:     ## fuzz every parser for longer: make fuzz FUZZ_SECONDS=300
	@tools/setup test-all && FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run-tests fuzz

$(PRESETS):
	@tools/setup test-all && tools/run-tests $@

format:   ## format every C file: make format FORMAT=--check only lists those that differ
	@tools/format $(FORMAT)

clean:    ## remove everything that was built
	@rm -rf build web/dist web/node_modules
