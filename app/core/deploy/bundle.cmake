# SPDX-License-Identifier: GPL-3.0-or-later
# share/ringmaster/bundle-cpu.txt and bundle-cuda.txt beside bin/ and lib/: see trainerBundle().
function(rm_bundle_manifest kind)
    set(output ${CMAKE_BINARY_DIR}/share/ringmaster/bundle-${kind}.txt)
    set(plugin)
    set(stamp ${output}.done)
    if(kind STREQUAL "cuda")
        set(plugin -DPLUGIN=$<TARGET_FILE:ringmaster-cuda>)
    endif()
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/ringmaster
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DTRAINER=$<TARGET_FILE:ringmaster-trainer>
                ${plugin} -DTORCH=${RINGMASTER_TORCH}
                -P ${CMAKE_SOURCE_DIR}/app/core/deploy/bundle_manifest.cmake
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ringmaster-trainer $<TARGET_NAME_IF_EXISTS:ringmaster-cuda>
                ${CMAKE_SOURCE_DIR}/app/core/deploy/bundle_manifest.cmake
        COMMENT "List what a node needs to train (${kind})" VERBATIM)
    add_custom_target(bundle-${kind} ALL DEPENDS ${stamp})
endfunction()

if(TARGET ringmaster-trainer)
    rm_bundle_manifest(cpu)
endif()
if(TARGET ringmaster-cuda)
    rm_bundle_manifest(cuda)
endif()
