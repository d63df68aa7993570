# SPDX-License-Identifier: GPL-3.0-or-later
find_package(nlohmann_json REQUIRED)
target_sources(rm_core PRIVATE
    agent/agent_client.cpp
    agent/node_cleaning.cpp)
target_link_libraries(rm_core PUBLIC nlohmann_json::nlohmann_json)
