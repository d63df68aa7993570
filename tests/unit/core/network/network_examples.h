// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/network/network_matrix.h"

#include <string>
#include <vector>

namespace rm::example {

/// A node with these interfaces, each "NAME ADDRESS MBIT", whose listener is at 29500, 35000 and
/// 52000.
inline NetworkNode networkNode(const std::string& name, std::vector<InterfaceReport> addresses) {
    return {name, std::move(addresses), {29500, 0, {35000, 52000}, 32768, 60999, ""}, ""};
}

inline InterfaceReport at(const std::string& interface, const std::string& address,
                          int64_t speedMbit = 10000) {
    return {interface, address, 24, true, speedMbit};
}

inline DialAnswer answered(Reach reach, const std::string& by, int64_t microseconds = 100) {
    const bool isReached = reach == Reach::kReached;
    return {reach,
            isReached ? LargePackets::kPassed : LargePackets::kUntried,
            by,
            isReached ? microseconds : -1,
            isReached ? 1500 : 0,
            isReached ? "" : "Connection timed out",
            ""};
}

/// Every port of that address answers so, from the interface `by`.
inline void addDials(NetworkMatrix& matrix, int from, int to, const std::string& address,
                     const DialAnswer& answer) {
    const OpenPorts& ports = matrix.nodes[static_cast<size_t>(to)].ports;
    for (const int64_t port : {ports.port, ports.samples[0], ports.samples[1]})
        matrix.trials.push_back({from, to, "", address, port, answer});
}

/// Every address of each node is reached from each other one by the interface of the same name.
inline NetworkMatrix wholeNetwork(std::vector<NetworkNode> nodes) {
    NetworkMatrix matrix{std::move(nodes), {}, 1'700'000'000'000'000'000};
    const int count = static_cast<int>(matrix.nodes.size());
    for (int from = 0; from < count; ++from)
        for (int to = 0; to < count; ++to)
            for (const InterfaceReport& there : matrix.nodes[static_cast<size_t>(to)].addresses)
                if (from != to)
                    addDials(matrix, from, to, there.address,
                             answered(Reach::kReached, there.name));
    return matrix;
}

/// Changes every answer from one node at an address of another.
inline void setAnswer(NetworkMatrix& matrix, int from, const std::string& address,
                      const DialAnswer& answer) {
    for (NetworkTrial& trial : matrix.trials)
        if (trial.from == from && trial.address == address)
            trial.answer = answer;
}

} // namespace rm::example
