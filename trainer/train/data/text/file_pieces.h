// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A part of a text file, from the start of a line to the end of one.
struct FilePiece {
    std::string path;
    size_t offset = 0;
    size_t size = 0;
    int64_t firstLine = 1; ///< its number in the file
};

/// Cuts a file into pieces of some megabytes, given by their positions, so that threads can share
/// the work. The error names the path.
Result<std::vector<FilePiece>> cutFile(const std::string& path);

Result<std::string> readPiece(const FilePiece& piece);

} // namespace rm
