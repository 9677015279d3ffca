# Writes a C file that holds the pages of the book as bytes (cli/learn/learn_pages.h describes its form).
# cmake -DFOLDER=docs/book -DPAGES=01-a,02-b -DOUT=learn_pages.c -P embed_pages.cmake
string(REPLACE "," ";" pages "${PAGES}")
set(line "0x[0-9a-f][0-9a-f],")
string(REPEAT "${line}" 20 line)
set(arrays "")
set(rows "")
foreach(page ${pages})
    file(READ ${FOLDER}/${page}.md bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(MAKE_C_IDENTIFIER "page_${page}" name)
    string(APPEND arrays "static const unsigned char ${name}[] = {\n${bytes}};\n")
    string(APPEND rows "    {\"${page}\", ${name}, sizeof ${name}},\n")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/embed_pages.cmake from docs/book. */\n#include \"learn/learn_pages.h\"\n\n"
     "${arrays}\nconst learn_page learn_pages[] = {\n${rows}};\n"
     "const size_t learn_n_pages = sizeof learn_pages / sizeof *learn_pages;\n")
