// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/ssh_offers.h"

#include "app/core/findings/text.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/node/node_check.h"
#include "app/core/remote/jump_host.h"

#include <QThreadPool>
#include <QtConcurrent>

#include <algorithm>
#include <map>

namespace rm {

std::map<std::string, std::string> routesTo(const std::vector<Node>& nodes) {
    std::map<std::string, std::string> routes;
    for (const Node& node : nodes)
        if (!node.isLocal)
            routes.emplace(routeTo(node), node.name);
    return routes;
}

SshOffer sshOffer(const std::string& alias, const std::vector<Node>& nodes,
                  const std::map<std::string, std::string>& known) {
    SshOffer offer;
    offer.node.name = nodeNameFor(alias);
    offer.node.sshHost = alias;
    if (const auto good = checkNode(offer.node); !good) {
        offer.problem = good.error().message;
        return offer;
    }
    if (auto route = findRoute(offer.node))
        offer.route = std::move(*route);
    else
        offer.problem = route.error().message;
    const std::string jump = jumpHostsIn(offer.route.proxy);
    offer.passes = jump.empty() ? offer.route.proxy : jump;
    const bool isTaken = std::ranges::find(nodes, offer.node.name, &Node::name) != nodes.end();
    if (const auto same = known.find(offer.route.text); same != known.end())
        offer.known = same->second;
    else if (offer.problem.empty() && isTaken)
        offer.problem = say("gpu.node-name-taken-by-other");
    return offer;
}

int sshOffersAtOnce() {
    constexpr int kMost = 8;
    return std::clamp(QThread::idealThreadCount(), 1, kMost);
}

std::string nodeNameFor(const std::string& host) {
    std::string name = host;
    std::ranges::replace_if(
        name, [](char c) { return c == ':' || c == '%'; }, '-');
    return name;
}

std::vector<SshOffer> sshOffers(const std::vector<Node>& nodes,
                                const std::vector<std::string>& aliases) {
    const auto known = routesTo(nodes);
    QThreadPool pool;
    pool.setMaxThreadCount(sshOffersAtOnce());
    return QtConcurrent::blockingMapped<std::vector<SshOffer>>(
        &pool, aliases, [&](const std::string& alias) { return sshOffer(alias, nodes, known); });
}

} // namespace rm
