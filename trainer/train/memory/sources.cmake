# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    memory/address_memory.cpp
    memory/allocation_trace.cpp
    memory/batch_search.cpp
    memory/estimate.cpp
    memory/estimate_report.cpp
    memory/estimate_subcommand.cpp
    memory/model_size.cpp
    memory/peak_line.cpp
    memory/rehearsal.cpp)
