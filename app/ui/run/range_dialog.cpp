// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/range_dialog.h"

#include "app/ui/look/format.h"
#include "app/ui/widgets/label.h"

#include <QFormLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include <cmath>

namespace rm {

RangeDialog::RangeDialog(const QString& chart, const std::optional<Range>& range,
                         const Range& shown, QWidget* parent)
    : Sheet(tr("Vertical axis of %1").arg(chart),
            tr("Empty fields let the axis follow the values, as it does at first."), "rangeDialog",
            parent)
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
    prepare(*m_low, "rangeLow", tr("From"), range ? std::optional(range->first) : std::nullopt,
            shown.first);
    prepare(*m_high, "rangeHigh", tr("To"), range ? std::optional(range->second) : std::nullopt,
            shown.second);
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
    const QString low = m_low->text().trimmed(), high = m_high->text().trimmed();
    if (low.isEmpty() && high.isEmpty()) {
        Q_EMIT confirmed(std::nullopt);
        return accept();
    }
    bool isLow = false, isHigh = false;
    const double from = low.toDouble(&isLow), to = high.toDouble(&isHigh);
    if (isLow && isHigh && std::isfinite(from) && std::isfinite(to) && from < to) {
        Q_EMIT confirmed(Range(from, to));
        return accept();
    }
    m_problem->setText(tr("Type two numbers, the smaller one first, as 0.5 and 3; or none"));
    m_problem->show();
}

} // namespace rm
