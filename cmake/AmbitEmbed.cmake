# SPDX-License-Identifier: BSD-3-Clause
# Text files as C strings: code that generated kernels start with is kept as real files, and the library carries it.
#
# ambit_embed(symbol file [regex]) notes `const char symbol[]`, the text of the file or of what the regular expression matches in it.
# ambit_embedded(variable) makes one source that defines those noted so far, and puts its name into the variable. Run as a script
# (cmake -D... -P), this file also writes that source.
macro(ambit_embed symbol file)
  string(APPEND AMBIT_EMBED_CALLS "ambit_embed_text([[${symbol}]] [[${file}]] [[${ARGN}]])\n")
  list(APPEND AMBIT_EMBED_FILES ${PROJECT_SOURCE_DIR}/${file})
endmacro()

macro(ambit_embedded variable)
  set(${variable} ${PROJECT_BINARY_DIR}/embedded/${variable}.c)
  set(calls ${PROJECT_BINARY_DIR}/embedded/${variable}.cmake)
  file(CONFIGURE OUTPUT ${calls} CONTENT "${AMBIT_EMBED_CALLS}" @ONLY)
  add_custom_command(OUTPUT ${${variable}}
    COMMAND ${CMAKE_COMMAND} -DCALLS=${calls} -DOUTPUT=${${variable}} -P ${PROJECT_SOURCE_DIR}/cmake/AmbitEmbed.cmake
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${AMBIT_EMBED_FILES} ${calls} ${PROJECT_SOURCE_DIR}/cmake/AmbitEmbed.cmake
    COMMENT "Embedding texts"
    VERBATIM)
  set(AMBIT_EMBED_CALLS "")
  set(AMBIT_EMBED_FILES "")
endmacro()

if(CMAKE_SCRIPT_MODE_FILE)
  function(ambit_embed_text symbol file match)
    file(READ ${file} text)
    if(match)
      string(REGEX MATCH "${match}" text "${text}")
      if(NOT text)
        message(FATAL_ERROR "${file} has nothing that matches ${match}")
      endif()
    endif()
    string(REGEX REPLACE "^/\\* SPDX[^\n]*\n" "" text "${text}") # generated code has its own head
    string(HEX "${text}" hex)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}") # 16 bytes a line
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
    file(APPEND ${OUTPUT} "/* Made from ${file}. */\nextern const char ${symbol}[];\nconst char ${symbol}[] = {\n${bytes}0};\n")
  endfunction()
  file(WRITE ${OUTPUT} "")
  include(${CALLS})
endif()
