# Toolchain: Linux with musl instead of glibc, by the musl-gcc of Debian's musl-tools. Programs run as they are.
set(CMAKE_SYSTEM_NAME Linux) # a libc of its own has none of this machine's libraries: like a cross build
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
