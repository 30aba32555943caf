# SPDX-License-Identifier: BSD-3-Clause
# Man pages and completion, made by the tool from its own tables: a script, cmake -DTOOL=... -DOUTPUT=... -P.
cmake_minimum_required(VERSION 3.20)

function(say file)
  execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_FILE ${OUTPUT}/${file} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${TOOL} ${ARGN} failed: ${failed}")
  endif()
endfunction()

set(ENV{AMBIT_MPI} off) # as one process, wherever it is built
file(REMOVE_RECURSE ${OUTPUT})
file(MAKE_DIRECTORY ${OUTPUT}/man ${OUTPUT}/bash ${OUTPUT}/zsh)
execute_process(COMMAND ${TOOL} --help OUTPUT_VARIABLE help RESULT_VARIABLE failed)
string(REGEX MATCHALL "\n  [a-z]+ +[A-Z]" rows "${help}")
if(failed OR NOT rows)
  message(FATAL_ERROR "${TOOL} --help lists no commands")
endif()
say(man/ambit.1 help --man)
foreach(row ${rows})
  string(REGEX MATCH "[a-z]+" command ${row})
  if(NOT command STREQUAL "help")
    say(man/ambit-${command}.1 help --man ${command})
  endif()
endforeach()
say(bash/ambit completion bash)
say(zsh/_ambit completion zsh)
file(WRITE ${OUTPUT}/made "")
