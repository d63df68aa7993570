// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QImage;
class QWidget;

namespace rm::test {

/// What a person could not read: visible texts that are wider or higher than their widget and not
/// elided on purpose, and children that stick out of their parent. One line each.
QStringList clippedTexts(const QWidget& root);

/// Visible controls without an accessible name.
QStringList namelessControls(const QWidget& root);

/// Controls that the Tab key never reaches.
QStringList unreachableControls(const QWidget& root);

/// Share of pixels that differ from the most frequent colour.
double inkOf(const QImage& image);
int colourCount(const QImage& image);

} // namespace rm::test
