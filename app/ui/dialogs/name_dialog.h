// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"
#include "shared/result.h"

#include <functional>

class QLabel;
class QLineEdit;

namespace rm {

/// Asks under which name a thing is to be kept, and stays until `use` takes it.
class NameDialog : public Sheet {
    Q_OBJECT
public:
    using Use = std::function<Result<void>(const QString&)>;

    /// `objectName` is that of the field; the dialog and its button add "Dialog" and "Confirm".
    NameDialog(const QString& title, const QString& text, const char* objectName,
               const QString& name, Use use, QWidget* parent);

private:
    void submit();

    QLineEdit* m_name;
    QLabel* m_problem;
    Use m_use;
};

} // namespace rm
