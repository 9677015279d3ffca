# A library one release later (make_next.py), and programs of both releases on both libraries. Scalar kernels only, so that
# it is built in seconds.
if(CMAKE_CROSSCOMPILING OR NOT UNIX OR APPLE OR NOT TARGET attn_shared OR NOT Python3_FOUND)
    return()
endif()
set(next ${CMAKE_CURRENT_BINARY_DIR}/next)
set(generated ${next}/include/attn/attn.h ${next}/src/attention/structs.c ${next}/src/core/base.h ${next}/src/core/status.c)
set(originals ${generated})
list(TRANSFORM originals REPLACE "^${next}" "${PROJECT_SOURCE_DIR}")
add_custom_command(OUTPUT ${generated}
                   COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/make_next.py ${PROJECT_SOURCE_DIR} ${next}
                   DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/make_next.py ${originals} VERBATIM)

set(sources "")
foreach(target attn_objects attn_public_shared)
    get_target_property(files ${target} SOURCES)
    list(APPEND sources ${files})
endforeach()
list(REMOVE_ITEM sources ${originals})
add_library(attn_next SHARED ${sources} ${generated} $<TARGET_OBJECTS:attn_kernels_scalar_f32>
                             $<TARGET_OBJECTS:attn_kernels_scalar_f64>)
target_compile_definitions(attn_next PRIVATE ATTNI_HAVE_SCALAR ATTN_BUILDING_SHARED)
target_compile_options(attn_next PRIVATE -O1)
target_include_directories(attn_next PRIVATE ${next}/src ${PROJECT_SOURCE_DIR}/src PUBLIC ${next}/include)
target_link_libraries(attn_next PRIVATE attn_flags -lm -pthread)
get_target_property(soversion attn_shared SOVERSION)
set_target_properties(attn_next PROPERTIES OUTPUT_NAME attn SOVERSION ${soversion} C_VISIBILITY_PRESET hidden
                                           LIBRARY_OUTPUT_DIRECTORY ${next}/lib)

# abi_program(name library source...): finds its library by LD_LIBRARY_PATH alone.
function(abi_program name library)
    add_executable(${name} ${ARGN})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    target_link_libraries(${name} PRIVATE check ${library})
    set_target_properties(${name} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()
function(abi_test name program library version)
    add_test(NAME ${name} COMMAND ${program})
    set_tests_properties(${name} PROPERTIES LABELS abi SKIP_RETURN_CODE 77 TIMEOUT 120 ENVIRONMENT
                         "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:${library}>;LIBRARY_VERSION=${version}")
endfunction()

math(EXPR today "${PROJECT_VERSION_MAJOR} * 10000 + ${PROJECT_VERSION_MINOR} * 100 + ${PROJECT_VERSION_PATCH}")
math(EXPR later "${today} + 1")
abi_program(abi_user attn_shared abi_user.c)
abi_program(abi_user_next attn_next abi_user.c)
abi_test(abi_todays_program_on_todays_library abi_user attn_shared ${today})
abi_test(abi_todays_program_on_the_next_library abi_user attn_next ${later})
abi_test(abi_next_program_on_the_next_library abi_user_next attn_next ${later})
abi_test(abi_next_program_on_todays_library abi_user_next attn_shared ${today})

# The suites that use the public header only, as they were compiled today, on the next library.
set(suites ${PROJECT_SOURCE_DIR}/tests/attention)
abi_program(abi_suites attn_shared ${suites}/args_scene.c ${suites}/test_args_inputs.c ${suites}/test_args_outputs.c
            ${suites}/test_args_accepted.c ${suites}/test_cost.c ${suites}/test_inspect.c ${suites}/test_backward.c)
target_include_directories(abi_suites PRIVATE ${suites})
abi_test(abi_todays_suites_on_the_next_library abi_suites attn_next ${later})
