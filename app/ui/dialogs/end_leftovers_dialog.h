// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <QStringList>

class QCheckBox;
class QLabel;
class QPushButton;

namespace rm {

/// Asks before it ends what lives of these runs on a node, and says what became of it. What another
/// Ringmaster started is named, with whose it is, and ended only where a person ticks that. It is
/// accepted once that is done.
class EndLeftoversDialog : public Sheet {
    Q_OBJECT
public:
    EndLeftoversDialog(const AppContext& context, const QString& node, const QStringList& runs,
                       QWidget* parent);

private:
    void findOthers();
    void addOthers();
    void refresh();
    void submit();

    AppContext m_context;
    QString m_node;
    QStringList m_own;    ///< ended by what is known here
    QStringList m_others; ///< of another Ringmaster
    QStringList m_otherWords;
    QCheckBox* m_withOthers = nullptr; ///< null: there are none
    QLabel* m_problem;
    QPushButton* m_confirm;
};

} // namespace rm
