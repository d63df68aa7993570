// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace rm {

/// A variable that people set for ranks, and what it does.
struct KnownVariable {
    QString name;
    QString meaning;
    bool isSetElsewhere = false; ///< another field of the node becomes it; here it is refused
};

/// By name. Others are allowed too: environmentMistakes().
const std::vector<KnownVariable>& knownVariables();

/// What the variable does; for one that is not known, whose it is.
QString variableWords(const QString& name);

} // namespace rm
