# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    settings/chart_layout.cpp
    settings/language.cpp
    settings/paths.cpp
    settings/paths.h
    settings/saved_filters.cpp
    settings/user_name.cpp)
