// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>

namespace rm {

/// resources/icons/NAME.svg, of one colour, in the theme's colour for secondary text, and in that
/// of what is chosen where it stands on a checked button. Call it anew when the theme has changed.
/// A null icon, if there is no such file.
QIcon themedIcon(const QString& name);

} // namespace rm
