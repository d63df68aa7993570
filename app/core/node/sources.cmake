# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    node/chosen_gpus.cpp
    node/node.cpp
    node/node_check.cpp
    node/ssh_address.cpp)
