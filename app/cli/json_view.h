// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/access.h"
#include "app/cli/run_text.h"
#include "app/core/fleet/fleet.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/core/runs/run_cost.h"
#include "app/core/runs/slowdowns.h"
#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"

#include <nlohmann/json.hpp>

namespace rm::cli {

/// How `--json` shows things. Keys are stable: scripts read them.
nlohmann::ordered_json toJson(const RunSummary& run);
nlohmann::ordered_json toJson(const StoredCheckpoint& checkpoint);
nlohmann::ordered_json toJson(const StoredLine& line);
nlohmann::ordered_json toJson(const StoredAttempt& attempt);
nlohmann::ordered_json toJson(const StoredRank& rank);
nlohmann::ordered_json toJson(const StoredEvent& event);
nlohmann::ordered_json toJson(const RequestedCommand& command);
nlohmann::ordered_json toJson(const Warned& warned); ///< the event, and "count"
nlohmann::ordered_json toJson(const RunCost& cost);
nlohmann::ordered_json toJson(const Node& node);
nlohmann::ordered_json toJson(const CheckRow& row);
nlohmann::ordered_json toJson(const NodeCheck& check);
nlohmann::ordered_json toJson(const LaunchCheck& check); ///< "ready" and "rows"
nlohmann::ordered_json toJson(const PastCheck& check);
nlohmann::ordered_json toJson(const SshOffer& offer);
/// "findings", those that cost the most first, and "not_known".
nlohmann::ordered_json toJson(const RunSummary& run, const Verdict& verdict);
/// {"error": {"code": ..., "message": ...}}
nlohmann::ordered_json toJson(const Error& error);

template <class T>
nlohmann::ordered_json arrayOf(const std::vector<T>& items) {
    auto out = nlohmann::ordered_json::array();
    for (const T& item : items)
        out.push_back(toJson(item));
    return out;
}

/// To standard output. Invalid UTF-8 in what nodes or file names hold is replaced, so that the
/// answer is always JSON.
void printJson(const nlohmann::ordered_json& json);

} // namespace rm::cli
