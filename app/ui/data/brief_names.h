// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace rm {

/// Names of runs without the parts, up to a comma, that all begin with alike: of "gpt, lr 1" and
/// "gpt, lr 2" there remain "lr 1" and "lr 2". A name of which nothing would remain keeps its last
/// part.
QStringList briefNames(const QStringList& names);

/// A long name in two lines, parted at the comma or space that is nearest its middle.
QString inTwoLines(const QString& name);

} // namespace rm
