# The front door. The truth about the build is in CMakeLists.txt and CMakePresets.json.
ATTN := build/release/cli/attn
FUZZ_SECONDS ?= 300
EXPLORE ?= --open

.PHONY: help run explore test bench fuzz asan tsan clang aarch64 wasm format clean

help:     ## this list
	@sed -n 's/^\([a-z0-9 ]*\): *## /\1|/p' Makefile | awk -F'|' '{printf "  make %-30s %s\n", $$1, $$2}'

run:      ## build the command and take a short tour
	@tools/setup run && tools/build release attn && tools/tour

explore:  ## build the page and serve it: make explore EXPLORE="--port 9000"
	@tools/setup explore && tools/build-explorer && $(ATTN) explore $(EXPLORE)

test:     ## every test: gcc, clang, sanitizers, aarch64 (qemu), wasm (node), the page (Chromium)
	@tools/setup test && tools/run-tests

bench:    ## how near the machine's limit; FMA peak and OpenBLAS in the same run
	@tools/setup bench && tools/build release attn
	@for what in forward backward small gemm; do echo "== $$what" && $(ATTN) bench $$what || exit 1; done

fuzz:     ## longer fuzzing with libFuzzer: make fuzz FUZZ_SECONDS=300
	@tools/setup test && tests/fuzz/fuzz.sh $(FUZZ_SECONDS)

asan tsan clang aarch64 wasm: ## the tests of one preset only
	@tools/setup test && tools/run-tests $@

format:   ## lay out every C file
	@tools/format

clean:    ## remove everything built
	@rm -rf build web/dist web/node_modules
