// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/link_test_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/settings/paths.h"
#include "app/ui/data/run_words.h"
#include "app/ui/dialogs/placement_list.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/fitting_area.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"

#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kLinkRows = 6;      ///< in sight
constexpr int kSizeRows = 5;      ///< likewise
constexpr size_t kShownTests = 8; ///< of the kept ones

QList<QStandardItem*> rowOf(const QStringList& texts) {
    QList<QStandardItem*> row;
    for (const QString& text : texts) {
        row << new QStandardItem(text);
        row.back()->setEditable(false);
    }
    return row;
}

} // namespace

LinkTestDialog::LinkTestDialog(const AppContext& context, QWidget* parent)
    : Sheet(tr("Test links"),
            tr("The trainer sums numbers between the ranks of the chosen nodes as it sums "
               "gradients: each pair, then all, for about ten seconds. It is sent first where it "
               "is missing."),
            "linkTestDialog", parent)
    , m_context(context)
    , m_nodes(new PlacementList(context))
    , m_rows(new QStandardItemModel(0, 4, this))
    , m_sizeRows(new QStandardItemModel(0, 3, this))
    , m_table(new Table("linkTestTable", tr("What links carried")))
    , m_sizes(new Table("linkSizesTable", tr("What sums of each size took")))
    , m_text(makeText({}, "bodySecondary")) {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels({tr("When"), tr("Between"), tr("Latency"), tr("Rate")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({96, 150, 80, 0});
    m_table->setRowsInSight(kLinkRows);
    m_sizeRows->setHorizontalHeaderLabels({tr("Size"), tr("Time"), tr("Rate")});
    m_sizes->setModel(m_sizeRows);
    m_sizes->setColumnWidths({96, 96, 0});
    m_sizes->setRowsInSight(kSizeRows);
    m_text->setObjectName("linkTestText");
    content()->addWidget(new FittingArea(m_nodes, PlacementList::kHeightInSheet));
    content()->addWidget(m_table);
    content()->addWidget(m_sizes);
    content()->addWidget(m_text);
    m_measure = addButton(tr("Measure"), "primary", "linkTestMeasure");
    m_close = addButton(tr("Close"), "", "closeLinkTest");
    connect(m_close, &QPushButton::clicked, this, [this] { m_running ? stop() : reject(); });
    connect(m_measure, &QPushButton::clicked, this, &LinkTestDialog::measure);
    connect(this, &QDialog::finished, this, &LinkTestDialog::stop);
    connect(m_table, &Table::rowChosen, this, &LinkTestDialog::showSizes);
    connect(m_nodes, &PlacementList::changed, this, &LinkTestDialog::refreshButton);
    connect(&m_context.engine, &Engine::progressed, this,
            [this](const QString& id, const Progress& progress) {
                if (m_running && id == trialId(*m_running))
                    m_text->setText(progressWords(progress));
            });
    showKept();
    refreshButton();
}

void LinkTestDialog::refreshButton() {
    const bool isEnough = m_nodes->placements().size() >= 2;
    m_measure->setEnabled(isEnough && !m_running);
    m_close->setText(m_running ? tr("Cancel") : tr("Close"));
    m_close->setAccessibleName(m_close->text());
    if (!m_running)
        m_text->setText(isEnough ? QString() : tr("Choose two nodes or more."));
}

void LinkTestDialog::measure() {
    m_running = NodeTrial{TrialKind::kAllReduce, m_nodes->placements(), {}};
    refreshButton();
    m_isCancelled = false;
    m_text->setText(tr("Measuring…"));
    whenAnswered(m_context.engine.ask(TrialRequest{*m_running}), this,
                 [this](const Result<QString>& answer) { take(answer); });
}

void LinkTestDialog::stop() {
    if (!m_running)
        return;
    m_isCancelled = true;
    m_text->setText(tr("Cancelling…"));
    m_context.engine.ask(StopTrialRequest{*m_running});
}

void LinkTestDialog::take(const Result<QString>& answer) {
    m_running.reset();
    const auto test = answer.and_then([](const QString& json) {
        return parseLinkTest(json.toStdString(), "the all-reduce test");
    });
    showKept();
    refreshButton();
    if (!test && m_isCancelled)
        m_text->setText(tr("Cancelled."));
    else if (!test)
        m_text->setText(capitalized(test.error().message) + '.');
    else if (!test->report.fault.empty())
        m_text->setText(tr("The devices' own collectives are off: %1.")
                            .arg(QString::fromStdString(test->report.fault)));
}

/// The newest first, which is chosen.
void LinkTestDialog::showKept() {
    m_rows->setRowCount(0);
    m_groups.clear();
    const QString file = m_context.paths.state + '/' + kLinkTestsFile;
    const auto tests = keptLinkTests(file.toStdString());
    const LinkHistory history(tests);
    for (size_t i = 0; i < std::min(tests.size(), kShownTests); ++i)
        addRows(tests[tests.size() - 1 - i], history);
    m_table->setVisible(!m_groups.empty());
    m_sizes->setVisible(!m_groups.empty());
    m_table->selectRow(0);
}

void LinkTestDialog::addRows(const LinkTest& test, const LinkHistory& history) {
    for (const SumGroup& group : test.report.groups) {
        const auto row = rowOf({formatRelative(test.wallNs, wallNowNs()),
                                QString::fromStdString(groupName(test, group)),
                                QString::fromStdString(sumsBySize(group).front().time),
                                QString::fromStdString(rateWords(test, group, history))});
        row[3]->setData(static_cast<int>(isSlow(test, group) ? Tone::kWarn : Tone::kGood),
                        kToneRole);
        m_rows->appendRow(row);
        m_groups.push_back(group);
    }
}

/// `row`: -1 where none is chosen.
void LinkTestDialog::showSizes(int row) {
    m_sizeRows->setRowCount(0);
    if (row < 0 || row >= static_cast<int>(m_groups.size()))
        return;
    for (const SumWords& words : sumsBySize(m_groups[static_cast<size_t>(row)]))
        m_sizeRows->appendRow(
            rowOf({QString::fromStdString(words.size), QString::fromStdString(words.time),
                   QString::fromStdString(words.rate)}));
}

} // namespace rm
