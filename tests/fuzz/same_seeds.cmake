# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAMS=PROGRAM;... -DWRITTEN=FOLDER -DCORPUS=FOLDER -P same_seeds.cmake
# Fails unless CORPUS has each seed that the programs write now, byte by byte.
file(REMOVE_RECURSE ${WRITTEN})
foreach(program ${PROGRAMS})
    execute_process(COMMAND ${program} ${WRITTEN} RESULT_VARIABLE code)
    if(code)
        message(FATAL_ERROR "${program} ${WRITTEN}: ended with ${code}")
    endif()
endforeach()

file(GLOB_RECURSE seeds RELATIVE ${WRITTEN} ${WRITTEN}/*)
if(NOT seeds)
    message(FATAL_ERROR "${PROGRAMS}: no seed was written to ${WRITTEN}")
endif()
foreach(seed ${seeds})
    set(kept "none")
    if(EXISTS ${CORPUS}/${seed})
        file(SHA256 ${CORPUS}/${seed} kept)
    endif()
    file(SHA256 ${WRITTEN}/${seed} now)
    if(NOT kept STREQUAL now)
        message(SEND_ERROR "${CORPUS}/${seed} is not what its program writes now: build the target "
                           "fuzz_seeds and commit it")
    endif()
endforeach()
