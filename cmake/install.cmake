# What `cmake --install` installs: the header, both libraries, the command, its manual page, the web page, shell
# completions, and the files that other projects find them by (attnConfig.cmake for find_package, attn.pc for pkg-config).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(libraries attn_static)
if(TARGET attn_shared)
    set(libraries attn_shared)
    if(NOT BUILD_SHARED_LIBS)
        list(APPEND libraries attn_static)
    endif()
endif()

install(FILES include/attn/attn.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attn)
install(TARGETS ${libraries} EXPORT attnTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(ATTN_BUILD_CLI)
    install(TARGETS attn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES cli/attn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    if(TARGET attn_completions)
        set(completion ${PROJECT_BINARY_DIR}/cli/completion)
        install(FILES ${completion}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attn)
        install(FILES ${completion}.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _attn)
        install(FILES ${completion}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME attn.fish)
    endif()
    # The page, if tools/build-explorer has built it; `attn explore` looks here, beside bin/.
    install(DIRECTORY web/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/attn/explorer OPTIONAL)
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attn)
configure_package_config_file(cmake/attnConfig.cmake.in ${PROJECT_BINARY_DIR}/attnConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attnConfig.cmake ${PROJECT_BINARY_DIR}/attnConfigVersion.cmake
        DESTINATION ${config_dir})
install(EXPORT attnTargets NAMESPACE attn:: DESTINATION ${config_dir})

# attn.pc names its prefix relative to itself, so that the installed tree can be moved. A prefix that
# does not contain the library directory (an absolute CMAKE_INSTALL_LIBDIR) is written out.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(ATTN_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    set(ATTN_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
        set(ATTN_PC_${folder} ${CMAKE_INSTALL_${folder}})
    else()
        set(ATTN_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
    endif()
endforeach()
get_target_property(system_libraries attn_static INTERFACE_LINK_LIBRARIES)
list(JOIN system_libraries " " system_libraries)
set(ATTN_PC_LIBS "-lattn")
set(ATTN_PC_LIBS_PRIVATE ${system_libraries})
if(NOT TARGET attn_shared) # needed by whoever links the library
    set(ATTN_PC_LIBS "-lattn ${system_libraries}")
    set(ATTN_PC_LIBS_PRIVATE "")
endif()
configure_file(cmake/attn.pc.in ${PROJECT_BINARY_DIR}/attn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/attn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
