# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=FOLDER -DTORCH=FOLDER -DOUT=FOLDER -P gpu_bundle.cmake
# Packs what a machine that has only a GPU and torch needs to test and measure the trainer: bin/ and
# lib/ of the build, the small libraries that they load and that are neither in torch's wheel nor on
# every node, and gpu/, which is tests/gpu. One line says what is missing.
cmake_minimum_required(VERSION 3.25)
set(limit 67108864) # bytes: what can be taken along
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(programs ringmaster-trainer ringmaster-agent ringmaster-gpu-tests ringmaster-gpu-bench)
list(TRANSFORM programs PREPEND ${BUILD}/bin/)
set(plugin ${BUILD}/lib/libringmaster-cuda.so)

foreach(file IN LISTS programs plugin)
    if(NOT EXISTS ${file})
        message(FATAL_ERROR "pack ${OUT}: ${file} is not built; packaging/bundle builds it, with the "
            "wheels of packaging/setup --cuda13")
    endif()
endforeach()

# The plugin has kernels only if it was built with nvcc of CUDA 13, for the GPUs set in the build.
execute_process(COMMAND readelf --sections --wide ${plugin} OUTPUT_VARIABLE sections)
if(NOT sections MATCHES "\\.nv_fatbin")
    message(FATAL_ERROR "pack ${OUT}: ${plugin} has no kernels: it was built without nvcc of CUDA 13")
endif()
file(STRINGS ${BUILD}/CMakeCache.txt architectures REGEX "^RINGMASTER_CUDA_ARCHITECTURES:")
if(NOT architectures MATCHES "[=;]90")
    message(FATAL_ERROR "pack ${OUT}: ${plugin} has no kernels for sm_90: ${architectures}")
endif()

# Torch's wheel and those of NVIDIA beside it are on that machine.
get_filename_component(site "${TORCH}" DIRECTORY)
file(GLOB there RELATIVE ${site} "${TORCH}/lib/*.so*" "${site}/nvidia/*/lib/*.so*")
set(of_torch)
foreach(path IN LISTS there)
    get_filename_component(name ${path} NAME)
    string(REGEX REPLACE "([.+])" "\\\\\\1" name "${name}")
    list(APPEND of_torch "^${name}$")
endforeach()
file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES ${programs}
    MODULES ${plugin}
    RESOLVED_DEPENDENCIES_VAR libraries
    UNRESOLVED_DEPENDENCIES_VAR lost
    PRE_EXCLUDE_REGEXES ${of_torch}
        "^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|anl|nsl|cuda|nvidia-ml|gcc_s|stdc\\+\\+))\\.so")
if(lost)
    list(JOIN lost ", " lost)
    message(FATAL_ERROR "pack ${OUT}: neither here nor in ${TORCH}: ${lost}")
endif()

if(EXISTS ${OUT} AND NOT EXISTS ${OUT}/gpu/run)
    file(GLOB others ${OUT}/*)
    if(others)
        message(FATAL_ERROR "pack ${OUT}: it holds other files")
    endif()
endif()
file(REMOVE_RECURSE ${OUT})

# rm_pack(FOLDER FILE...): copies files without debug information and paths of this machine.
function(rm_pack folder)
    file(MAKE_DIRECTORY ${OUT}/${folder})
    foreach(file IN LISTS ARGN)
        get_filename_component(name ${file} NAME)
        set(packed ${OUT}/${folder}/${name})
        file(COPY_FILE ${file} ${packed})
        execute_process(COMMAND strip ${packed} COMMAND_ERROR_IS_FATAL ANY)
        file(RPATH_REMOVE FILE ${packed}) # gpu/run says where libraries are
    endforeach()
endfunction()
rm_pack(bin ${programs})
rm_pack(lib ${plugin} ${libraries})
file(COPY ${source}/tests/gpu/run ${source}/tests/gpu/measure ${source}/tests/gpu/peers
    DESTINATION ${OUT}/gpu PATTERN "__pycache__" EXCLUDE)
execute_process(COMMAND git -C ${source} describe --always --dirty --abbrev=40 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${OUT}/commit "${commit}\n")

file(GLOB_RECURSE packed ${OUT}/*)
set(bytes 0)
foreach(file IN LISTS packed)
    file(SIZE ${file} size)
    math(EXPR bytes "${bytes} + ${size}")
endforeach()
if(bytes GREATER limit)
    message(FATAL_ERROR "pack ${OUT}: ${bytes} bytes, more than ${limit}")
endif()
list(LENGTH packed count)
math(EXPR tenths "${bytes} * 10 / 1048576")
string(REGEX REPLACE "(.)$" ".\\1" mebibytes "0${tenths}")
string(REGEX REPLACE "^0+([0-9]+\\.)" "\\1" mebibytes "${mebibytes}")
message("${OUT}: ${count} files, ${mebibytes} MiB of 64")
