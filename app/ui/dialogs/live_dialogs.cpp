// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/live_dialogs.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/live_settings.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kMostSteps = 1'000'000;

QString valueText(double value) {
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

} // namespace

SetDialog::SetDialog(const QString& run, RunSpec now, QWidget* parent)
    : Sheet(tr("Change a setting of %1").arg(run),
            tr("A checkpoint is written first; then all ranks go on with the new value from the "
               "same step. Later checkpoints keep it, the spec does not change."),
            "setDialog", parent)
    , m_now(std::move(now))
    , m_key(new QComboBox)
    , m_value(new QLineEdit)
    , m_problem(makeText(QString(), "bad")) {
    m_key->setObjectName("settingKey");
    m_key->setAccessibleName(tr("Setting"));
    for (const std::string_view key : liveKeys())
        m_key->addItem(QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())));
    m_key->setCurrentText("optimizer.lr"); // what most people come for
    m_value->setObjectName("settingValue");
    m_value->setAccessibleName(tr("New value"));
    m_problem->setObjectName("settingProblem");
    auto* form = new QFormLayout;
    form->setSpacing(2 * size::kGrid);
    form->addRow(tr("Setting"), m_key);
    form->addRow(tr("New value"), m_value);
    content()->addLayout(form);
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = addButton(tr("Change"), "primary", "setConfirm");
    m_confirm->setDefault(true);
    connect(m_key, &QComboBox::currentIndexChanged, this, &SetDialog::showKey);
    connect(m_value, &QLineEdit::textChanged, this, &SetDialog::check);
    connect(m_confirm, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT chosen(m_key->currentText().toStdString(), m_value->text().trimmed().toStdString());
    });
    showKey();
    m_value->setFocus();
}

void SetDialog::showKey() {
    m_value->setText(valueText(liveValue(m_now, m_key->currentText().toStdString())));
    m_value->selectAll();
    check();
}

/// Offers what the ranks would take and is not so already.
void SetDialog::check() {
    const std::string key = m_key->currentText().toStdString();
    RunSpec then = m_now;
    const auto changed = changeSetting(then, key, m_value->text().trimmed().toStdString());
    m_problem->setText(changed ? QString() : QString::fromStdString(changed.error().message));
    m_problem->setVisible(!changed);
    m_confirm->setEnabled(changed && liveValue(then, key) != liveValue(m_now, key));
}

StepDialog::StepDialog(const QString& run, QWidget* parent)
    : Sheet(tr("Step %1").arg(run), tr("The ranks do so many steps and hold again."), "stepDialog",
            parent)
    , m_steps(new QSpinBox)
    , m_problem(makeText(QString(), "bad")) {
    m_steps->setObjectName("stepCount");
    m_steps->setAccessibleName(tr("Steps"));
    m_steps->setRange(0, kMostSteps); // 0 can be typed, or it would silently become 1
    m_steps->setValue(1);
    m_problem->setObjectName("stepProblem");
    m_problem->setText(tr("A whole number from 1 to %1").arg(kMostSteps));
    m_problem->hide();
    content()->addWidget(m_steps);
    content()->addWidget(m_problem);
    addCancel();
    QPushButton* confirm = addButton(tr("Step"), "primary", "stepConfirm");
    confirm->setDefault(true);
    connect(m_steps, &QSpinBox::valueChanged, this, [this, confirm](int steps) {
        confirm->setEnabled(steps > 0);
        m_problem->setVisible(steps == 0);
    });
    connect(confirm, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT chosen(m_steps->value());
    });
    m_steps->setFocus();
    m_steps->selectAll();
}

} // namespace rm
