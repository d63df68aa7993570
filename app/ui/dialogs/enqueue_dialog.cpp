// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/enqueue_dialog.h"

#include "app/core/answer.h"
#include "app/core/launch/plan.h"
#include "app/core/queue/queue_order.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace rm {

namespace {

constexpr int kMostRung = 1'000'000'000;
constexpr int kAxisLines = 4;
constexpr int kPauseMs = 150;    ///< of typing, before the runs are made
constexpr size_t kMostNames = 6; ///< of runs that the preview lists

QSpinBox* makeNumber(int least, int most, int value, const char* objectName, const QString& name) {
    auto* box = new QSpinBox;
    box->setObjectName(objectName);
    box->setAccessibleName(name);
    box->setRange(least, most);
    box->setValue(value);
    return box;
}

} // namespace

EnqueueDialog::EnqueueDialog(const AppContext& context, RunSpec spec, std::vector<Placement> nodes,
                             QWidget* parent)
    : Sheet(tr("Launch when nodes are free"),
            tr("What is put into the queue starts in its order, while Ringmaster is open. With "
               "settings that vary it becomes a sweep, a run for each choice."),
            "enqueueDialog", parent)
    , m_context(context)
    , m_spec(std::move(spec))
    , m_nodes(std::move(nodes))
    , m_take(makeNumber(1, std::max(1, static_cast<int>(m_nodes.size())),
                        static_cast<int>(m_nodes.size()), "takeNodes", tr("Nodes a run takes")))
    , m_axes(new QPlainTextEdit)
    , m_samples(
          makeNumber(0, static_cast<int>(kMostSweepRuns), 0, "sweepSamples", tr("Choices to try")))
    , m_seed(makeNumber(1, kMostRung, 1, "sweepSeed", tr("Seed of the choices")))
    , m_firstRung(makeNumber(0, kMostRung, 0, "firstRung", tr("Steps before the first comparison")))
    , m_eta(makeNumber(2, 100, 2, "sweepEta", tr("Of how many one goes on")))
    , m_anyway(new QCheckBox(tr("Also where a node seems to have too little memory")))
    , m_preview(makeText({}, "bodySecondary")) {
    setWantedWidth(size::kTableDialogWidth);
    buildFields();
    addCancel();
    m_confirm = addButton(tr("Put into the queue"), "primary", "enqueueConfirm");
    m_confirm->setDefault(true);
    for (QSpinBox* box : {m_take, m_samples, m_seed, m_firstRung, m_eta})
        connect(box, &QSpinBox::valueChanged, this, &EnqueueDialog::refresh);
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &EnqueueDialog::expand);
    connect(m_axes, &QPlainTextEdit::textChanged, this, &EnqueueDialog::refresh);
    connect(m_confirm, &QPushButton::clicked, this, &EnqueueDialog::submit);
    refresh();
    m_axes->setFocus();
}

void EnqueueDialog::buildFields() {
    m_axes->setObjectName("sweepAxes");
    m_axes->setAccessibleName(tr("Settings that vary"));
    const auto number = [](double value) { return QString::fromStdString(plainNumber(value)); };
    m_axes->setPlaceholderText(
        tr("A setting a line, or none for one run:\nlr = %1..%2/5\nbatch_size = 8, 16, 32")
            .arg(number(m_spec.optimizer.lr), number(4 * m_spec.optimizer.lr)));
    m_axes->setTabChangesFocus(true);
    m_axes->setFixedHeight(m_axes->fontMetrics().lineSpacing() * kAxisLines + 4 * size::kGrid);
    m_take->setToolTip(tr("As many of the chosen nodes as a run trains on: those that are free "
                          "first"));
    m_samples->setSpecialValueText(tr("All"));
    m_samples->setToolTip(tr("As many random choices, or all combinations"));
    m_firstRung->setSpecialValueText(tr("No: all train to their end"));
    m_firstRung->setToolTip(tr("Successive halving: after so many steps all pause, the better "
                               "ones go on, and are compared again later"));
    m_eta->setPrefix(tr("1 of "));
    m_preview->setObjectName("sweepPreview");
    auto* form = new QFormLayout;
    form->setSpacing(2 * size::kGrid);
    form->addRow(tr("Settings that vary"), m_axes);
    form->addRow(tr("Choices to try"), m_samples);
    form->addRow(tr("Seed of the choices"), m_seed);
    form->addRow(tr("Compare after steps"), m_firstRung);
    form->addRow(tr("Then goes on"), m_eta);
    form->addRow(tr("Nodes a run takes"), m_take);
    m_anyway->setObjectName("enqueueAnyway");
    content()->addLayout(form);
    content()->addWidget(m_anyway);
    content()->addWidget(m_preview);
}

