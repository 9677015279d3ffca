# attn_flags: the flags of every target. The options of a target follow CMAKE_C_FLAGS, CMAKE_C_FLAGS_<CONFIG> and the
# add_compile_options() of an embedding project, so that these flags win. They do not leak out of the project.
add_library(attn_flags INTERFACE)

# attn_add_flags(target flag...): one SHELL: group, because CMake drops a single flag that already occurs further left.
function(attn_add_flags target)
    if(CMAKE_C_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC") # clang-cl
        list(TRANSFORM ARGN PREPEND /clang:)
    endif()
    list(JOIN ARGN " " flags)
    target_compile_options(${target} INTERFACE "SHELL:${flags}")
endfunction()

# The bits depend on these: IEEE arithmetic as written, fused multiply-adds only where the source says so.
# src/core/base.h stops a build in which any part of -ffast-math is still on.
set(exact -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math -fno-reciprocal-math
          -fno-finite-math-only -fsigned-zeros -fno-math-errno -ffp-contract=off)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND exact -fno-approx-func -fdenormal-fp-math=ieee)
    if(CMAKE_C_COMPILER_VERSION VERSION_LESS 18) # warns about its own defaults
        list(APPEND exact -Wno-overriding-t-option)
    endif()
elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND exact -fno-single-precision-constant)
    if(CMAKE_C_COMPILER_VERSION VERSION_LESS 12) # false alarms about array parameters
        list(APPEND exact -Wno-stringop-overread)
    endif()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        list(APPEND exact -mfpmath=sse)
    endif()
endif()
attn_add_flags(attn_flags ${exact})
# For kernels and layers, after attn_flags: nothing reads the exception flags, and only without them does gcc vectorise a
# conditional.
add_library(attn_vector_flags INTERFACE)
attn_add_flags(attn_vector_flags -fno-trapping-math)
attn_add_flags(attn_flags -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-psabi)

# At link time -ffast-math, -funsafe-math-optimizations and -Ofast add code that flushes denormals to zero in the
# whole process. -O0 keeps wasm-opt away (cmake/wasm32.cmake), so WASI is left out.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI" AND NOT CMAKE_C_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")
    target_link_options(attn_flags INTERFACE "SHELL:-O3 -fno-fast-math -fno-unsafe-math-optimizations")
endif()

# Without this, an embedding project with neither a build type nor an -O flag would get kernels that are twenty times slower.
get_directory_property(inherited COMPILE_OPTIONS)
if(NOT "${CMAKE_C_FLAGS};${inherited}" MATCHES "(^|[; ])[-/]O")
    target_compile_options(attn_flags INTERFACE $<$<STREQUAL:$<CONFIG>,>:-O3>)
    target_compile_definitions(attn_flags INTERFACE $<$<STREQUAL:$<CONFIG>,>:NDEBUG>)
endif()

if(MINGW) # the C99 printf of mingw-w64: %zu, %lld; files above 2 GiB; its isnan() converts
    target_compile_definitions(attn_flags INTERFACE __USE_MINGW_ANSI_STDIO=1 _FILE_OFFSET_BITS=64)
    attn_add_flags(attn_flags -Wno-float-conversion)
endif()
if(CMAKE_C_COMPILER_ID MATCHES Clang) # sizes are enumerators here, and tests divide by them
    attn_add_flags(attn_flags -Wno-enum-float-conversion)
endif()
if(ATTN_WERROR)
    attn_add_flags(attn_flags -Werror)
endif()
if(ATTN_BUILD_WEB) # instructions that every browser with SIMD128 has; optimised as one program
    attn_add_flags(attn_flags -mbulk-memory -mnontrapping-fptoint -msign-ext -flto)
    target_compile_definitions(attn_flags INTERFACE ATTNI_JOIN_GROUPS=0) # the page's texts fit in one group of keys
    target_link_options(attn_flags INTERFACE -flto)
endif()
if(ATTN_SANITIZE)
    attn_add_flags(attn_flags -fsanitize=${ATTN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(attn_flags INTERFACE -fsanitize=${ATTN_SANITIZE})
endif()
