# Toolchain: macOS on Intel processors, see macos.cmake.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig_processor x86_64)
set(CMAKE_C_FLAGS_INIT -mcpu=x86_64+evex512) # otherwise zig turns off 512-bit vectors, whatever flags the kernels have
include(${CMAKE_CURRENT_LIST_DIR}/macos.cmake)
