// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QStringList>

class QWidget;

namespace rm::test {

/// The contrast of two colours as WCAG 2 has it, from 1 to 21.
double contrastOf(const QColor& one, const QColor& other);

/// The texts of a window, as they are drawn, whose contrast to what is behind them is less than
/// 4.5:1, a line each. Texts of what is disabled are left out.
QStringList faintTexts(QWidget& window);

} // namespace rm::test
