// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/receive.h"

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The beginning of the names of files in a bundle's folder beside those that were sent:
/// `.ringmaster-contents`, its list (treeList()), `.ringmaster-verified`, which of the files were
/// right when they were last read, and `.ringmaster-label`. No tree may hold such a name at its
/// top.
inline constexpr std::string_view kNotePrefix = ".ringmaster-";

/// A file of a bundle that is not as it was sent.
struct ChangedFile {
    std::string path;
    std::string expected; ///< SHA-256; empty: it was not sent
    std::string found;    ///< empty: it is gone
    bool operator==(const ChangedFile&) const = default;
};

/// Lists in `folder` what it should hold. The list's SHA-256 is the id of the tree, so it proves
/// itself.
Result<void> noteContents(const std::string& folder, const std::vector<TreeEntry>& entries);

/// Notes what a person knows the bundle by: release and runtime. Best effort.
void noteLabel(const std::string& folder, const std::string& label);
/// The label as one line without control characters, whatever the file has. Empty: not known.
std::string labelOf(const std::string& folder);

/// The files in `folder` that differ from the bundle of that id. A file is read once for each
/// inode, size and time of change. kNotFound, kCorrupt: the list is not there, or damaged.
Result<std::vector<ChangedFile>> changedFiles(const std::string& folder, const std::string& id);

/// "lib/x.so in the bundle /.../ID has SHA-256 A instead of B (and 2 more files differ)"
std::string wordsFor(const std::vector<ChangedFile>& changed, const std::string& folder);

/// To be asked before anything of `bundle` is executed. kCorrupt names the file and what to do
/// unless it is as it was sent. A folder elsewhere than HOME/bundles was not sent by an app (this
/// computer's installation, a bundle made by hand) and is taken as it is.
Result<void> verifyBundle(const std::string& home, const std::string& bundle);

} // namespace rm
