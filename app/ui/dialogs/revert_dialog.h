// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/live_changes.h"
#include "app/core/store/attempts.h"
#include "app/ui/dialogs/sheet.h"

namespace rm {

/// Offers both meanings of taking a change of a setting back: the old value from the next step on,
/// or the weights of before it as well.
class RevertDialog : public Sheet {
    Q_OBJECT
public:
    /// `retires`: what going back would set aside.
    RevertDialog(const RunSummary& run, const LiveChange& change, const Retirement& retires,
                 QWidget* parent);

Q_SIGNALS:
    void setBackChosen();
    void goBackChosen();

private:
    void addMeaning(const QString& button, const QString& text, const Result<void>& possible,
                    const char* objectName, void (RevertDialog::*chosen)());
};

} // namespace rm
