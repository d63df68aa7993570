// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace rm {

class Theme;

/// resources/themes/app.qss with each `@token` replaced by the theme's value.
QString styleSheet(const Theme& theme);

} // namespace rm
