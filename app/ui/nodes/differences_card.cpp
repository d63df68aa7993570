// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/differences_card.h"

#include "app/core/findings/text.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QGridLayout>
#include <QVBoxLayout>

namespace rm {

namespace {

/// With the name that the other cards show for this computer.
QString nodeNames(const std::vector<std::string>& nodes) {
    constexpr size_t kMostNames = 6;
    std::vector<std::string> titles;
    for (const std::string& node : nodes)
        titles.push_back(nodeTitle(node).toStdString());
    return QString::fromStdString(someOf(titles, kMostNames));
}

} // namespace

DifferencesCard::DifferencesCard(QWidget* parent)
    : Card(parent)
    , m_summary(makeLabel({}, "secondary"))
    , m_shared(makeText({}, "bodySecondary"))
    , m_table(new QWidget)
    , m_lines(new QGridLayout(m_table)) {
    setObjectName("differencesCard");
    m_shared->setObjectName("sharedFolders");
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Differences between nodes"), "cardTitle"));
    head->addStretch(1);
    head->addWidget(m_summary);
    body()->addLayout(head);
    m_lines->setContentsMargins(0, 0, 0, 0);
    m_lines->setHorizontalSpacing(size::kCardGap);
    m_lines->setVerticalSpacing(size::kGrid);
    m_lines->setColumnStretch(1, 1);
    m_lines->setColumnStretch(2, 1);
    body()->addWidget(m_table);
    body()->addWidget(m_shared);
    hide();
}

void DifferencesCard::show(const NodeComparison& comparison) {
    setVisible(comparison.compared > 1);
    if (comparison == m_shown)
        return;
    m_shown = comparison;
    while (QLayoutItem* item = m_lines->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    int line = 0;
    for (const NodeDifference& difference : comparison.differences) {
        QString what = QString::fromStdString(difference.what);
        for (const NodeDifference::Side& side : difference.sides)
            addLine(line++, std::exchange(what, {}), side);
    }
    m_table->setVisible(line > 0);
    m_summary->setText(line > 0 ? tr("of %1 checked").arg(comparison.compared)
                                : tr("none between the %1 checked").arg(comparison.compared));
    QStringList shared;
    for (const std::string& sentence : comparison.shared)
        shared << QString::fromStdString(sentence);
    m_shared->setText(shared.join('\n'));
    m_shared->setVisible(!shared.isEmpty());
}

void DifferencesCard::addLine(int line, const QString& what, const NodeDifference::Side& side) {
    auto* title = makeLabel(what, "strong");
    title->setFixedWidth(170);
    m_lines->addWidget(title, line, 0, Qt::AlignTop);
    m_lines->addWidget(makeText(QString::fromStdString(side.value), "body"), line, 1, Qt::AlignTop);
    m_lines->addWidget(makeText(nodeNames(side.nodes), "bodySecondary"), line, 2, Qt::AlignTop);
}

} // namespace rm
