// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/result.h"

#include <QString>

#include <string>

namespace rm {

/// A checkpoint of `run` that isSomewhere(): newestLiving() (`which` empty), the one
/// of a step (of the living line, else of the one abandoned line that has it: kInvalid when there
/// are several) or the one in a folder of this name. kNotFound names the steps there are.
Result<StoredCheckpoint> findCheckpoint(StoreReader& reader, const QString& run,
                                        const std::string& which);

} // namespace rm
