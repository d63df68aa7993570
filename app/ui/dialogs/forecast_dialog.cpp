// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/forecast_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/findings/text.h"
#include "app/core/launch/forecast.h"
#include "app/ui/data/node_words.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kForecastRows = 8; ///< in sight

QString namesOf(const std::vector<Placement>& nodes) {
    std::vector<std::string> names;
    for (const Placement& placement : nodes)
        names.push_back(nodeTitle(placement.node.toStdString()).toStdString());
    return QString::fromStdString(someOf(names));
}

QString stepTime(double ms) {
    return ForecastDialog::tr("%1 ms").arg(ms, 0, 'f', ms < 10 ? 1 : 0);
}

QString perSecond(double samples) {
    return QString::number(samples, 'f', samples < 10 ? 2 : samples < 100 ? 1 : 0);
}

} // namespace

ForecastDialog::ForecastDialog(const AppContext& context, const RunSpec& spec,
                               const std::vector<Placement>& nodes, QWidget* parent)
    : Sheet(tr("Forecast"),
            tr("The trainer makes some steps of this spec on one rank of the first node and sums "
               "numbers between all ranks, about fifteen seconds in all, on %1. From both follows "
               "what a step would take on several nodes. The trainer is sent first where it is "
               "missing.")
                .arg(namesOf(nodes)),
            "forecastDialog", parent)
    , m_context(context)
    , m_spec(spec)
    , m_nodes(nodes)
    , m_rows(new QStandardItemModel(0, 6, this))
    , m_table(new Table("forecastTable", tr("What a step would take")))
    , m_text(makeText({}, "bodySecondary")) {
    m_rows->setHorizontalHeaderLabels(
        {tr("Nodes"), tr("Ranks"), tr("Step"), tr("Waits"), tr("Samples/s"), tr("Speed-up")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({56, 56, 72, 72, 80, 0});
    m_table->setRowsInSight(kForecastRows);
    m_table->hide();
    m_text->setObjectName("forecastText");
    content()->addWidget(m_table);
    content()->addWidget(m_text);
    m_measure = addButton(tr("Measure"), "primary", "forecastMeasure");
    m_close = addButton(tr("Close"), "", "closeForecast");
    connect(m_close, &QPushButton::clicked, this, [this] { m_running ? stop() : reject(); });
    connect(m_measure, &QPushButton::clicked, this, &ForecastDialog::measure);
    connect(this, &QDialog::finished, this, &ForecastDialog::stop);
    connect(&m_context.engine, &Engine::progressed, this,
            [this](const QString& id, const Progress& progress) {
                if (m_running && id == trialId(*m_running))
                    m_text->setText(m_doing + ' ' + progressWords(progress));
            });
}

void ForecastDialog::say(const QString& text, bool isMeasuring) {
    m_text->setText(text);
    m_measure->setEnabled(!isMeasuring);
    m_close->setText(isMeasuring ? tr("Cancel") : tr("Close"));
    m_close->setAccessibleName(m_close->text());
}

void ForecastDialog::measure() {
    m_isCancelled = false;
    m_doing = tr("Measuring a step.");
    say(m_doing, true);
    tryOut(stepProfileTrial(m_spec, m_nodes),
           [this](const Result<QString>& answer) { takeProfile(answer); });
}

void ForecastDialog::tryOut(const NodeTrial& trial,
                            std::function<void(const Result<QString>&)> take) {
    m_running = trial;
    whenAnswered(m_context.engine.ask(TrialRequest{trial}), this,
                 [this, take = std::move(take)](const Result<QString>& answer) {
                     m_running.reset();
                     take(answer);
                 });
}

void ForecastDialog::sayWhy(const Error& error) {
    say(m_isCancelled ? tr("Cancelled.") : capitalized(error.message) + '.', false);
}

void ForecastDialog::stop() {
    if (!m_running)
        return;
    m_isCancelled = true;
    m_text->setText(tr("Cancelling…"));
    m_context.engine.ask(StopTrialRequest{*m_running});
}

void ForecastDialog::takeProfile(const Result<QString>& answer) {
    const auto profile = answer.and_then([](const QString& json) {
        return parseStepProfile(json.toStdString(), "the step profile");
    });
    if (!profile)
        return sayWhy(profile.error());
    m_doing = tr("Measuring the links.");
    say(m_doing, true);
    tryOut(linkTrial(m_spec, m_nodes),
           [this, profile = *profile](const Result<QString>& links) { takeLinks(profile, links); });
}

void ForecastDialog::takeLinks(const StepProfile& profile, const Result<QString>& answer) {
    const auto test = answer.and_then([](const QString& json) {
        return parseLinkTest(json.toStdString(), "the all-reduce test");
    });
    if (!test)
        return sayWhy(test.error());
    const auto forecasts = forecastNodes(profile, m_spec, *test);
    m_rows->setRowCount(0);
    for (size_t i = 0; i < forecasts.size(); ++i) {
        const StepForecast& at = forecasts[i];
        QList<QStandardItem*> row;
        for (const QString& text :
             {formatCount(at.nodes), formatCount(at.ranks), stepTime(at.stepMs),
              stepTime(at.waitMs), perSecond(at.samplesPerSec),
              QString::number(speedUp(forecasts, i), 'f', 2)}) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
        }
        m_rows->appendRow(row);
    }
    m_table->setVisible(!forecasts.empty());
    QStringList sentences;
    for (const std::string& sentence : forecastWords(profile, m_spec, *test))
        sentences << capitalized(sentence) + '.';
    say(sentences.join('\n'), false);
}

} // namespace rm
