# SPDX-License-Identifier: Apache-2.0
# Enables the CUDA language for the plugin's own kernels if there is an nvcc of CUDA 13, that of RINGMASTER_TOOLKIT first, and
# sets RINGMASTER_NVCC. Without one the plugin is built with torch's kernels only.
set(RINGMASTER_NVCC "")
if(NOT TARGET rm::torch_cuda OR NOT RINGMASTER_RUNTIME STREQUAL "cuda13")
    return() # nvcc 13 makes no code for the GPUs that cuda12 is for
endif()
find_program(RINGMASTER_NVCC_PROGRAM nvcc HINTS ${RINGMASTER_TOOLKIT} ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(RINGMASTER_NVCC_PROGRAM)
if(RINGMASTER_NVCC_PROGRAM)
    execute_process(COMMAND ${RINGMASTER_NVCC_PROGRAM} --version OUTPUT_VARIABLE _version)
    string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" _version "${_version}")
    set(_major ${CMAKE_MATCH_1})
endif()
if(NOT RINGMASTER_NVCC_PROGRAM OR NOT _major EQUAL 13)
    message(STATUS "The plugin's own kernels are not built: they need nvcc of CUDA 13, as torch has "
        "(found: ${RINGMASTER_NVCC_PROGRAM} ${_version})")
    return()
endif()
set(RINGMASTER_NVCC ${RINGMASTER_NVCC_PROGRAM})

set(CMAKE_CUDA_COMPILER ${RINGMASTER_NVCC_PROGRAM})
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
# Machine code for Ampere and Hopper; later GPUs compile the PTX of the last one when it is loaded.
set(RINGMASTER_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "GPUs that the kernels are built for")
set(CMAKE_CUDA_ARCHITECTURES ${RINGMASTER_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_RUNTIME_LIBRARY None) # the plugin is linked to torch's
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -DNDEBUG")
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17) # the latest that CMake 3.25 has a flag for
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
if(CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>)
if(RINGMASTER_WERROR)
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
endif()
