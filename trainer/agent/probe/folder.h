// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/agent/run_dir/folders.h"

#include <cstdint>
#include <string>

namespace rm {

/// The room on the file system that holds a folder, or would hold it once made. -1: unknown.
struct FolderRoom {
    int64_t freeBytes = -1; ///< for users that are not root
    int64_t totalBytes = -1;
};
FolderRoom roomAt(const std::string& folder);

/// Why this user can write no file in `folder`, or in the nearest one above it that is there:
/// "write in /home/me: Read-only file system". Empty: one was written and removed.
std::string whyNotWritable(const std::string& folder);

/// `folder`: what a rank could do with the folder "path" of `order`, {"path", "mark", "do"}, as
/// {"folder", "free_bytes", "device", "problem", "mark"}. `folder` is the nearest one above it that
/// is there: what is missing is made by the ranks. `problem`: why this user can write no file in
/// it; empty: the mark was written, or it was not tried. `device` tells file systems of this node
/// apart.
///
/// A mark is a small file in that folder, `.ringmaster-MARK`, by which another node finds out that
/// it has the same one. "do": "leave" makes it, "look" only says by `mark` whether it is there,
/// "take" removes it. Only "leave" tries to write; it also removes marks that are older than an
/// hour.
///
/// A path is absolute, or "home" or "state" for Ringmaster's own folders; a mark is 1 to 64 of a-z
/// and 0-9. kInvalid: `order` is something else.
Result<std::string> folderReport(const Folders& own, const std::string& order);

} // namespace rm
