// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"

namespace rm {

/// Says that a run was not launched because a node seems to have too little memory for it.
/// accepted() means "launch it all the same".
class TooLargeDialog : public Sheet {
    Q_OBJECT
public:
    /// `why` as Engine::tooLarge() says it.
    TooLargeDialog(const QString& why, QWidget* parent);
};

} // namespace rm
