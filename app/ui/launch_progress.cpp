// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/launch_progress.h"

#include "app/ui/format.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QVBoxLayout>

namespace rm {

LaunchProgress::LaunchProgress(QWidget* parent)
    : Card(parent)
    , m_stage(makeLabel(tr("Starting"), "strong"))
    , m_amount(makeLabel({}, "secondary"))
    , m_bar(new QProgressBar) {
    setObjectName("launchProgress");
    auto* head = new QHBoxLayout;
    head->addWidget(m_stage, 1);
    head->addWidget(m_amount);
    body()->addLayout(head);
    m_bar->setTextVisible(false);
    m_bar->setRange(0, 0);
    m_bar->setAccessibleName(tr("Progress of the launch"));
    body()->addWidget(m_bar);
}

void LaunchProgress::show(const LiveState& live) {
    if (live.launching)
        show(live.pending ? Progress{tr("Cancelling: ending what was started")} : *live.launching);
    setVisible(live.launching.has_value());
}

void LaunchProgress::show(const Progress& progress) {
    constexpr int kScale = 1000;
    m_stage->setText(progress.stage);
    if (progress.total <= 0) {
        m_bar->setRange(0, 0);
        m_amount->setText({});
        return;
    }
    m_bar->setRange(0, kScale);
    m_bar->setValue(static_cast<int>(progress.done * kScale / progress.total));
    QStringList parts{tr("%1 of %2")
                          .arg(formatBytes(static_cast<double>(progress.done)),
                               formatBytes(static_cast<double>(progress.total)))};
    if (progress.bytesPerSec > 0)
        parts << formatBytesPerSec(progress.bytesPerSec);
    if (progress.secondsLeft >= 0)
        parts << tr("%1 left").arg(formatDuration(progress.secondsLeft));
    m_amount->setText(parts.join(kSeparator));
}

} // namespace rm
