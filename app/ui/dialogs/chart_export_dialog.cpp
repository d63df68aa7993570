// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/chart_export_dialog.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/widgets/label.h"
#include "shared/metrics/metric_title.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

/// nullopt: it is no step; an empty field is the end of the run.
std::optional<std::optional<int64_t>> stepIn(const QLineEdit& field) {
    const QString text = field.text().trimmed();
    if (text.isEmpty())
        return std::optional<int64_t>();
    bool isNumber = false;
    const qlonglong step = text.toLongLong(&isNumber);
    if (!isNumber || step < 0)
        return std::nullopt;
    return std::optional<int64_t>(step);
}

} // namespace

ChartExportDialog::ChartExportDialog(const ChartPanel& panel, const StepSpan& shown,
                                     QWidget* parent)
    : Sheet(tr("Export the chart"),
            tr("%1: as a picture of what the chart draws, or as numbers: every sample, in a table "
               "with a line each.")
                .arg(panel.title),
            "chartExportDialog", parent) {
    buildUi(panel, shown);
    connect(m_confirm, &QPushButton::clicked, this, &ChartExportDialog::submit);
    for (QLineEdit* field : {m_first, m_last}) {
        connect(field, &QLineEdit::textChanged, this, &ChartExportDialog::check);
        connect(field, &QLineEdit::returnPressed, this, &ChartExportDialog::submit);
    }
    check();
}

void ChartExportDialog::buildUi(const ChartPanel& panel, const StepSpan& shown) {
    m_format = new QComboBox;
    m_format->setObjectName("chartExportFormat");
    m_format->setAccessibleName(tr("Format"));
    for (const PictureFormat format : kPictureFormats)
        m_format->addItem(pictureFormatWords(format));
    m_format->addItem(tr("CSV, numbers"));
    const auto makeField = [](const char* name, const QString& words, const QString& placeholder) {
        auto* field = new QLineEdit;
        field->setObjectName(name);
        field->setAccessibleName(words);
        field->setPlaceholderText(placeholder);
        return field;
    };
    m_first = makeField("chartExportFirst", tr("From step"), tr("the first"));
    m_last = makeField("chartExportLast", tr("To step"), tr("the last"));
    if (shown.first > 0)
        m_first->setText(QString::number(shown.first));
    if (shown.last != StepSpan::kLast)
        m_last->setText(QString::number(shown.last));
    auto* form = new QFormLayout;
    form->addRow(tr("Format"), m_format);
    form->addRow(tr("From step"), m_first);
    form->addRow(tr("To step"), m_last);
    content()->addLayout(form);
    for (const MetricDef& metric : panel.metrics) {
        auto* box = new QCheckBox(QString::fromStdString(titleOf(metric)));
        box->setObjectName("chartExport." + QString::fromStdString(metric.name));
        box->setAccessibleName(box->text());
        box->setToolTip(asHtml(QString::fromStdString(metric.name + ": " + metric.description)));
        box->setChecked(true);
        box->setVisible(panel.metrics.size() > 1);
        connect(box, &QCheckBox::toggled, this, &ChartExportDialog::check);
        m_metrics.emplace_back(metric.name, box);
        content()->addWidget(box);
    }
    m_problem = makeText({}, "bad");
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = addButton(tr("Choose a file…"), "primary", "chartExportConfirm");
    m_confirm->setDefault(true);
}

std::set<std::string> ChartExportDialog::chosenMetrics() const {
    std::set<std::string> names;
    for (const auto& [name, box] : m_metrics)
        if (box->isChecked())
            names.insert(name);
    return names;
}

/// Says what keeps the file from being written.
void ChartExportDialog::check() {
    const auto first = stepIn(*m_first), last = stepIn(*m_last);
    const bool isRange = first && last && (!*first || !*last || **first <= **last);
    QString problem;
    if (!isRange)
        problem = tr("Steps are whole numbers from 0, the smaller one first, as 100 and 2000");
    else if (chosenMetrics().empty())
        problem = tr("Choose a metric");
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_confirm->setEnabled(problem.isEmpty());
}

void ChartExportDialog::submit() {
    if (!m_confirm->isEnabled())
        return;
    ChartExport chosen;
    if (const int at = m_format->currentIndex(); at <= static_cast<int>(PictureFormat::kPdf))
        chosen.picture = static_cast<PictureFormat>(at);
    chosen.metrics = chosenMetrics();
    chosen.first = *stepIn(*m_first);
    chosen.last = *stepIn(*m_last);
    Q_EMIT confirmed(chosen);
    accept();
}

} // namespace rm
