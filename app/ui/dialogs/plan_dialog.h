// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"

namespace rm {

/// What a launch would run: the ranks of each node, and the whole spec with every default.
class PlanDialog : public Sheet {
    Q_OBJECT
public:
    PlanDialog(const QString& plan, const QString& toml, QWidget* parent);
};

} // namespace rm
