// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/samples_tab.h"

#include "app/core/answer.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/run/beside_view.h"
#include "app/ui/run/picture_view.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "shared/io/clock.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kListWidth = 220;
constexpr size_t kMostColumns = 4;

/// The newest sample of the living line at this step; else the newest of all; nullptr: none.
const StepSample* sampleAt(const std::vector<StepSample>& samples, int64_t step) {
    const StepSample* newest = nullptr;
    for (const StepSample& sample : samples) {
        if (sample.retiredBy != 0)
            continue;
        if (sample.step == step)
            return &sample;
        newest = newest ? newest : &sample;
    }
    return newest;
}

} // namespace

SamplesTab::SamplesTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
}

void SamplesTab::buildUi() {
    auto* content = new QWidget;
    auto* row = new QHBoxLayout(content);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kCardGap);
    row->addWidget(buildList());
    row->addWidget(buildViews(), 1);
    m_stack = new QStackedWidget;
    m_stack->addWidget(content);
    m_stack->addWidget(
        new EmptyState(tr("No sample yet"), tr("The model writes a few lines at each validation, "
                                               "and whenever a sample is asked for; they come to "
                                               "stand here.")));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
}

QWidget* SamplesTab::buildList() {
    m_list = new QListWidget;
    m_list->setObjectName("samplesList");
    m_list->setAccessibleName(tr("Samples"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setToolTip(tr("Choose several steps with Ctrl or Shift to see them side by side"));
    m_other = new QComboBox;
    m_other->setObjectName("samplesOther");
    m_other->setAccessibleName(tr("Another run beside this one"));
    m_other->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    auto* left = new Card;
    left->setFixedWidth(kListWidth);
    left->body()->setContentsMargins(size::kGrid, size::kGrid, size::kGrid, size::kGrid);
    left->body()->addWidget(m_list, 1);
    left->body()->addWidget(m_other);
    return left;
}

QWidget* SamplesTab::buildViews() {
    m_title = new ElidedLabel({}, "cardTitle");
    m_text = new QPlainTextEdit;
    m_text->setProperty("role", "bare");
    m_text->setObjectName("sampleText");
    m_text->setAccessibleName(tr("Generated text"));
    m_text->setReadOnly(true);
    m_beside = new BesideView;
    m_pictures = new PictureView;
    m_views = new QStackedWidget;
    m_views->addWidget(m_text);
    m_views->addWidget(m_beside);
    m_views->addWidget(m_pictures);
    auto* right = new Card;
    right->body()->addWidget(m_title);
    right->body()->addWidget(m_views, 1);
    return right;
}

void SamplesTab::wire() {
    connect(&m_puller, &Puller::pull, this, &SamplesTab::pull);
    connect(m_list, &QListWidget::itemSelectionChanged, this, &SamplesTab::showChosen);
    connect(m_other, &QComboBox::currentIndexChanged, this, &SamplesTab::showChosen);
    connect(&m_context.runs, &RunsFeed::changed, this, [this] {
        if (isVisible())
            offerRuns();
    });
}

void SamplesTab::setRun(const QString& run) {
    m_run = run;
    ++m_requests;
    m_samples.clear();
    m_list->clear();
    offerRuns();
    m_stack->setCurrentIndex(1);
    m_puller.restart();
}

/// The other runs, the newest first, as the list of runs has them.
void SamplesTab::offerRuns() {
    std::vector<std::pair<QString, QString>> offered{{QString(), tr("No other run")}};
    for (const RunSummary& run : m_context.runs.runs())
        if (run.id != m_run)
            offered.emplace_back(run.id, tr("Beside %1 (%2)").arg(run.name, run.id));
    std::vector<std::pair<QString, QString>> shown;
    for (int at = 0; at < m_other->count(); ++at)
        shown.emplace_back(m_other->itemData(at).toString(), m_other->itemText(at));
    if (offered == shown) // mostly, as the list changes with every step of a run
        return;
    const QSignalBlocker quiet(m_other);
    const QString before = m_other->currentData().toString();
    m_other->clear();
    for (const auto& [id, text] : offered)
        m_other->addItem(text, id);
    m_other->setCurrentIndex(std::max(0, m_other->findData(before)));
}

void SamplesTab::setSpan(const std::optional<StepSpan>& span) {
    const bool isChosen = !showsNewest();
    m_span = span;
    if (!isChosen && !m_samples.empty())
        m_list->setCurrentRow(rowOfSpan());
}

/// Nobody has chosen another one.
bool SamplesTab::showsNewest() const {
    const auto rows = m_list->selectionModel()->selectedRows();
    return rows.empty() || (rows.size() == 1 && rows.front().row() == rowOfSpan());
}

/// Of the living line in the span if it has one, otherwise of all: they come newest first.
int SamplesTab::rowOfSpan() const {
    const auto found = std::ranges::find_if(m_samples, [this](const StepSample& sample) {
        return m_span && sample.retiredBy == 0 && m_span->holds(sample.step);
    });
    return found == m_samples.end() ? 0 : static_cast<int>(found - m_samples.begin());
}

void SamplesTab::refresh() {
    if (isVisible())
        m_puller.request();
}

void SamplesTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    offerRuns();
    m_puller.request();
}

void SamplesTab::pull() {
    if (m_run.isEmpty())
        return;
    m_puller.await(m_context.store.ask([run = m_run](StoreReader& reader) {
        return samplesByStep(reader.samples(run));
    }),
                   this, [this](const std::vector<StepSample>& samples) { apply(samples); });
}

/// Keeps what a person chose; who looks at the newest alone (of the span) goes on to each that is
/// newer.
void SamplesTab::apply(const std::vector<StepSample>& samples) {
    if (samples == m_samples)
        return;
    const auto chosenRows = m_list->selectionModel()->selectedRows();
    const bool atNewest = showsNewest();
    const int added = static_cast<int>(samples.size()) - static_cast<int>(m_samples.size());
    m_samples = samples;
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const StepSample& sample : samples) {
        m_list->addItem(
            tr("step %1   %2")
                .arg(formatCount(sample.step), formatRelative(sample.wallNs, wallNowNs())));
        if (sample.retiredBy != 0)
            m_list->item(m_list->count() - 1)->setForeground(colours().faint);
    }
    m_stack->setCurrentIndex(samples.empty() ? 1 : 0);
    if (atNewest && m_list->count() > 0)
        m_list->setCurrentRow(rowOfSpan());
    else
        for (const QModelIndex& index : chosenRows)
            if (auto* item = m_list->item(index.row() + added))
                item->setSelected(true);
    showChosen();
}

