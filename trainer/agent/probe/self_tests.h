// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"

#include <string>
#include <vector>

namespace rm {

/// The results that `ringmaster-trainer self-test` kept in this home, for devices of any machine;
/// damaged files are left out.
std::vector<SelfTest> readSelfTests(const std::string& home);

} // namespace rm
