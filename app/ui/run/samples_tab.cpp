// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/samples_tab.h"

#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "shared/io/clock.h"

#include <QHBoxLayout>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kListWidth = 220;
} // namespace

SamplesTab::SamplesTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
}

void SamplesTab::buildUi() {
    m_list = new QListWidget;
    m_list->setObjectName("samplesList");
    m_list->setAccessibleName(tr("Samples"));
    m_list->setFrameShape(QFrame::NoFrame);
    auto* left = new Card;
    left->setFixedWidth(kListWidth);
    left->body()->setContentsMargins(size::kGrid, size::kGrid, size::kGrid, size::kGrid);
    left->body()->addWidget(m_list);
    m_title = makeLabel({}, "cardTitle");
    m_text = new QPlainTextEdit;
    m_text->setProperty("role", "bare");
    m_text->setObjectName("sampleText");
    m_text->setAccessibleName(tr("Generated text"));
    m_text->setReadOnly(true);
    auto* right = new Card;
    right->body()->addWidget(m_title);
    right->body()->addWidget(m_text, 1);
    auto* content = new QWidget;
    auto* row = new QHBoxLayout(content);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kCardGap);
    row->addWidget(left);
    row->addWidget(right, 1);
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

void SamplesTab::wire() {
    connect(&m_puller, &Puller::pull, this, &SamplesTab::pull);
    connect(m_list, &QListWidget::currentRowChanged, this, &SamplesTab::showChosen);
}

void SamplesTab::setRun(const QString& run) {
    m_run = run;
    m_samples.clear();
    m_list->clear();
    m_stack->setCurrentIndex(1);
    m_puller.restart();
}

void SamplesTab::refresh() {
    if (isVisible())
        m_puller.request();
}

void SamplesTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
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

void SamplesTab::apply(const std::vector<StepSample>& samples) {
    if (samples == m_samples)
        return;
    const bool atNewest = m_list->currentRow() <= 0;
    const int fromEnd = static_cast<int>(m_samples.size()) - m_list->currentRow();
    m_samples = samples;
    m_list->clear();
    for (const StepSample& sample : samples) {
        m_list->addItem(
            tr("step %1   %2")
                .arg(formatCount(sample.step), formatRelative(sample.wallNs, wallNowNs())));
        if (sample.retiredBy != 0)
            m_list->item(m_list->count() - 1)->setForeground(colours().faint);
    }
    m_stack->setCurrentIndex(samples.empty() ? 1 : 0);
    m_list->setCurrentRow(atNewest ? 0 : static_cast<int>(samples.size()) - fromEnd);
}

void SamplesTab::showChosen(int row) {
    if (row < 0 || row >= static_cast<int>(m_samples.size()))
        return;
    const StepSample& sample = m_samples[static_cast<size_t>(row)];
    const QString step = formatCount(sample.step);
    m_title->setText(
        sample.retiredBy == 0
            ? tr("Written at step %1").arg(step)
            : tr("Written at step %1; set aside by attempt %2").arg(step).arg(sample.retiredBy));
    m_text->setPlainText(QString::fromStdString(sample.text));
}

} // namespace rm
