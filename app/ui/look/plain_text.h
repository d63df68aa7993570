// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace rm {

// Qt takes a text for HTML where it looks like it: in tooltips, message boxes and labels whose
// format is not set. What comes from a node, a log, a file or a person goes through one of these
// before it becomes such a text; labels are made by makeLabel(), which sets their format.

/// HTML that shows `text` as it is, in its lines, broken where they are too long.
QString asHtml(const QString& text);

/// `text`, or asHtml() of it where Qt would take it for HTML.
QString asPlain(const QString& text);

/// As a menu shows it: "&" is no mark of a key.
QString inMenu(QString text);

} // namespace rm
