# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    queue/halving.cpp
    queue/queue_order.cpp
    queue/sweep.cpp)
