# SPDX-License-Identifier: Apache-2.0
# The LibTorch of an installed wheel as targets: rm::torch for the trainer, rm::torch_cuda for the
# plugin. find_package(Torch) is no use here: it demands the CUDA toolkit for a CPU build.
if(NOT EXISTS "${RINGMASTER_TORCH}/lib/libtorch_cpu.so")
    message(FATAL_ERROR
        "RINGMASTER_TORCH must be the `torch` folder of the wheel torch==2.11.0; "
        "'${RINGMASTER_TORCH}' has no lib/libtorch_cpu.so. packaging/test sets it up, or pass "
        "-DRINGMASTER_TORCH=$(python3 -c 'import torch,os;print(os.path.dirname(torch.__file__))')")
endif()
get_filename_component(_site "${RINGMASTER_TORCH}" DIRECTORY)

# cuda_runtime_api.h and nccl.h: the wheels' own, else a toolkit's.
find_path(RINGMASTER_CUDA_INCLUDE cuda_runtime_api.h
    PATHS ${_site}/nvidia/cu13/include /usr/local/cuda/include NO_DEFAULT_PATH)
find_path(RINGMASTER_CUDA_MATH_INCLUDE cublas_v2.h
    PATHS ${_site}/nvidia/cu13/include /usr/local/cuda/include NO_DEFAULT_PATH)
find_path(RINGMASTER_NCCL_INCLUDE nccl.h
    PATHS ${_site}/nvidia/nccl/include /usr/local/cuda/include /usr/local/include /usr/include NO_DEFAULT_PATH)

add_library(rm_torch INTERFACE)
add_library(rm::torch ALIAS rm_torch)
target_include_directories(rm_torch SYSTEM INTERFACE
    ${RINGMASTER_TORCH}/include ${RINGMASTER_TORCH}/include/torch/csrc/api/include)
target_compile_definitions(rm_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_directories(rm_torch INTERFACE ${RINGMASTER_TORCH}/lib)
target_link_options(rm_torch INTERFACE -Wl,--allow-shlib-undefined)
target_link_libraries(rm_torch INTERFACE torch_cpu c10)
