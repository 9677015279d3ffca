# Toolchain: WebAssembly (WASI) with clang 19 and Debian's wasi-libc; tests run in node. No threads.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}) # Platform/WASI.cmake
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-19 CACHE FILEPATH "")
# clang runs any wasm-opt it finds on the path, unless -O0 is given at link time (clang 19's --no-wasm-opt
# drops the link itself); a stack overflow must trap, not corrupt data.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O0 -Wl,--stack-first -Wl,-z,stack-size=1048576")
set(CMAKE_CROSSCOMPILING_EMULATOR node ${CMAKE_CURRENT_LIST_DIR}/../tools/run-wasm.mjs)
