# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    machines/machine_board.cpp
    machines/machine_link.cpp
    machines/machine_watch.cpp
    machines/machine_watch.h
    machines/machine_words.cpp)
