# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    workloads/llama/settings.cpp)
