# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    self_test/fused_checks.cpp
    self_test/limited_device.cpp
    self_test/proofs.cpp
    self_test/recorded_losses.cpp
    self_test/self_test.cpp
    self_test/subcommand.cpp
    self_test/trust.cpp)
