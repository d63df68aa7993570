# SPDX-License-Identifier: GPL-3.0-or-later
target_sources(rm_core PRIVATE
    launch/direct_launcher.cpp
    launch/forecast.cpp
    launch/host_worker.cpp
    launch/job_place.cpp
    launch/job_script.cpp
    launch/launch_rows.cpp
    launch/launcher.cpp
    launch/link_test.cpp
    launch/memory_estimate.cpp
    launch/network_survey.cpp
    launch/node_login.cpp
    launch/node_preflight.cpp
    launch/plan.cpp
    launch/recipes.cpp
    launch/rendezvous.cpp
    launch/run_trainer.cpp
    launch/slurm_launcher.cpp
    launch/staged_tree.cpp
    launch/transfer_rate.cpp
    launch/trial.cpp)
