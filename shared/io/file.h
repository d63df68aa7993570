// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Reads a whole small file. Errors name the path and the errno's text.
Result<std::string> readFile(const std::string& path, size_t maxBytes = 64u << 20);

/// Where links at `path` lead, also if nothing is there yet; `path` itself if it is no link. For
/// files that a person may keep in a folder of dotfiles.
std::string behindLinks(const std::string& path);

/// Writes a temporary file beside it, fsyncs, renames, fsyncs the folder: readers see the old or
/// the new text. A link at `path` is replaced, never followed.
Result<void> writeFileAtomically(const std::string& path, std::string_view text);

/// mkdir -p with mode 0700.
Result<void> makeFolders(const std::string& path);

/// Why a new file of so many bytes cannot be written in `folder`, an errno value; 0: it can. Tries
/// it, as permissions, room and quota do not say it all, and removes the file again.
int whyNotWritten(const std::string& folder, size_t bytes);

Result<void> syncFile(const std::string& path);
Result<void> syncFolder(const std::string& path);

/// Lower-case hex of SHA-256.
std::string sha256Hex(std::span<const std::byte> bytes);
/// The same of all parts together, in order.
std::string sha256HexOfParts(const std::vector<std::span<const std::byte>>& parts);
Result<std::string> sha256HexOfFile(const std::string& path);

} // namespace rm
