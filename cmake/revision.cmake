# revision.cmake - writes a header that names the commit a build is made from, and its date; both empty without git.
#   cmake -DSOURCE=DIR -DOUTPUT=FILE -P revision.cmake
# Run on every build; the file changes only with the commit, so that nothing is compiled again without need.
set(commit "")
set(date "")
find_program(git git)
if(git)
    execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(top STREQUAL SOURCE) # not the repository of somebody who unpacked attn inside it
        execute_process(COMMAND ${git} -C ${SOURCE} log -1 --format=%h --abbrev=12 OUTPUT_VARIABLE commit
                        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        execute_process(COMMAND ${git} -C ${SOURCE} log -1 --format=%cs OUTPUT_VARIABLE date
                        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        execute_process(COMMAND ${git} -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
        if(changed AND commit)
            string(APPEND commit " with local changes")
        endif()
    endif()
endif()
set(text "#define ATTN_COMMIT \"${commit}\"\n#define ATTN_COMMIT_DATE \"${date}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
    file(WRITE ${OUTPUT} "${text}")
endif()
