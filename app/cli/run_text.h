// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"

#include <QString>

#include <string>
#include <vector>

namespace rm::cli {

inline constexpr int kBarWidth = 24; ///< characters of every progress bar

/// "Send trainer to 3 nodes  [####----]  210 MB of 403 MB, 52 MB sent, 80 MB/s, 1 s left"
std::string progressText(const Progress& progress);
/// The same as one line for each node, if there are several.
std::vector<std::string> nodeProgressTexts(const Progress& progress);
/// "Sent trainer to 3 nodes: 1.2 GB as 329 MB in 24 s"
std::string sentText(const Progress& progress, double seconds);

/// How a run goes that was launched a moment ago, by what is stored of it and what its nodes say
/// now: "It trains on its nodes now".
std::string startedText(const RunSummary& run, const LiveState& live);

std::string lossText(const std::optional<double>& loss); ///< "-": there is none
/// "running, node-b unreachable"
std::string stateText(const RunSummary& run);
/// "gpt-tiny at 401"; empty: the run is no branch.
std::string parentText(const RunSummary& run);
/// "starred, archived"; empty: neither.
std::string marksText(const RunSummary& run);

/// "  bleu 27.4  chrf 55.1": the last of each of these metrics of a run.
std::string lastFigures(StoreReader& reader, const QString& run,
                        const std::vector<MetricDef>& metrics);

/// The start of each command's id that is no start of another one's, of eight characters or more.
std::vector<std::string> shortIds(const std::vector<RequestedCommand>& commands);

/// Warnings of one kind (event code) in an attempt: the newest, and how many there were.
struct Warned {
    StoredEvent newest;
    int count = 0;
};

/// The three most recent kinds, newest first; `events` is sorted likewise. Lost parts of
/// journals are among them; warnings about unreachable nodes are not, as a run is shown with those
/// anyway.
std::vector<Warned> warningsOf(const std::vector<StoredEvent>& events, int attempt);
/// "3 min ago: checkpoint of step 200: ... (5 times)"
std::string warningText(const Warned& warned);

} // namespace rm::cli
