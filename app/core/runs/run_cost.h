// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/store/store_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What a run has taken of its nodes so far: in all its attempts, also for steps that were set
/// aside, without the time between them.
struct RunCost {
    double hours = 0; ///< from the start of each attempt's ranks to its end, or its last known step
    double rankHours = 0;        ///< the same, once for each of its ranks
    bool isOnGpus = false;       ///< its ranks have told of GPUs, so that these are GPU-hours
    std::optional<double> kWh;   ///< of these GPUs while it trained; nullopt: no power was told
    std::optional<double> price; ///< by Node::pricePerHour; nullopt: no node of it has a price
    std::vector<std::string> unpriced; ///< nodes that are not in the price
};

/// `nodes`: those that are known, for their prices. `nowNs`: the end of what still trains. Worker
/// thread: it takes some milliseconds.
RunCost readCost(StoreReader& reader, const RunSummary& run, const std::vector<Node>& nodes,
                 int64_t nowNs);

/// Its figures as a person reads them; empty where they are not known, or nothing was trained.
struct CostTexts {
    std::string hours, rankHours, kWh, price;
};
CostTexts textsOf(const RunCost& cost);

/// "2.3 h, 18.4 GPU-hours, 4.1 kWh, 42.10 at the prices of its nodes"; empty: nothing was trained.
std::string costWords(const RunCost& cost);

} // namespace rm
