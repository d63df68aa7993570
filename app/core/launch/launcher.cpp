// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/launcher.h"

#include "app/core/launch/direct_launcher.h"
#include "app/core/launch/slurm_launcher.h"

#include <algorithm>

namespace rm {

std::unique_ptr<Launcher> makeLauncher(Launcher::Request request, HostPool& hosts,
                                       ProgressSink progress, std::stop_token stop) {
    const bool hasCluster = std::ranges::any_of(
        request.nodes, [](const PlacedParty& party) { return party.node.isSlurm; });
    if (hasCluster)
        return std::make_unique<SlurmLauncher>(std::move(request), hosts, std::move(progress),
                                               std::move(stop));
    return std::make_unique<DirectLauncher>(std::move(request), hosts, std::move(progress),
                                            std::move(stop));
}

} // namespace rm
