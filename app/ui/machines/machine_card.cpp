// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/machine_card.h"

#include "app/core/findings/text.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace rm {

namespace {

Tone toneOf(MachineChip::Tone tone) {
    switch (tone) {
    case MachineChip::Tone::kNeutral:
        return Tone::kNeutral;
    case MachineChip::Tone::kGood:
        return Tone::kGood;
    case MachineChip::Tone::kWarn:
        return Tone::kWarn;
    case MachineChip::Tone::kBad:
        return Tone::kBad;
    }
    Q_UNREACHABLE();
}

QString lineOf(const std::vector<std::string>& parts) {
    return QString::fromStdString(joined(parts, kSeparator.toStdString()));
}

/// Why there are no figures, and what to do.
QString problemOf(const ShownMachine& machine) {
    QString text = capitalized(machine.why);
    if (!text.isEmpty() && !text.endsWith('.'))
        text += '.';
    if (!machine.fix.empty())
        text += (text.isEmpty() ? "" : " ") + capitalized(machine.fix) + '.';
    if (text.isEmpty() && machine.state == MachineState::kConnecting)
        text = MachineCard::tr("Connecting; its agent is sent if it is not there.");
    return text;
}

void showOrHide(QWidget* widget, bool isWanted) {
    if (widget->isHidden() == isWanted)
        widget->setVisible(isWanted);
}

} // namespace

MachineCard::MachineCard(const std::string& node, QWidget* parent)
    : Card(parent)
    , m_node(node) {
    buildUi();
}

void MachineCard::buildUi() {
    const QString title = nodeTitle(m_node);
    setObjectName("machineCard");
    setProperty("node", QString::fromStdString(m_node));
    setAccessibleName(title);
    body()->setContentsMargins(16, 12, 16, 12);
    body()->setSpacing(size::kGrid);
    auto* head = new QHBoxLayout;
    head->setSpacing(2 * size::kGrid);
    auto* name = makeLabel(title, "cardTitle");
    name->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    m_model = new ElidedLabel({}, "secondary");
    m_chip = new Chip;
    m_chip->setObjectName("machineChip");
    head->addWidget(name);
    head->addWidget(m_model, 1);
    head->addWidget(m_chip);
    body()->addLayout(head);
    m_lineColumn = new QVBoxLayout;
    m_lineColumn->setContentsMargins(0, 0, 0, 0);
    m_lineColumn->setSpacing(0);
    body()->addLayout(m_lineColumn);
    m_problem = makeText({}, "bodySecondary");
    m_problem->setObjectName("machineProblem");
    body()->addWidget(m_problem);
    m_foot = new ElidedLabel({}, "secondary");
    m_foot->setObjectName("machineFoot");
    body()->addWidget(m_foot);
    m_warnings = makeText({}, "warn");
    m_warnings->setObjectName("machineWarnings");
    body()->addWidget(m_warnings);
    m_same = new ElidedLabel({}, "secondary");
    m_same->setObjectName("machineSame");
    body()->addWidget(m_same);
    body()->addStretch(1);
    for (QWidget* part : std::initializer_list<QWidget*>{m_foot, m_warnings, m_same})
        part->hide();
}

/// A line a GPU; without any, one of the processors; with -1 none at all.
void MachineCard::setLines(int gpus) {
    const auto wanted = static_cast<size_t>(gpus < 0 ? 0 : std::max(gpus, 1));
    const bool hadGpus = !m_lines.empty() && m_lines.front()->figures().gpu >= 0;
    if (m_lines.size() == wanted && (wanted == 0 || hadGpus == (gpus > 0)))
        return;
    for (DeviceLine* line : m_lines) {
        line->hide();
        line->deleteLater();
    }
    m_lines.clear();
    for (size_t i = 0; i < wanted; ++i) {
        const int gpu = gpus > 0 ? static_cast<int>(i) : -1;
        auto* line = new DeviceLine(nodeTitle(m_node));
        connect(line, &DeviceLine::selected, this, [this, gpu] { Q_EMIT lineSelected(gpu); });
        connect(line, &DeviceLine::moveRequested, this,
                [this, gpu](int key) { Q_EMIT moveRequested(gpu, key); });
        m_lineColumn->addWidget(line);
        m_lines.push_back(line);
    }
}

void MachineCard::show(const ShownMachine& machine, const QString& same) {
    const MachineSample* now = machine.now();
    const bool isShown = now && machine.facts;
    setLines(isShown ? static_cast<int>(machine.facts->gpus.size()) : -1);
    for (size_t i = 0; i < m_lines.size(); ++i)
        m_lines[i]->show(
            figuresOf(machine, machine.facts->gpus.empty() ? -1 : static_cast<int>(i)));
    const MachineChip chip = chipOf(machine);
    m_chip->show(QString::fromStdString(chip.text), toneOf(chip.tone));
    m_model->setFullText(machine.facts ? QString::fromStdString(modelWords(*machine.facts))
                                       : QString());
    const QString problem = isShown ? QString() : problemOf(machine);
    m_problem->setText(problem);
    showOrHide(m_problem, !problem.isEmpty());
    m_foot->setFullText(isShown ? lineOf(footOf(machine)) : QString());
    showOrHide(m_foot, isShown);
    const std::vector<std::string> warnings = warningsOf(machine);
    m_warnings->setText(capitalized(lineOf(warnings).toStdString()));
    setStyleProperty(m_warnings, "role", chip.tone == MachineChip::Tone::kBad ? "bad" : "warn");
    showOrHide(m_warnings, !warnings.empty());
    m_same->setFullText(capitalized(same.toStdString()));
    showOrHide(m_same, !same.isEmpty());
    setAccessibleDescription(QString::fromStdString(chip.text));
}

} // namespace rm
