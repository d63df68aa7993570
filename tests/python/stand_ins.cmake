# SPDX-License-Identifier: Apache-2.0
# torch's Python module is linked to libtorch_cuda, and that to 4 GB of NVIDIA's libraries, of which
# a CPU run calls none. They are met by empty libraries of the same names: with lazy binding (see
# peer/sitecustomize.py) torch imports and every function it calls is torch's own. A call into a
# stand-in would end the process with "undefined symbol". The wheel's RPATH comes before
# LD_LIBRARY_PATH, so where the real ones are installed they are used.
set(RM_STAND_INS ${CMAKE_BINARY_DIR}/tests/stand-ins CACHE INTERNAL "Empty libraries for Python peers")
set(_libraries
    libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcufile.so.0 libcurand.so.10
    libcusparse.so.12 libcusparseLt.so.0 libnccl.so.2 libnvshmem_host.so.3)
set(_outputs)
foreach(_library IN LISTS _libraries)
    add_custom_command(OUTPUT ${RM_STAND_INS}/${_library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${RM_STAND_INS}
        COMMAND ${CMAKE_CXX_COMPILER} -shared -nostdlib -x c++ /dev/null
                -Wl,-soname,${_library} -o ${RM_STAND_INS}/${_library}
        VERBATIM)
    list(APPEND _outputs ${RM_STAND_INS}/${_library})
endforeach()
add_custom_target(nvidia_stand_ins ALL DEPENDS ${_outputs})
