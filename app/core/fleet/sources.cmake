# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    fleet/check_history.cpp
    fleet/check_rows.cpp
    fleet/checks_file.cpp
    fleet/fleet.cpp
    fleet/fleet.h
    fleet/gpu_rows.cpp
    fleet/node_checker.cpp
    fleet/node_comparison.cpp
    fleet/nodes_file.cpp
    fleet/ssh_aliases.cpp
    fleet/ssh_offers.cpp)
