// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/ui/dialogs/sheet.h"

namespace rm {

/// What the last checks of a node found, and what changed in between.
class CheckHistoryDialog : public Sheet {
    Q_OBJECT
public:
    CheckHistoryDialog(const Fleet& fleet, const QString& node, QWidget* parent);
};

} // namespace rm
