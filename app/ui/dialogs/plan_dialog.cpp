// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/plan_dialog.h"

#include "app/ui/look/theme.h"

#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kTextHeight = 260;
}

PlanDialog::PlanDialog(const QString& plan, const QString& toml, bool mayForecast, QWidget* parent)
    : Sheet(tr("What will run"), plan, "planDialog", parent) {
    setWantedWidth(size::kTableDialogWidth);
    auto* text = new QPlainTextEdit(toml);
    text->setReadOnly(true);
    text->setMinimumHeight(kTextHeight);
    text->setAccessibleName(tr("The whole spec, with every default"));
    content()->addWidget(text);
    QPushButton* forecast = addButton(tr("Forecast…"), "", "forecastSteps");
    forecast->setEnabled(mayForecast);
    forecast->setToolTip(mayForecast ? tr("Measure what a step would take on one and on several "
                                          "of these nodes")
                                     : tr("For two nodes or more"));
    connect(forecast, &QPushButton::clicked, this, &PlanDialog::forecastRequested);
    QPushButton* close = addButton(tr("Close"), "primary", "closePlan");
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
}

} // namespace rm
