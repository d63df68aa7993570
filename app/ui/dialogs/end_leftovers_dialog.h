// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <QStringList>

class QLabel;
class QPushButton;

namespace rm {

/// Asks before it ends what lives of these runs on a node, and says what became of it. It is
/// accepted once that is done.
class EndLeftoversDialog : public Sheet {
    Q_OBJECT
public:
    EndLeftoversDialog(const AppContext& context, const QString& node, const QStringList& runs,
                       QWidget* parent);

private:
    void submit();

    AppContext m_context;
    QString m_node;
    QStringList m_runs;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

} // namespace rm
