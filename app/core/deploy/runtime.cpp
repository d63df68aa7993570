// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/runtime.h"

#include "app/core/deploy/deploy.h"

namespace rm {

bool isInstalled(const Runtime& runtime) {
    return trainerBundle(runtime.name).has_value();
}

} // namespace rm
