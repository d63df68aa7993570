# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    engine/clean_node.cpp
    engine/earlier_run.cpp
    engine/engine.h
    engine/following.cpp
    engine/following.h
    engine/go_back.cpp
    engine/declared_lost_nodes.cpp
    engine/declared_lost_nodes.h
    engine/holder/face_channel.cpp
    engine/holder/face_channel.h
    engine/holder/face_server.cpp
    engine/holder/face_server.h
    engine/holder/holder_place.cpp
    engine/holder/holder_search.cpp
    engine/holder/holder_search.h
    engine/holder/messages.cpp
    engine/holder/shared_engine.cpp
    engine/holder/shared_engine.h
    engine/launches.cpp
    engine/local_engine.cpp
    engine/local_engine.h
    engine/perform.cpp
    engine/procedures.cpp
    engine/queue_driver.cpp
    engine/queue_driver.h
    engine/request.cpp
    engine/requests/checkpoints.cpp
    engine/requests/commands.cpp
    engine/requests/launch.cpp
    engine/requests/nodes.cpp
    engine/requests/queue.cpp
    engine/requests/runs.cpp
    engine/run_folders.cpp
    engine/run_queue.cpp)
find_package(Boost 1.75 REQUIRED) # PFR, which is headers alone
target_link_libraries(rm_core PRIVATE Qt6::Network Boost::headers)