/// The chosen steps from the oldest on, then the other run's.
std::vector<SamplesTab::Column> SamplesTab::chosen() const {
    std::vector<Column> columns;
    for (int row = m_list->count() - 1; row >= 0; --row) {
        if (!m_list->item(row)->isSelected() || columns.size() == kMostColumns)
            continue;
        const StepSample& sample = m_samples[static_cast<size_t>(row)];
        const QString step = formatCount(sample.step);
        columns.push_back(
            {m_run,
             sample.retiredBy == 0
                 ? tr("step %1").arg(step)
                 : tr("step %1, set aside by attempt %2").arg(step).arg(sample.retiredBy),
             sample.attempt, sample.step});
    }
    return columns;
}

void SamplesTab::showChosen() {
    const int question = ++m_requests;
    const auto columns = chosen();
    if (columns.empty())
        return;
    const QString other = m_other->currentData().toString();
    const QString otherTitle = tr("step %1 of %2");
    const auto steps = m_list->selectedItems().size();
    const auto read = [columns, other, otherTitle, steps](StoreReader& reader) {
        Shown shown;
        shown.steps = steps;
        std::vector<std::vector<SampleText>> samples;
        for (const Column& column : columns) {
            shown.titles << column.title;
            samples.push_back(reader.samplesAt(column.run, column.attempt, column.step));
        }
        const auto theirs =
            other.isEmpty() ? std::vector<StepSample>() : samplesByStep(reader.samples(other));
        if (const StepSample* beside = sampleAt(theirs, columns.back().step)) {
            shown.titles << otherTitle.arg(formatCount(beside->step), other);
            samples.push_back(reader.samplesAt(other, beside->attempt, beside->step));
        }
        shown.rows = sampleRows(samples);
        for (const StoredConfusion& each : reader.confusions(columns.front().run))
            if (each.attempt == columns.front().attempt && each.matrix.step == columns.front().step)
                shown.confusion = each.matrix;
        return shown;
    };
    whenAnswered(m_context.store.ask(read), this, [this, question](const Shown& shown) {
        if (question == m_requests)
            show(shown);
    });
}

void SamplesTab::show(const Shown& shown) {
    if (shown.rows.empty())
        return;
    const bool isOne = shown.titles.size() == 1;
    const auto most = static_cast<qsizetype>(kMostColumns);
    m_title->setFullText(isOne ? tr("Written at %1").arg(shown.titles.front())
                         : shown.steps > most
                             ? tr("Side by side, the first %1 of %2 chosen steps: %3")
                                   .arg(most)
                                   .arg(formatCount(shown.steps), shown.titles.join(", "))
                             : tr("Side by side: %1").arg(shown.titles.join(", ")));
    const SampleRow& first = shown.rows.front();
    if (first.kind == SampleKind::kPicture) {
        m_pictures->show(shown.rows, shown.titles, shown.confusion);
        m_views->setCurrentWidget(m_pictures);
    } else if (isOne && first.kind == SampleKind::kText) {
        QStringList texts;
        for (const SampleRow& row : shown.rows)
            texts << QString::fromStdString(sampleWords(*row.of.front()));
        m_text->setPlainText(texts.join("\n\n"));
        m_views->setCurrentWidget(m_text);
    } else {
        m_beside->show(shown.rows, shown.titles);
        m_views->setCurrentWidget(m_beside);
    }
}

} // namespace rm
