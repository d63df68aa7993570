// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/spec/run_spec.h"

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// The spec with what persons have set while the ranks trained. What a rule did is not in it, nor
/// is it known whether a restore has gone back to before a setting.
RunSpec liveSpec(RunSpec spec, const std::vector<AskedCommand>& newestFirst);

/// Whether a run can be given these arguments of the command `set`. kInvalid: a launch of the spec
/// with them would be refused.
Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args);

} // namespace rm
