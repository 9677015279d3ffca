# CMake 3.25 does not know WASI: static libraries and .wasm programs, nothing shared.
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS FALSE)
set(CMAKE_C_COMPILE_OPTIONS_PIC "") # one module, linked once: code for any place would only be larger
