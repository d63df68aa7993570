# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    follow/attach_stream.cpp
    follow/followed_run.cpp
    follow/followed_run.h
    follow/node_follower.cpp
    follow/orphan_watch.cpp
    follow/read_rest.cpp)
