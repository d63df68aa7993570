# SPDX-License-Identifier: Apache-2.0
# The LibTorch of an installed wheel as targets: rm::torch for the trainer, rm::torch_cuda for the
# plugin. find_package(Torch) is no use here: it demands the CUDA toolkit for a CPU build.
set(RINGMASTER_CUDA AUTO CACHE STRING
    "The CUDA plugin: AUTO (if the headers are there) | ON (fail without them) | OFF")
set_property(CACHE RINGMASTER_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RINGMASTER_TOOLKIT "" CACHE PATH
    "nvcc and headers of CUDA 13 (packaging/setup --toolkit); empty: those in /usr/local/cuda, if any")

if(NOT EXISTS "${RINGMASTER_TORCH}/lib/libtorch_cpu.so")
    message(FATAL_ERROR
        "RINGMASTER_TORCH must be the `torch` folder of the wheel torch==2.11.0 or 2.7.1; "
        "'${RINGMASTER_TORCH}' has no lib/libtorch_cpu.so. packaging/test sets it up, or pass "
        "-DRINGMASTER_TORCH=$(python3 -c 'import torch,os;print(os.path.dirname(torch.__file__))')")
endif()
get_filename_component(_site "${RINGMASTER_TORCH}" DIRECTORY)
# The runtime that the wheel is (shared/wire/gpu_runtime.h): by the CUDA that it was built with.
file(STRINGS ${RINGMASTER_TORCH}/version.py _cuda REGEX "^cuda")
string(REGEX REPLACE ".*'([0-9]+)\\..*" "cuda\\1" _runtime "${_cuda}")
if(NOT _runtime MATCHES "^cuda1[23]$") # torch for the CPU alone, or for a CUDA that we do not know
    set(_runtime cpu)
endif()
set(RINGMASTER_RUNTIME ${_runtime} CACHE INTERNAL "The runtime that is built")

# Without default paths, so that no header of another CUDA is found.
function(rm_find_header variable header)
    find_path(${variable} ${header} PATHS ${ARGN} NO_DEFAULT_PATH)
    mark_as_advanced(${variable})
endfunction()
# The wheels' own headers, which are folder by folder in those of CUDA 12, else a toolkit's. The CPU set of wheels has the headers of the CUDA
# runtime but not of the CUDA libraries; those of a toolkit come with their own runtime headers.
set(_toolkit)
set(_cudart libcudart.so.12)
if(RINGMASTER_RUNTIME STREQUAL "cuda13")
    set(_toolkit /usr/local/cuda)
    if(RINGMASTER_TOOLKIT)
        set(_toolkit ${RINGMASTER_TOOLKIT})
    endif()
    set(_cudart libcudart.so.13)
endif()
file(GLOB _wheel_includes ${_site}/nvidia/*/include)
file(GLOB _wheel_libraries ${_site}/nvidia/*/lib)
rm_find_header(RINGMASTER_CUDA_INCLUDE cuda_runtime_api.h ${_wheel_includes} ${_toolkit}/include)
rm_find_header(RINGMASTER_CUDA_MATH_INCLUDE cusolverDn.h ${_wheel_includes} ${_toolkit}/include)
rm_find_header(RINGMASTER_NCCL_INCLUDE nccl.h
    ${_wheel_includes} ${_toolkit}/include /usr/local/include /usr/include)
find_library(RINGMASTER_CUDART NAMES ${_cudart}
    PATHS ${_wheel_libraries} ${_toolkit}/lib64 NO_DEFAULT_PATH)
mark_as_advanced(RINGMASTER_CUDART)

add_library(rm_torch INTERFACE)
add_library(rm::torch ALIAS rm_torch)
target_include_directories(rm_torch SYSTEM INTERFACE
    ${RINGMASTER_TORCH}/include ${RINGMASTER_TORCH}/include/torch/csrc/api/include)
target_compile_definitions(rm_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_directories(rm_torch INTERFACE ${RINGMASTER_TORCH}/lib)
target_link_options(rm_torch INTERFACE -Wl,--allow-shlib-undefined)
target_link_libraries(rm_torch INTERFACE torch_cpu c10)

function(rm_add_torch_cuda)
    set(missing)
    foreach(need IN ITEMS RINGMASTER_CUDA_INCLUDE RINGMASTER_CUDA_MATH_INCLUDE
                          RINGMASTER_NCCL_INCLUDE RINGMASTER_CUDART)
        if(NOT ${need})
            list(APPEND missing ${need})
        endif()
    endforeach()
    if(NOT EXISTS "${RINGMASTER_TORCH}/lib/libtorch_cuda.so")
        list(APPEND missing "lib/libtorch_cuda.so in RINGMASTER_TORCH")
    endif()
    if(missing)
        list(JOIN missing ", " missing)
        set(severity WARNING)
        if(RINGMASTER_CUDA STREQUAL "ON")
            set(severity FATAL_ERROR)
        endif()
        message(${severity}
            "The CUDA plugin (libringmaster-cuda.so) is NOT built: not found: ${missing}. "
            "It needs the wheels of packaging/requirements/runtime-${RINGMASTER_RUNTIME}.txt "
            "(packaging/run --${RINGMASTER_RUNTIME}), or for cuda13 a toolkit with nccl.h (packaging/setup "
            "--toolkit). -DRINGMASTER_CUDA=OFF silences this.")
        return()
    endif()
    add_library(rm_torch_cuda INTERFACE)
    add_library(rm::torch_cuda ALIAS rm_torch_cuda)
    target_include_directories(rm_torch_cuda SYSTEM INTERFACE ${RINGMASTER_CUDA_MATH_INCLUDE}
        ${RINGMASTER_CUDA_INCLUDE} ${RINGMASTER_NCCL_INCLUDE})
    if(RINGMASTER_RUNTIME STREQUAL "cuda12")
        target_include_directories(rm_torch_cuda SYSTEM INTERFACE ${_wheel_includes})
    endif()
    target_compile_definitions(rm_torch_cuda INTERFACE USE_C10D_NCCL)
    # libtorch_cuda registers its kernels when it is loaded, so it is needed even if no symbol of it
    # is.
    target_link_options(rm_torch_cuda INTERFACE -Wl,--no-as-needed)
    target_link_libraries(rm_torch_cuda INTERFACE
        torch_cuda c10_cuda ${RINGMASTER_CUDART} rm_torch)
endfunction()
if(RINGMASTER_CUDA STREQUAL "ON" AND RINGMASTER_RUNTIME STREQUAL "cpu")
    message(FATAL_ERROR "RINGMASTER_CUDA is ON, but the torch in ${RINGMASTER_TORCH} was built for "
        "neither CUDA 12 nor 13; take that of packaging/setup --cuda12 or --cuda13")
elseif(NOT RINGMASTER_CUDA STREQUAL "OFF" AND NOT RINGMASTER_RUNTIME STREQUAL "cpu")
    rm_add_torch_cuda()
endif()
