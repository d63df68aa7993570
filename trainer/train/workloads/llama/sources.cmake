# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    workloads/llama/llama.cpp
    workloads/llama/llama_ops.cpp
    workloads/llama/llama_weights.cpp
    workloads/llama/rotary.cpp
    workloads/llama/settings.cpp)
