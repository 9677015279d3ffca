# Toolchain: macOS with zig's C compiler, for the processor that macos-arm64.cmake or macos-x86_64.cmake names.
# Everything compiles and links; nothing here can run it, so the tests are skipped.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../tools/zig-cc)
set(CMAKE_C_COMPILER_TARGET ${zig_processor}-macos)
set(CMAKE_AR llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-19 CACHE FILEPATH "")
set(CMAKE_OBJDUMP llvm-objdump-19 CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL llvm-install-name-tool-19 CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../tools/not-run)
