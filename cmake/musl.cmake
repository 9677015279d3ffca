# Toolchain: Linux with musl instead of glibc, with musl-gcc from Debian's musl-tools. Programs run natively.
set(CMAKE_SYSTEM_NAME Linux) # as in a cross build: with another libc, this machine's libraries cannot be used
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
