// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <cstdint>
#include <map>
#include <vector>

namespace rm::torture {

/// A step as the rank itself told it to its oracle (trainer/train/loop/oracle.h).
struct OracleStep {
    int attempt = 1;
    int64_t step = 0;
    double loss = 0;
    int64_t wallNs = 0;
};

/// All that one rank told, in that order.
using OracleSteps = std::vector<OracleStep>;

/// By rank; what a kill left of a last line is passed over.
std::map<int, OracleSteps> readOracle(const QString& folder, const QString& run);

/// The last step that rank 0 told, 0 before there is one.
int64_t lastOracleStep(const QString& folder, const QString& run);

/// The steps that count: an attempt that begins at a step takes the place of all that earlier ones
/// did from there on.
std::map<int64_t, OracleStep> livingOf(const OracleSteps& recorded);

// "" or what is wrong.
/// Each attempt does steps that follow one another, and a rank that does a step again gets the same
/// loss.
QByteArray flawIn(const std::map<int, OracleSteps>& recorded);
/// The database has the steps that count, each once and with the bits that were told, and no other,
/// for `ranks` ranks.
QByteArray flawInStore(const QString& database, const QString& run,
                       const std::map<int, OracleSteps>& recorded, int ranks);
/// Every checkpoint in `folder` is whole and of a step that its attempt told.
QByteArray flawInCheckpoints(const QString& folder, const std::map<int, OracleSteps>& recorded);
/// The steps that count have the losses of a run to which nothing was done.
QByteArray difference(const std::map<int, OracleSteps>& recorded,
                      const std::map<int, OracleSteps>& undisturbed);

} // namespace rm::torture
