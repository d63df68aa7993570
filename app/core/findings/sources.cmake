# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    findings/engine_texts.cpp
    findings/gpu_texts.cpp
    findings/launch_texts.cpp
    findings/list_texts.cpp
    findings/log_errors.cpp
    findings/machine_texts.cpp
    findings/network_texts.cpp
    findings/node_texts.cpp
    findings/pace_texts.cpp
    findings/queue_texts.cpp
    findings/run_texts.cpp
    findings/ssh_texts.cpp
    findings/text.cpp)
