// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/text.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// What a run has in a folder that its spec names (checkpoint.directory).
struct NamedFolder {
    std::string path;
    int64_t bytes = 0; ///< of the run alone
    int checkpoints = 0;
    std::string staysAs; ///< why it does not go with the run, to read behind "as"; empty: it does
    bool operator==(const NamedFolder&) const = default;
};

/// "1.2 GB of that in /ckpt/gpt-1", "1.2 GB stays in /ckpt/gpt-1, as ...". `size`: of the bytes.
inline std::string namedFolderWords(const NamedFolder& folder, const std::string& size) {
    const Value bytes{"size", size}, path{"path", folder.path};
    return folder.staysAs.empty() ? say("run.folder-part", {bytes, path})
                                  : say("run.folder-stays", {bytes, path, {"why", folder.staysAs}});
}

/// What a run has on a node.
struct RunFolder {
    std::string node;
    std::string path;
    int64_t bytes = 0;        ///< that go, also in `named`; 0: there is none
    int checkpoints = 0;      ///< likewise
    std::string problem = {}; ///< why it is not known; of a node of an earlier attempt alone
    std::string stateId = {}; ///< the same where nodes share the folder of runs; empty: unknown
    /// An earlier node that shares it, for which what is in it counts; empty: for this one.
    std::string sameAs = {};
    std::vector<NamedFolder> named = {};
    bool operator==(const RunFolder&) const = default;
};

/// "node-a: 1.2 GB stays in /ckpt/gpt-1, as ..." for each that a removal of these leaves. `words`
/// says a size. No later removal finds it, as the spec that names it lies in the run's own folder.
template <class Words>
std::vector<std::string> leftWords(const std::vector<RunFolder>& folders, Words words) {
    std::vector<std::string> left;
    for (const RunFolder& folder : folders)
        for (const NamedFolder& named : folder.named)
            if (!named.staysAs.empty())
                left.push_back(say("run.folder-stays-on",
                                   {{"node", folder.node},
                                    {"stays", namedFolderWords(named, words(named.bytes))}}));
    return left;
}

} // namespace rm
