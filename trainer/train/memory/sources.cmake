# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    memory/host_heap.cpp)
