# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    run/asked_words.cpp
    run/attach_stream.cpp
    run/branch_name.cpp
    run/checkpoint_choice.cpp
    run/checkpoint_copier.cpp
    run/checkpoint_moves.cpp
    run/clean_node.cpp
    run/checkpoint_words.cpp
    run/earlier_run.cpp
    run/engine.h
    run/followed_run.cpp
    run/live_spec.cpp
    run/local_engine.cpp
    run/node_follower.cpp
    run/orphan_watch.cpp
    run/part_words.cpp
    run/procedures.cpp
    run/retention.cpp
    run/run_folders.cpp
    run/same_name.cpp
    run/standstill.cpp
    run/steps_left.cpp
    run/writer_thread.cpp)
