# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    runs/requested_words.cpp
    runs/branch_name.cpp
    runs/live_spec.cpp
    runs/live_state.cpp
    runs/parts_of_run.cpp
    runs/procedure_context.cpp
    runs/run_filter.cpp
    runs/run_groups.cpp
    runs/run_tags.cpp
    runs/run_values.cpp
    runs/same_name.cpp
    runs/sql.cpp
    runs/standstill.cpp
    runs/steps_left.cpp)
