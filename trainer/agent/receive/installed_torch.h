// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rm {

/// The site-packages folders of this node in which a torch may lie: of its Python, of virtual and
/// conda environments in the usual places and in the environment, and what Ringmaster's own set-up
/// fetched. Looks at a bounded number of folders and runs nothing.
std::vector<std::string> usualSitePackages();

/// The libraries of the torch installations in these folders, by their sizes. A bundle has many of
/// the same files when a node has the same version.
class InstalledTorch {
public:
    explicit InstalledTorch(std::vector<std::string> sitePackages);

    /// Files that may hold a blob of that size; looks through the folders at the first call.
    std::vector<std::string> filesOf(int64_t size);

private:
    void look();

    std::vector<std::string> m_sitePackages;
    bool m_hasLooked = false;
    std::multimap<int64_t, std::string> m_files; ///< by size
};

} // namespace rm
