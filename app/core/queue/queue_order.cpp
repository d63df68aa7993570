// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/queue_order.h"

#include "app/core/findings/text.h"

#include <algorithm>

namespace rm {

namespace {

constexpr size_t kMostNodes = 4; ///< that a sentence names

std::vector<std::string> namesOf(const std::vector<QueuedNode>& nodes) {
    std::vector<std::string> names;
    for (const QueuedNode& node : nodes)
        names.push_back(node.node);
    return names;
}

std::string waitsFor(const BusyNodes& busy, const QueuedPlace& place) {
    const Value nodes{"nodes", placeWords(place)};
    for (const QueuedNode& node : place.nodes)
        if (const auto by = busy.find(node.node); by != busy.end())
            return say("queue.waits-for-run", {nodes, {"busy", by->second}});
    return say("queue.waits", {nodes});
}

} // namespace

size_t wantedNodes(const QueuedPlace& place) {
    const size_t all = place.nodes.size();
    return place.wanted > 0 ? std::min(static_cast<size_t>(place.wanted), all) : all;
}

BusyNodes busyNodes(const std::vector<RunSummary>& runs) {
    BusyNodes busy;
    for (const RunSummary& run : runs) {
        if (!isLive(run.state))
            continue;
        for (const RunNode& node : run.nodes) {
            const bool isLost = std::ranges::find(run.lostNodes, node.nodeName,
                                                  &LostNode::nodeName) != run.lostNodes.end();
            busy.emplace(node.nodeName,
                         isLost ? say("queue.lost-on",
                                      {{"run", run.name.toStdString()}, {"node", node.nodeName}})
                                : trainsOn(run.name, node.nodeName));
        }
    }
    return busy;
}

std::string trainsOn(const QString& run, const std::string& node) {
    return say("queue.trains-on", {{"run", run.toStdString()}, {"node", node}});
}

std::vector<QueueStart> startable(const std::vector<QueueEntry>& queue, const BusyNodes& busy,
                                  const std::function<bool(const std::string&)>& isCluster) {
    BusyNodes taken = busy;
    std::vector<QueueStart> starts;
    for (const QueueEntry& entry : queue) {
        std::vector<QueuedNode> free;
        for (const QueuedNode& node : entry.place.nodes)
            if (isCluster(node.node) || !taken.contains(node.node))
                free.push_back(node);
        const size_t wanted = wantedNodes(entry.place);
        const bool isEnough = wanted > 0 && free.size() >= wanted;
        free.resize(std::min(free.size(), wanted));
        for (const QueuedNode& node : free)
            taken.emplace(node.node, entry.run.toStdString());
        if (isEnough)
            starts.push_back({entry, std::move(free)});
    }
    return starts;
}

std::vector<Placement> placementsOf(const std::vector<QueuedNode>& nodes) {
    std::vector<Placement> placements;
    for (const QueuedNode& node : nodes)
        placements.push_back({QString::fromStdString(node.node), node.ranks});
    return placements;
}

QueuedPlace queuedPlace(const std::vector<Placement>& nodes, int take, bool launchesTooLarge) {
    QueuedPlace place{{}, take, launchesTooLarge};
    for (const Placement& node : nodes)
        place.nodes.push_back({node.node.toStdString(), node.ranks});
    return place;
}

std::string placeWords(const QueuedPlace& place) {
    const auto names = namesOf(place.nodes);
    const std::string nodes = names.size() > kMostNodes ? someOf(names, kMostNodes) : listed(names);
    const size_t wanted = wantedNodes(place);
    return wanted == names.size()
               ? nodes
               : say("queue.of-nodes", {{"count", std::to_string(wanted)}, {"nodes", nodes}});
}

std::string waitReason(const BusyNodes& busy, const QueueEntry& entry) {
    std::string words = waitsFor(busy, entry.place);
    if (!entry.why.empty())
        append(words, entry.why);
    return words;
}

std::string waitWords(const std::vector<QueueEntry>& queue, const BusyNodes& busy,
                      const QString& run) {
    const auto entry = std::ranges::find(queue, run, &QueueEntry::run);
    if (entry == queue.end())
        return {};
    return say("queue.place", {{"place", std::to_string(entry - queue.begin() + 1)},
                               {"of", std::to_string(queue.size())},
                               {"waits", waitReason(busy, *entry)}});
}

std::string waitWords(StoreReader& reader, const RunSummary& run) {
    return run.queuePlace > 0 ? waitWords(reader.queue(), busyNodes(reader.liveRuns()), run.id)
                              : std::string();
}

} // namespace rm
