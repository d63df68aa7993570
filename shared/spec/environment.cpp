// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/environment.h"

#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace rm {

std::vector<std::string> environmentMistakes(const std::vector<std::string>& environment,
                                             const std::string& key) {
    constexpr std::string_view kPrefixes[] = {"NCCL_", "GLOO_", "TORCH_", "OMP_", "MKL_"};
    std::vector<std::string> mistakes;
    std::set<std::string> names;
    for (const std::string& entry : environment) {
        const std::string name = entry.substr(0, entry.find('='));
        const bool ours = std::ranges::any_of(
            kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
        if (!ours || !isEnvironmentEntry(entry))
            mistakes.push_back(key + " holds \"" + entry +
                               "\", but must hold NAME=value with NCCL_*, GLOO_*, TORCH_*, OMP_* "
                               "or MKL_* names and values of one line");
        else if (!names.insert(name).second)
            mistakes.push_back(key + " sets " + name + " twice");
    }
    return mistakes;
}

} // namespace rm
