#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes with clang's libFuzzer, coverage-guided, for longer than ctest does: fuzz.sh [SECONDS per target] [FOLDER]
# The folder keeps the corpus that was found, so that the next run goes on from there.
set -euo pipefail
seconds=${1:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:-$root/build/fuzz}
compiler=${CC:-clang-19}

# The library and the command are built with the same instrumentation as the targets.
cmake -S "$root" -B "$folder/build" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DATTN_BUILD_TESTS=OFF \
      -DCMAKE_C_FLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" >/dev/null
cmake --build "$folder/build" --target attn_cli attn_static >/dev/null

links=("$folder/build/cli/libattn_cli.a" "$folder/build/src/libattn.a")
read -ra jansson <<<"$(pkg-config --cflags --libs jansson)"
for name in npy cli; do
    flags=(-std=gnu11 -g -O1 -I"$root/include" -I"$root/src" -I"$root/cli" -fsanitize=address,undefined -fno-sanitize-recover=all)
    "$compiler" "${flags[@]}" "$root/tests/fuzz/fuzz_$name.c" "$root/tests/fuzz/fuzz_driver.c" \
        "${links[@]}" "${jansson[@]}" -fsanitize=fuzzer-no-link -lm -lpthread -o "$folder/fuzz_$name-driver"
    "$compiler" "${flags[@]}" -fsanitize=fuzzer "$root/tests/fuzz/fuzz_$name.c" \
        "${links[@]}" "${jansson[@]}" -lm -lpthread -o "$folder/fuzz_$name"
    mkdir -p "$folder/corpus-$name"
    "$folder/fuzz_$name-driver" --dump "$folder/corpus-$name"
    echo "fuzz_$name: $seconds s"
    "$folder/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$folder/crash-$name-" "$folder/corpus-$name" 2>&1 | tail -n 12
done
