// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// `fingerprint`: what lies in the files and folders of "paths", an array in the JSON `order`, so
/// that nodes can be compared: {"files", "bytes", "digest", "whole"}. The digest is of each file's
/// path below its folder, its size, and its first and last 64 KiB; of the contents at most 64 MiB
/// are read, so that a difference in the middle of a large file is not seen. Files come in the
/// order of their names, without hidden ones, and after 100,000 of them the rest is left out, which
/// `whole` says. A path that cannot be read counts as empty. With "pictures": true, a file counts
/// under each name that leads to it, as the trainer reads pictures; else once, as it reads texts.
///
/// "seconds", 0 to 3600, bounds it, but for a read that hangs: kUnavailable: it would take longer.
/// kInvalid: `order` is something else.
Result<std::string> fingerprintReport(const std::string& order);

} // namespace rm
