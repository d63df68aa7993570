// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

// What Ringmaster keeps of a person is for that person alone, whatever the umask was and whichever
// release made it.

/// Makes the folder with mode 0700, and its parents; one that is there gets that mode. A folder of
/// somebody else stays as it is.
Result<void> makePrivateFolder(const std::string& folder);

/// Takes the rights of others to a file of this user that is there.
void protectFile(const std::string& file);

/// Whether the file or folder, or where it is not there the nearest folder above it, lies on a disk
/// that is mounted read-only: then its rights do not matter, not even to root.
bool isOnReadOnlyDisk(const std::string& path);
/// Whether there is no room for this user on the disk of a file that is there.
bool isOnFullDisk(const std::string& path);

} // namespace rm
