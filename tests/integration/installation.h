// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm {

/// A Ringmaster of a test's own: copies program, agent and trainer of the build under test into
/// `folder`/bin, for Cli::usePrograms(), with the trainer for CPUs alone, whichever runtimes for
/// GPUs are set up beside the originals. kNotFound: the build has no trainer to deploy.
Result<void> installForCpus(const QString& folder);

} // namespace rm
