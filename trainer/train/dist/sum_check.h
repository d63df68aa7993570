// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>
#include <string>

namespace rm {

struct Device;

/// Lets a backend for tensors on `device` sum numbers of all its ranks that every rank knows, and
/// compares the sums with those of the host's own arithmetic, bit by bit. Returns what is wrong, in
/// words; empty: nothing. A sum that does not come in time is wrong, too; the backend is then
/// aborted. All ranks call it together; their answers may differ.
std::string sumFault(c10d::Backend& backend, at::Device device, std::chrono::seconds patience);

/// A backend for tensors on a device that sums rightly.
struct SoundBackend {
    c10::intrusive_ptr<c10d::Backend> backend;
    std::string fault; ///< why it is not the device's own backend; empty: it is
};

/// Returns `own` if no rank finds a sumFault() in it, else `host` as makeHostBackend() adapts it.
/// `own` is null on a rank that must do without it. All ranks call it together and decide alike.
SoundBackend soundBackend(c10::intrusive_ptr<c10d::Backend> own,
                          c10::intrusive_ptr<c10d::Backend> host, at::Device device,
                          std::chrono::seconds patience);

/// sumFault() of ranks in this process alone: on the CPU two of them over Gloo, else one with the
/// device's own backend.
std::string sumFaultHere(const Device& device);

} // namespace rm
