# SPDX-License-Identifier: GPL-3.0-or-later
find_package(nlohmann_json REQUIRED)
target_sources(rm_core PRIVATE
    launch/agent_client.cpp
    launch/host_worker.cpp
    launch/launcher.cpp
    launch/memory_estimate.cpp
    launch/node_outlook.cpp
    launch/plan.cpp
    launch/recipes.cpp
    launch/rendezvous.cpp
    launch/transfer_rate.cpp)
target_link_libraries(rm_core PUBLIC nlohmann_json::nlohmann_json)
