// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "shared/io/json_fields.h"

namespace rm {

template <Either<Manifest::Ancestor> T, class Visit>
void fields(T& ancestor, Visit&& visit) {
    visit("attempt", ancestor.attempt, atLeast(1));
    visit("step", ancestor.step, atLeast(0));
}

} // namespace rm
