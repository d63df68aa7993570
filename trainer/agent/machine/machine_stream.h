// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/machine/machine_sampler.h"

namespace rm {

/// Prints facts and samples (shared/wire/MACHINE.md) to `out` until `in` ends or says nothing for
/// kMachineSilenceMs. kInvalid: it says something else than an interval. kUnavailable: it was
/// silent.
Result<void> streamMachine(MachineSampler& sampler, int in, int out);

} // namespace rm
