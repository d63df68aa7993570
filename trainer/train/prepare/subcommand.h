// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

/// `prepare --kind text|pairs --out FILE PATH...`: token shards (.rmtok) from text, shards of pairs
/// (.rmpairs) from TSV and gettext catalogues.
Result<void> prepareSubcommand(int argc, char** argv);

} // namespace rm
