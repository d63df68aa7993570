# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    network/address_kind.cpp
    network/network_file.cpp
    network/network_matrix.cpp
    network/network_words.cpp)
