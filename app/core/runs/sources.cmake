# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    runs/requested_words.cpp
    runs/branch_name.cpp
    runs/failure_cause.cpp
    runs/live_changes.cpp
    runs/live_spec.cpp
    runs/live_state.cpp
    runs/log_fold.cpp
    runs/log_time.cpp
    runs/parts_of_run.cpp
    runs/procedure_context.cpp
    runs/run_cost.cpp
    runs/run_figures.cpp
    runs/run_filter.cpp
    runs/run_groups.cpp
    runs/run_tags.cpp
    runs/run_trace.cpp
    runs/run_values.cpp
    runs/same_name.cpp
    runs/slowdowns.cpp
    runs/sql.cpp
    runs/standstill.cpp
    runs/step_span.cpp
    runs/steps_left.cpp
    runs/trace_alignment.cpp
    runs/trace_file.cpp)
