// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"

#include <string>
#include <vector>

namespace rm {

/// What `ringmaster-trainer self-test` kept in this home about devices, whichever machine they are
/// in; damaged files are left out.
std::vector<SelfTest> readSelfTests(const std::string& home);

} // namespace rm
