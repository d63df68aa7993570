// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/gpu_runtime.h"

namespace rm {

/// Whether this installation has its trainer.
bool isInstalled(const Runtime& runtime);

} // namespace rm
