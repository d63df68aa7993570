// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QImage;
class QWidget;

namespace rm::test {

/// What a person could not read or reach on this window or page, a line each: texts that are wider
/// or higher than their widget; texts elided beside room for them; widgets that are cut by what
/// they lie in, unless that scrolls there; pages that scroll sideways.
QStringList clippedTexts(const QWidget& root);

/// Visible controls without an accessible name.
QStringList namelessControls(const QWidget& root);

/// Controls that the Tab key never reaches.
QStringList unreachableControls(const QWidget& root);

/// Share of pixels that differ from the most frequent colour.
double inkOf(const QImage& image);
int colourCount(const QImage& image);

} // namespace rm::test