/// Without axes: one run.
Result<SweepPlan> EnqueueDialog::plan() const {
    SweepPlan plan;
    plan.samples = m_samples->value();
    plan.seed = m_seed->value();
    plan.firstRung = m_firstRung->value();
    plan.eta = m_eta->value();
    for (const QString& line : m_axes->toPlainText().split('\n', Qt::SkipEmptyParts)) {
        if (line.trimmed().isEmpty())
            continue;
        RM_ASSIGN_OR_RETURN(auto axis, parseSweepAxis(line.trimmed().toStdString()));
        plan.axes.push_back(std::move(axis));
    }
    return plan;
}

void EnqueueDialog::refresh() {
    const auto wanted = plan();
    const bool isSweep = wanted && !wanted->axes.empty();
    m_samples->setEnabled(isSweep);
    m_seed->setEnabled(isSweep && m_samples->value() > 0);
    m_firstRung->setEnabled(isSweep);
    m_eta->setEnabled(isSweep && m_firstRung->value() > 0);
    m_confirm->setEnabled(false);
    m_pause.start();
}

/// A large sweep takes a moment.
void EnqueueDialog::expand() {
    const auto wanted = plan();
    if (!wanted)
        return show(tl::unexpected(wanted.error()));
    const auto expanded =
        QtConcurrent::run([spec = m_spec, sweep = *wanted] { return runsOf(spec, sweep); });
    whenAnswered(expanded, this,
                 [this, number = ++m_expansion](const Result<std::vector<CheckedSpec>>& runs) {
                     if (number == m_expansion && !m_pause.isActive())
                         show(runs);
                 });
}

void EnqueueDialog::show(const Result<std::vector<CheckedSpec>>& runs) {
    m_runs = runs.value_or(std::vector<CheckedSpec>());
    setStyleProperty(m_preview, "role", runs ? "bodySecondary" : "bad");
    QStringList names;
    for (size_t i = 0; i < std::min(m_runs.size(), kMostNames); ++i)
        names << QString::fromStdString(m_runs[i]->name);
    if (m_runs.size() > kMostNames)
        names << tr("and %1 more").arg(m_runs.size() - kMostNames);
    m_preview->setText(
        runs ? counted(static_cast<int64_t>(m_runs.size()), tr("1 run"), tr("%1 runs")) + ":\n" +
                   names.join('\n')
             : QString::fromStdString(runs.error().message));
    m_confirm->setEnabled(!m_runs.empty());
}

void EnqueueDialog::submit() {
    const auto sweep = plan();
    if (!sweep || m_runs.empty())
        return;
    EnqueueRequest request{m_spec, *sweep, {}, {}, {}};
    for (const CheckedSpec& run : m_runs)
        request.runs.push_back(QString::fromStdString(newRunId(run->name)));
    request.place = queuedPlace(m_nodes, m_take->value(), m_anyway->isChecked());
    if (!sweep->axes.empty())
        request.sweepId = QString::fromStdString(newRunId(m_spec.name));
    m_confirm->setEnabled(false);
    const QStringList runs(request.runs.begin(), request.runs.end());
    whenAnswered(m_context.engine.ask(request), this, [this, runs](const Result<void>& done) {
        m_context.runs.refresh();
        if (done) {
            accept();
            Q_EMIT enqueued(runs);
            return;
        }
        m_confirm->setEnabled(true);
        setStyleProperty(m_preview, "role", "bad");
        m_preview->setText(QString::fromStdString(done.error().message));
    });
}

} // namespace rm
