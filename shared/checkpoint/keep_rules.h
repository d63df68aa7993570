// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "shared/spec/run_spec.h"

namespace rm {

/// The rules of retention that the spec sets.
inline KeepRules keepRulesOf(const RunSpec::Checkpoint& spec) {
    return {spec.keepLast, spec.keepBest ? spec.keepBestCount : 0, spec.keepEvery};
}

} // namespace rm
