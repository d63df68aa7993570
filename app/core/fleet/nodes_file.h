// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// What nodes.toml holds: one [[node]] table a node, with the keys name, host, user, port,
/// identity_file, jump_host, groups, gpus, environment, notes, slurm and sbatch. Only the first two
/// must be there; of a Slurm cluster on this computer the name alone. What a person set of this
/// computer stands there under its name, without a host.
struct NodesFile {
    std::vector<Node> nodes;
    std::string otherKeys;             ///< lines beside the tables, as Node::otherKeys
    std::vector<std::string> warnings; ///< a sentence for each key that only a later release knows
};

/// kInvalid names `source`, line, key and what is wrong.
Result<NodesFile> parseNodes(std::string_view toml, const std::string& source);

/// The text that parseNodes() reads so, `warnings` aside.
std::string toToml(const NodesFile& file);

} // namespace rm
