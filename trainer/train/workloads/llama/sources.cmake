# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    workloads/llama/cpu/llama_kernels.cpp
    workloads/llama/cpu/llama_rows.cpp
    workloads/llama/llama.cpp
    workloads/llama/llama_ops.cpp
    workloads/llama/llama_weights.cpp
    workloads/llama/rotary.cpp
    workloads/llama/settings.cpp)
# As model/cpu/gelu_rows.cpp.
set_source_files_properties(workloads/llama/cpu/llama_rows.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-O3;-mavx2;-mfma;-ffinite-math-only;-fno-signed-zeros")
set_source_files_properties(workloads/llama/cpu/llama_kernels.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fopenmp)
