# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    prepare/prepare_text.cpp
    prepare/progress_line.cpp
    prepare/subcommand.cpp)
