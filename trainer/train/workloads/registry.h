// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/workload.h"

#include <span>

namespace rm {

// One for each folder beside this file, listed in registry.cpp.
const Workload& gptWorkload();
const Workload& llamaWorkload();
const Workload& translationWorkload();
const Workload& resnetWorkload();

/// One for each of modelFamilies(). They live for ever.
std::span<const Workload* const> workloads();

/// The workload of model.type, in a spec that was checked.
const Workload& workloadOf(const RunSpec& spec);

/// Threads of a rank that read ahead: data.workers, or as many as suit the kind of data.
int64_t readersOf(const RunSpec& spec, const Device& device, int localRanks);

/// Sets the device's numerics and the fused operations to those that the spec asks for. To be
/// called before the ranks meet.
void configureDevice(const Device& device, const RunSpec& spec, const std::string& traceFolder);

} // namespace rm
