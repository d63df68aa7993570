// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/end_leftovers_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

EndLeftoversDialog::EndLeftoversDialog(const AppContext& context, const QString& node,
                                       const QStringList& runs, QWidget* parent)
    : Sheet(tr("End leftovers on %1").arg(nodeTitle(node.toStdString())),
            tr("The ranks and the agent of %1 there are killed; what they have saved stays. "
               "Nothing else on the node is touched.")
                .arg(runs.join(", ")),
            "endLeftoversDialog", parent)
    , m_context(context)
    , m_node(node)
    , m_own(runs)
    , m_problem(makeText(QString(), "bad")) {
    findOthers();
    addOthers();
    m_problem->setObjectName("endLeftoversProblem");
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = addButton(tr("End them"), "danger", "endLeftoversConfirm");
    connect(m_confirm, &QPushButton::clicked, this, &EndLeftoversDialog::submit);
    refresh();
}

/// Finds the runs that this Ringmaster does not know; the last check of the node says whose.
void EndLeftoversDialog::findOthers() {
    const auto check = m_context.fleet.lastCheck(m_node);
    const NodeReport report = check ? check->report.value_or(NodeReport()) : NodeReport();
    const auto isKnown = [this](const QString& id) {
        return m_context.runs.find(id) != nullptr ||
               std::ranges::count(m_context.runs.trash(), id, &RunSummary::id) > 0;
    };
    for (const QString& id : QStringList(m_own)) {
        if (isKnown(id))
            continue;
        const auto there = std::ranges::find(report.runs, id.toStdString(), &RunReport::runId);
        m_own.removeAll(id);
        m_others << id;
        m_otherWords << (there == report.runs.end()
                             ? id
                             : QString::fromStdString(otherRunWords(*there, report.wallNs)));
    }
}

void EndLeftoversDialog::addOthers() {
    if (m_others.isEmpty())
        return;
    auto* words = makeText(tr("Another Ringmaster started %1. Whoever did loses what is not saved.")
                               .arg(m_otherWords.join("; ")),
                           "body");
    words->setObjectName("endLeftoversOthers");
    m_withOthers = new QCheckBox(tr("End what another Ringmaster started, too"));
    m_withOthers->setObjectName("endLeftoversWithOthers");
    m_withOthers->setAccessibleName(m_withOthers->text());
    connect(m_withOthers, &QCheckBox::toggled, this, &EndLeftoversDialog::refresh);
    content()->addWidget(words);
    content()->addWidget(m_withOthers);
}

void EndLeftoversDialog::refresh() {
    m_confirm->setEnabled(!m_own.isEmpty() || (m_withOthers && m_withOthers->isChecked()));
}

void EndLeftoversDialog::submit() {
    m_confirm->setEnabled(false);
    m_problem->hide();
    const bool isWithOthers = m_withOthers && m_withOthers->isChecked();
    whenAnswered(m_context.engine.ask(
                     EndLeftoversRequest{m_node, isWithOthers ? m_own + m_others : m_own,
                                         isWithOthers ? OtherRuns::kEnd : OtherRuns::kRefuse}),
                 this, [this](const Result<void>& ended) {
                     if (ended)
                         return accept();
                     refresh();
                     m_problem->setText(QString::fromStdString(ended.error().message));
                     m_problem->show();
                 });
}

} // namespace rm
