# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    run/attach_stream.cpp
    run/engine.cpp
    run/followed_run.cpp
    run/host_pool.cpp
    run/node_follower.cpp
    run/procedures.cpp
    run/writer_thread.cpp)
