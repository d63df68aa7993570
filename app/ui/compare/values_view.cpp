// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/values_view.h"

#include "app/ui/compare/run_table_dialog.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSet>
#include <QVBoxLayout>

namespace rm {

ValuesView::ValuesView(const AppContext& context, std::shared_ptr<RunValues> values,
                       QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_values(std::move(values))
    , m_puller(kPullMs, this)
    , m_column(new QVBoxLayout(this))
    , m_controls(new QHBoxLayout)
    , m_asTable(makeButton(tr("Table"), "", "valuesTable")) {
    m_column->setContentsMargins(0, 0, 0, size::kPageY);
    m_column->setSpacing(size::kCardGap);
    m_controls->setSpacing(2 * size::kGrid);
    m_asTable->setToolTip(tr("Show the values of these runs as a table"));
    auto* row = new QHBoxLayout;
    row->addLayout(m_controls, 1);
    row->addWidget(m_asTable);
    m_column->addLayout(row);
    connect(m_asTable, &QPushButton::clicked, this, &ValuesView::openTable);
    connect(&m_puller, &Puller::pull, this, &ValuesView::pull);
    connect(&m_context.styles, &RunStyles::changed, &m_puller, &Puller::request);
}

void ValuesView::setRuns(const QStringList& runs, const RunFilter& filter) {
    m_runs = runs;
    m_filter = filter;
    refresh();
}

void ValuesView::refresh() {
    if (isVisible())
        m_puller.restart();
}

void ValuesView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.restart();
}

/// Worker thread.
ValuesView::Answer ValuesView::read(StoreReader& reader, RunValues& values, const QStringList& ids,
                                    const RunFilter& filter, std::vector<std::string> keys,
                                    size_t mostKeys) {
    std::vector<RunSummary> runs = reader.runs();
    const QSet<QString> chosen(ids.begin(), ids.end());
    if (chosen.isEmpty() || filter != RunFilter())
        runs = filtered(filter, std::move(runs), reader, values);
    else
        std::erase_if(runs, [&](const RunSummary& run) { return !chosen.contains(run.id); });
    Answer answer;
    answer.offered = keysOf(reader, runs);
    if (keys.empty())
        keys = tellingKeys(reader, values, runs, mostKeys);
    if (auto table = readRunTable(reader, values, std::move(runs), std::move(keys)))
        answer.table = std::move(*table);
    else
        answer.problem = QString::fromStdString(table.error().message);
    return answer;
}

void ValuesView::pull() {
    m_puller.await(m_context.store.ask([values = m_values, ids = m_runs, filter = m_filter,
                                        keys = keys(), most = mostKeys()](StoreReader& reader) {
        return read(reader, *values, ids, filter, keys, most);
    }),
                   this, [this](const Answer& answer) { apply(answer); });
}

void ValuesView::apply(const Answer& answer) {
    if (!answer.table) {
        Q_EMIT failed(answer.problem);
        return;
    }
    m_table = *answer.table;
    m_asTable->setEnabled(!m_table.runs.empty());
    showTable(m_table, answer.offered);
    Q_EMIT runsCounted(m_table.runs.size());
}

PlotScale ValuesView::scaleOfKey(size_t key, bool isLog, bool isFlipped) const {
    return {QString::fromStdString(m_table.keys[key]), scaleOf(m_table, key), isLog, isFlipped};
}

std::vector<PlottedRun> ValuesView::plottedRuns() const {
    std::vector<PlottedRun> runs;
    for (const RunSummary& run : m_table.runs)
        runs.push_back({run.id, run.name, m_context.styles.of(run.id).colour});
    return runs;
}

QString ValuesView::emptyText() const {
    if (m_table.runs.empty())
        return m_filter == RunFilter() ? tr("There are no runs to show") : tr("No run matches");
    if (m_table.keys.size() < 2)
        return tr("These runs differ in nothing that they have reported; choose what to show");
    return tr("None of these runs has a value for all that is chosen");
}

void ValuesView::openTable() {
    auto* dialog = new RunTableDialog(m_table, m_context.styles, window());
    connect(dialog, &RunTableDialog::opened, this, &ValuesView::runChosen);
    dialog->show();
}

} // namespace rm
