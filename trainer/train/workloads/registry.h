// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/workload.h"

#include <span>

namespace rm {

// One for each folder beside this file; the row that it is listed with is in registry.cpp.
const Workload& gptWorkload();
const Workload& llamaWorkload();
const Workload& translationWorkload();
const Workload& resnetWorkload();

/// One for each of modelFamilies(). They live for ever.
std::span<const Workload* const> workloads();

/// That of model.type. `spec` was checked.
const Workload& workloadOf(const RunSpec& spec);

/// Threads of a rank that read ahead: data.workers, or what suits the kind of data.
int64_t readersOf(const RunSpec& spec, const Device& device, int localRanks);

/// Tells the device, and whoever asks for its fused operations, how this spec wants to compute.
/// Before the ranks meet.
void configureDevice(const Device& device, const RunSpec& spec, const std::string& traceFolder);

} // namespace rm
