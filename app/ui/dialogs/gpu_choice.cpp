// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/gpu_choice.h"

#include "app/core/node/chosen_gpus.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

Node choosing(const std::vector<std::string>& gpus) {
    Node node;
    node.gpus = gpus;
    return node;
}

} // namespace

GpuChoice::GpuChoice(const std::vector<std::string>& chosen, const NodeReport* report,
                     QWidget* parent)
    : QWidget(parent)
    , m_chosen(chosen) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kGrid);
    setToolTip(asPlain(tr("Ranks see these GPUs alone (CUDA_VISIBLE_DEVICES), and only they count "
                          "for memory, runtime and number of ranks.")));
    // One that is not there any more can only be changed as text.
    if (report && !report->gpus.empty() && missingGpus(choosing(chosen), *report).empty())
        addTicks(chosen, *report);
    else
        addText(chosen);
}

void GpuChoice::addTicks(const std::vector<std::string>& chosen, const NodeReport& report) {
    for (size_t at = 0; at < report.gpus.size(); ++at) {
        const GpuReport& gpu = report.gpus[at];
        Tick tick{new ElidedCheckBox(
                      QString("%1  %2, %3")
                          .arg(at)
                          .arg(QString::fromStdString(gpu.name), formatMemory(gpu.memoryBytes))),
                  std::to_string(at)};
        const auto as = std::ranges::find_if(
            chosen, [&](const std::string& name) { return name == tick.gpu || name == gpu.uuid; });
        if (as != chosen.end())
            tick.gpu = *as;
        tick.box->setObjectName("gpu." + QByteArray::number(qlonglong(at)));
        tick.box->setAccessibleName(tr("Train on GPU %1").arg(tick.box->text()));
        tick.box->setChecked(chosen.empty() || as != chosen.end());
        connect(tick.box, &QCheckBox::toggled, this, &GpuChoice::changed);
        layout()->addWidget(tick.box);
        m_ticks.push_back(std::move(tick));
    }
}

void GpuChoice::addText(const std::vector<std::string>& chosen) {
    QStringList names;
    for (const std::string& gpu : chosen)
        names << QString::fromStdString(gpu);
    m_text = new QLineEdit(names.join(", "));
    m_text->setObjectName("nodeGpus");
    m_text->setAccessibleName(tr("GPUs"));
    m_text->setPlaceholderText(tr("all; or numbers of nvidia-smi -L, as 0, 1"));
    connect(m_text, &QLineEdit::textChanged, this, &GpuChoice::changed);
    layout()->addWidget(m_text);
    setFocusProxy(m_text);
}

Result<std::vector<std::string>> GpuChoice::gpus() const {
    std::vector<std::string> gpus;
    if (m_text)
        for (const QString& gpu : m_text->text().split(',', Qt::SkipEmptyParts))
            gpus.push_back(gpu.trimmed().toStdString());
    for (const Tick& tick : m_ticks)
        if (tick.box->isChecked())
            gpus.push_back(tick.gpu);
    if (!m_ticks.empty() && gpus.empty())
        return fail(ErrorCode::kInvalid,
                    tr("choose GPUs: none is ticked; to train on the CPU, set launch.device of a "
                       "run to \"cpu\"")
                        .toStdString());
    if (!m_ticks.empty() && gpus.size() == m_ticks.size() && m_chosen.size() != gpus.size())
        return std::vector<std::string>(); // all, also those that it may get
    // Ranks have been given them in the order of the choice.
    const auto isChosen = [&](const std::string& gpu) {
        return std::ranges::find(gpus, gpu) != gpus.end();
    };
    const bool isAsBefore =
        gpus.size() == m_chosen.size() && std::ranges::all_of(m_chosen, isChosen);
    return isAsBefore ? m_chosen : gpus;
}

} // namespace rm
