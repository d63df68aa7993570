# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    interchange/export.cpp
    interchange/import.cpp
    interchange/inspect.cpp
    interchange/unpack.cpp)
