// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/end_leftovers_dialog.h"

#include "app/core/answer.h"
#include "app/core/run/engine.h"
#include "app/ui/data/run_words.h"
#include "app/ui/widgets/label.h"

#include <QVBoxLayout>

namespace rm {

EndLeftoversDialog::EndLeftoversDialog(const AppContext& context, const QString& node,
                                       const QStringList& runs, QWidget* parent)
    : Sheet(
          tr("End leftovers on %1").arg(nodeTitle(node.toStdString())),
          tr("The ranks and the agent of %1 there are killed; what they have saved stays. Nothing "
             "else on the node is touched.")
              .arg(runs.join(", ")),
          "endLeftoversDialog", parent)
    , m_context(context)
    , m_node(node)
    , m_runs(runs)
    , m_problem(makeText({}, "bad")) {
    m_problem->setObjectName("endLeftoversProblem");
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = addButton(tr("End them"), "danger", "endLeftoversConfirm");
    connect(m_confirm, &QPushButton::clicked, this, &EndLeftoversDialog::submit);
}

void EndLeftoversDialog::submit() {
    m_confirm->setEnabled(false);
    m_problem->hide();
    whenAnswered(m_context.engine.endLeftovers(m_node, m_runs), this,
                 [this](const Result<void>& ended) {
                     if (ended)
                         return accept();
                     m_confirm->setEnabled(true);
                     m_problem->setText(QString::fromStdString(ended.error().message));
                     m_problem->show();
                 });
}

} // namespace rm
