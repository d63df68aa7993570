// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/ui/data/run_words.h"

#include <QStringList>

#include <optional>
#include <vector>

namespace rm {

/// "Ready", "2 problems", "Not checked", "Checking", "Checked 3 h ago".
StateWords checkWords(const std::optional<NodeCheck>& check, bool checking);

/// "Unreachable since 16:38": a run has found that out since the node was checked. nullopt: none
/// has.
std::optional<StateWords> unreachableWords(const Node& node, const std::optional<NodeCheck>& check,
                                           const std::vector<RunSummary>& runs);

/// "ubuntu@10.0.0.4 · 0.4 ms", "no SSH"
QString addressWords(const Node& node, const std::optional<NodeCheck>& check);

/// "@lab", "@a100".
QStringList groupsWords(const Node& node);

/// How a person wants it used: "@lab · @a100 · trains on GPU 1 · NCCL_DEBUG=INFO · notes: noisy".
/// Empty: as it is.
QString useWords(const Node& node);

/// GPUs and driver; cores, memory and system; disk of the node's home. Empty without a report.
QStringList reportWords(const NodeReport& report);

/// "3 machines · 9 GPUs · 1 needs attention"
QString fleetWords(const std::vector<Node>& nodes, const Fleet& fleet);

Tone rowTone(const CheckRow& row);

/// A row in one text: "Data: they differ. What it leads to. What to do: ..."
QString rowWords(const CheckRow& row);

/// Rows of a check, or one that says why there was no connection.
std::vector<CheckRow> checkRows(const NodeCheck& check);

} // namespace rm
