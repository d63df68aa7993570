# SPDX-License-Identifier: Apache-2.0
# share/ringmaster/bundle-RUNTIME.txt beside bin/ and lib/: see trainerBundle() of app/core/deploy. A
# build for another runtime than the program's own writes its list beside the program's.
set(RINGMASTER_BUNDLES "${CMAKE_BINARY_DIR}/share/ringmaster" CACHE PATH
    "Where the lists of what a node needs to train are written")
function(rm_bundle_list runtime)
    set(output ${RINGMASTER_BUNDLES}/bundle-${runtime}.txt)
    set(stamp ${output}.done)
    set(plugin)
    if(NOT runtime STREQUAL "cpu")
        set(plugin -DPLUGIN=$<TARGET_FILE:ringmaster-cuda>)
    endif()
    set(script ${CMAKE_SOURCE_DIR}/packaging/cmake/bundle_list.cmake)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${RINGMASTER_BUNDLES}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DTRAINER=$<TARGET_FILE:ringmaster-trainer>
                ${plugin} -DTORCH=${RINGMASTER_TORCH} -P ${script}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ringmaster-trainer $<TARGET_NAME_IF_EXISTS:ringmaster-cuda> ${script}
        COMMENT "List what a node needs to train (${runtime})" VERBATIM)
    add_custom_target(bundle-${runtime} ALL DEPENDS ${stamp})
endfunction()

if(RINGMASTER_BUNDLES STREQUAL "${CMAKE_BINARY_DIR}/share/ringmaster")
    rm_bundle_list(cpu)
else()
    add_custom_target(bundle-cpu DEPENDS ringmaster-trainer) # whose list another build has
endif()
if(TARGET ringmaster-cuda)
    rm_bundle_list(${RINGMASTER_RUNTIME})
endif()
