# attn_need_package(PREFIX module purpose remedy): makes the pkg-config module the target PkgConfig::PREFIX, or stops with
# an error that says what needs it and what to do. For the command's dependencies; the library needs no package.
find_package(PkgConfig REQUIRED)
function(attn_need_package prefix module purpose remedy)
    if(MINGW)
        set(CMAKE_FIND_LIBRARY_SUFFIXES .a) # attn.exe is one file
    endif()
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
    if(NOT ${prefix}_FOUND)
        if(MINGW AND CMAKE_CROSSCOMPILING)
            set(remedy "tools/build-mingw-packages builds it; or build the library alone: -DATTN_BUILD_CLI=OFF")
        endif()
        message(FATAL_ERROR "${module} was not found; ${purpose} needs it. ${remedy}")
    endif()
endfunction()
