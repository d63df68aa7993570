// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/own_chart_dialog.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/widgets/label.h"
#include "shared/metrics/metric_title.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <utility>

namespace rm {

namespace {

constexpr int kListRows = 9;
constexpr int kMostCurves = 32; ///< of one chart: more could not be told apart
constexpr int kName = Qt::UserRole;

/// All words of the search are in the title, the name or the description.
bool isFound(const QListWidgetItem& item, const QStringList& words) {
    const QString text =
        item.text() + ' ' + item.data(kName).toString() + ' ' + item.data(kName + 1).toString();
    return std::ranges::all_of(
        words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

} // namespace

std::optional<std::vector<int>> ranksFrom(const QString& text, int count) {
    std::set<int> ranks;
    for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
        const QStringList ends = part.trimmed().split('-');
        bool isFirst = false, isLast = false;
        const int first = ends.front().trimmed().toInt(&isFirst);
        const int last = ends.back().trimmed().toInt(&isLast);
        if (ends.size() > 2 || !isFirst || !isLast || first < 0 || first > last || last >= count)
            return std::nullopt;
        for (int rank = first; rank <= last; ++rank)
            ranks.insert(rank);
    }
    return std::vector<int>(ranks.begin(), ranks.end());
}

QString ranksText(const std::vector<int>& ranks) {
    QStringList numbers;
    for (const int rank : ranks)
        numbers << QString::number(rank);
    return numbers.join(", ");
}

OwnChartDialog::OwnChartDialog(const std::vector<MetricDef>& metrics, int ranks, OwnChart chart,
                               QWidget* parent)
    : Sheet(chart.metrics.empty() ? tr("Add a chart") : tr("Edit the chart"),
            tr("Of anything that this run reports. The chart is there for all runs of this kind of "
               "model."),
            "ownChartDialog", parent)
    , m_ranks(ranks)
    , m_chart(std::move(chart)) {
    buildUi(metrics);
    connect(m_search, &QLineEdit::textChanged, this, &OwnChartDialog::filter);
    connect(m_list, &QListWidget::itemChanged, this, &OwnChartDialog::check);
    connect(m_shape, &QComboBox::currentIndexChanged, this, &OwnChartDialog::check);
    connect(m_whichRanks, &QLineEdit::textChanged, this, &OwnChartDialog::check);
    connect(m_confirm, &QPushButton::clicked, this, &OwnChartDialog::submit);
    check();
}

void OwnChartDialog::buildUi(const std::vector<MetricDef>& metrics) {
    m_search = new QLineEdit;
    m_search->setObjectName("ownChartSearch");
    m_search->setAccessibleName(tr("Search metrics"));
    m_search->setPlaceholderText(tr("Search metrics"));
    m_search->setClearButtonEnabled(true);
    m_list = new QListWidget;
    m_list->setObjectName("ownChartMetrics");
    m_list->setAccessibleName(tr("Metrics"));
    m_list->setUniformItemSizes(true);
    for (const MetricDef& metric : metrics) {
        auto* item = new QListWidgetItem(QString::fromStdString(titleOf(metric)), m_list);
        item->setData(kName, QString::fromStdString(metric.name));
        item->setData(kName + 1, QString::fromStdString(metric.description));
        item->setToolTip(asHtml(QString::fromStdString(metric.name + ": " + metric.description)));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        const bool isChosen =
            std::ranges::find(m_chart.metrics, metric.name) != m_chart.metrics.end();
        item->setCheckState(isChosen ? Qt::Checked : Qt::Unchecked);
    }
    m_list->setMinimumHeight(kListRows * m_list->sizeHintForRow(0));
    m_shape = new QComboBox;
    m_shape->setObjectName("ownChartShape");
    m_shape->setAccessibleName(tr("Shown as"));
    m_shape->addItems({tr("lines"), tr("least, median and most of all ranks"),
                       tr("ranks over time: a heat map of one metric")});
    m_shape->setCurrentIndex(static_cast<int>(m_chart.shape));
    m_whichRanks = new QLineEdit(ranksText(m_chart.ranks));
    m_whichRanks->setObjectName("ownChartRanks");
    m_whichRanks->setAccessibleName(tr("Ranks"));
    m_whichRanks->setPlaceholderText(m_ranks > 1 ? tr("as usual, or 0, 2-3") : tr("as usual"));
    m_title = new QLineEdit(QString::fromStdString(m_chart.title));
    m_title->setObjectName("ownChartTitle");
    m_title->setAccessibleName(tr("Title"));
    m_title->setPlaceholderText(tr("what it shows"));
    auto* form = new QFormLayout;
    form->addRow(tr("Shown as"), m_shape);
    form->addRow(tr("Ranks"), m_whichRanks);
    form->addRow(tr("Title"), m_title);
    m_problem = makeText({}, "bad");
    m_problem->hide();
    content()->addWidget(m_search);
    content()->addWidget(m_list, 1);
    content()->addLayout(form);
    content()->addWidget(m_problem);
    addCancel();
    m_confirm =
        addButton(m_chart.metrics.empty() ? tr("Add") : tr("Save"), "primary", "ownChartConfirm");
    m_confirm->setDefault(true);
}

void OwnChartDialog::filter(const QString& words) {
    const QStringList all = words.split(' ', Qt::SkipEmptyParts);
    for (int row = 0; row < m_list->count(); ++row)
        m_list->item(row)->setHidden(!isFound(*m_list->item(row), all));
}

std::vector<std::string> OwnChartDialog::chosen() const {
    std::vector<std::string> names;
    std::set<std::string> checked, listed;
    for (int row = 0; row < m_list->count(); ++row) {
        const std::string name = m_list->item(row)->data(kName).toString().toStdString();
        listed.insert(name);
        if (m_list->item(row)->checkState() == Qt::Checked)
            checked.insert(name);
    }
    // In the order in which they were chosen, with those that this run has not reported.
    for (const std::string& name : m_chart.metrics)
        if (checked.erase(name) > 0 || !listed.contains(name))
            names.push_back(name);
    names.insert(names.end(), checked.begin(), checked.end());
    return names;
}

std::optional<std::vector<int>> OwnChartDialog::ranks() const {
    return ranksFrom(m_whichRanks->text(), m_ranks);
}

/// Says what keeps the chart from being made.
void OwnChartDialog::check() {
    m_whichRanks->setEnabled(m_shape->currentIndex() == static_cast<int>(ChartShape::kLines));
    const auto names = chosen();
    const auto chosenRanks = m_whichRanks->isEnabled() ? ranks() : std::vector<int>();
    const size_t lines = names.size() * std::max<size_t>(1, chosenRanks ? chosenRanks->size() : 1);
    QString problem;
    if (!chosenRanks)
        problem = tr("Ranks are numbers from 0 to %1, as in 0, 1 or 0-1").arg(m_ranks - 1);
    else if (lines > kMostCurves)
        problem = tr("These are %1 lines, and a chart shows at most %2; choose fewer metrics or "
                     "ranks, or a band of all ranks")
                      .arg(lines)
                      .arg(kMostCurves);
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_confirm->setEnabled(problem.isEmpty() && !names.empty());
    m_confirm->setToolTip(names.empty() ? tr("Choose a metric first") : QString());
}

void OwnChartDialog::submit() {
    m_chart.metrics = chosen();
    m_chart.shape = static_cast<ChartShape>(m_shape->currentIndex());
    m_chart.ranks = m_chart.shape == ChartShape::kLines ? ranks().value_or(std::vector<int>())
                                                        : std::vector<int>();
    m_chart.title = m_title->text().trimmed().toStdString();
    Q_EMIT confirmed(m_chart);
    accept();
}

} // namespace rm
