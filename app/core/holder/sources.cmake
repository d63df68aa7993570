# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    holder/face_channel.cpp
    holder/face_channel.h
    holder/face_server.cpp
    holder/face_server.h
    holder/holder_place.cpp
    holder/holder_search.cpp
    holder/holder_search.h
    holder/messages.cpp
    holder/requests.cpp
    holder/shared_engine.cpp
    holder/shared_engine.h)
find_package(Boost 1.75 REQUIRED) # PFR, which is headers alone
target_link_libraries(rm_core PRIVATE Qt6::Network Boost::headers)
