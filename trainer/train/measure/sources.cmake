# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    measure/all_reduce.cpp
    measure/all_reduce_subcommand.cpp
    measure/step_profile.cpp
    measure/step_profile_subcommand.cpp
    measure/try_checkpoint.cpp
    measure/try_subcommand.cpp)
