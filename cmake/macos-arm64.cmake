# Toolchain: macOS on Apple silicon, see macos.cmake.
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(zig_processor aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/macos.cmake)
