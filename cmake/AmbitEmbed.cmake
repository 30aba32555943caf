# SPDX-License-Identifier: BSD-3-Clause
# Text files as C strings: code that generated kernels start with is kept as real files, and the library carries it.
#
# ambit_embed(symbol file [regex]) makes a source that defines `const char symbol[]`, the text of the file or of what the
# regular expression matches in it, and adds it to AMBIT_EMBEDDED. Run as a script (cmake -D... -P), it is also what writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} text)
  if(MATCH)
    string(REGEX MATCH "${MATCH}" text "${text}")
    if(NOT text)
      message(FATAL_ERROR "${NAME} has nothing that matches ${MATCH}")
    endif()
  endif()
  string(REGEX REPLACE "^/\\* SPDX[^\n]*\n" "" text "${text}") # generated code has its own head
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}") # 16 bytes a line
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
  file(WRITE ${OUTPUT} "/* Made from ${NAME}. */\nextern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0};\n")
  return()
endif()

function(ambit_embed symbol file)
  set(script ${PROJECT_SOURCE_DIR}/cmake/AmbitEmbed.cmake)
  set(output ${PROJECT_BINARY_DIR}/embedded/${symbol}.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DNAME=${file} -DSYMBOL=${symbol}
            -DMATCH=${ARGN} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${script}
    COMMENT "Embedding ${file}"
    VERBATIM)
  set(AMBIT_EMBEDDED ${AMBIT_EMBEDDED} ${output} PARENT_SCOPE)
endfunction()
