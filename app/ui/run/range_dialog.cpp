// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/range_dialog.h"

#include "app/ui/look/format.h"
#include "app/ui/widgets/label.h"

#include <QFormLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include <cmath>

namespace rm {

RangeDialog::RangeDialog(const QString& chart, const AxisRange& range,
                         const std::pair<double, double>& shown, QWidget* parent)
    : Sheet(tr("Vertical axis of %1").arg(chart),
            tr("An end that is left empty follows the values, as both do at first. So does one of "
               "0 or "
               "below on a logarithmic axis."),
            "rangeDialog", parent)
    , m_low(new QLineEdit)
    , m_high(new QLineEdit)
    , m_problem(makeText({}, "bad")) {
    const auto prepare = [](QLineEdit& field, const char* name, const QString& words,
                            std::optional<double> value, double placeholder) {
        field.setObjectName(name);
        field.setAccessibleName(words);
        field.setPlaceholderText(QString::number(placeholder, 'g', 4));
        if (value)
            field.setText(QString::number(*value, 'g', 12));
    };
    prepare(*m_low, "rangeLow", tr("From"), range.low, shown.first);
    prepare(*m_high, "rangeHigh", tr("To"), range.high, shown.second);
    auto* form = new QFormLayout;
    form->addRow(tr("From"), m_low);
    form->addRow(tr("To"), m_high);
    content()->addLayout(form);
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    QPushButton* confirm = addButton(tr("Set"), "primary", "rangeConfirm");
    confirm->setDefault(true);
    connect(confirm, &QPushButton::clicked, this, &RangeDialog::submit);
    for (QLineEdit* field : {m_low, m_high})
        connect(field, &QLineEdit::returnPressed, this, &RangeDialog::submit);
}

void RangeDialog::submit() {
    bool isGood = true;
    const auto endIn = [&isGood](const QLineEdit& field) -> std::optional<double> {
        const QString text = field.text().trimmed();
        bool isNumber = false;
        const double number = text.toDouble(&isNumber);
        isGood = isGood && (text.isEmpty() || (isNumber && std::isfinite(number)));
        return text.isEmpty() ? std::nullopt : std::optional(number);
    };
    const AxisRange range{endIn(*m_low), endIn(*m_high)};
    if (isGood && (!range.low || !range.high || *range.low < *range.high)) {
        Q_EMIT confirmed(range);
        return accept();
    }
    m_problem->setText(tr("Type numbers, the smaller one first, as 0.5 and 3"));
    m_problem->show();
}

} // namespace rm
