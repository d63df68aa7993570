# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    compare/alignment.cpp
    compare/class_figures.cpp
    compare/comparison.cpp
    compare/lineage.cpp
    compare/run_table.cpp
    compare/sample_rows.cpp
    compare/step_scale.cpp
    compare/word_diff.cpp)
