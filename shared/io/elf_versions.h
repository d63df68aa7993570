// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// The symbol versions that a program or library names ("Symbol Versioning" in the Linux Standard
/// Base, Core 5.0, section 10.7).
struct ElfVersions {
    std::vector<std::string> offered; ///< by a library: "GLIBCXX_3.4.30"
    std::vector<std::string> needed;  ///< from the libraries that it is linked to
    bool operator==(const ElfVersions&) const = default;
};

/// The versions in a whole file. kInvalid: it is no little-endian 64-bit ELF file. kCorrupt: it
/// names something beyond its end. Nothing but the tables of versions is read.
Result<ElfVersions> elfVersions(std::span<const std::byte> file);

/// The greatest of the versions called PREFIX and numbers: "3.4.30" of "GLIBCXX_3.4.30" and others,
/// by the prefix "GLIBCXX_". Empty: there is none.
std::string newestVersion(const std::vector<std::string>& versions, const std::string& prefix);

/// Whether version `a` comes before `b`, number by number: "3.4.9" before "3.4.30". What is no
/// number counts as 0.
bool isOlderVersion(const std::string& a, const std::string& b);

} // namespace rm
