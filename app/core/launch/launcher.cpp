// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/launcher.h"

#include "app/core/launch/direct_launcher.h"

namespace rm {

std::unique_ptr<Launcher> makeLauncher(Launcher::Request request, HostPool& hosts,
                                       ProgressSink progress, std::stop_token stop) {
    return std::make_unique<DirectLauncher>(std::move(request), hosts, std::move(progress),
                                            std::move(stop));
}

} // namespace rm
