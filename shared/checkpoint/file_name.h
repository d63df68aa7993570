// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rm {

inline constexpr const char* kManifestName = "MANIFEST.json";

/// Names that a manifest may list: one part of a path, and not the manifest itself.
bool isCheckpointFileName(const std::string& name);

} // namespace rm
