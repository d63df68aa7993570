# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    checkpoints/checkpoint_changes.cpp
    checkpoints/checkpoint_choice.cpp
    checkpoints/checkpoint_copier.cpp
    checkpoints/checkpoint_copier.h
    checkpoints/checkpoint_moves.cpp
    checkpoints/checkpoint_words.cpp
    checkpoints/find_checkpoint.cpp
    checkpoints/retention.cpp
    checkpoints/try_checkpoint.cpp
    checkpoints/verify_checkpoint.cpp)
