// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/launch_progress.h"

#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kPatienceMs = 3000; ///< without news until a stall is shown, and between updates

/// A line for each of several nodes that get something: those that take longest. The pace that was
/// reported last no longer holds once all stand still.
QStringList nodeLines(std::vector<Progress> nodes, bool isStalled) {
    constexpr size_t kMost = 8;
    std::erase_if(nodes, [](const Progress& node) { return node.total <= 0; });
    QStringList lines;
    if (nodes.size() < 2)
        return lines;
    for (Progress& node : slowestOf(nodes, kMost)) {
        if (isStalled)
            node.bytesPerSec = node.secondsLeft = -1;
        lines << progressWords(node);
    }
    if (nodes.size() > kMost)
        lines << LaunchProgress::tr("and %1 more").arg(nodes.size() - kMost);
    return lines;
}

} // namespace

LaunchProgress::LaunchProgress(QWidget* parent)
    : Card(parent)
    , m_stage(new ElidedLabel(tr("Starting"), "strong"))
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
    m_patience.setInterval(kPatienceMs);
    connect(&m_patience, &QTimer::timeout, this, &LaunchProgress::admitStall);
}

void LaunchProgress::show(const LiveState& live) {
    if (live.launching)
        show(live.pending ? Progress{tr("Cancelling: ending what was started")} : *live.launching);
    if (!live.launching)
        m_patience.stop();
    setVisible(live.launching.has_value());
}

void LaunchProgress::show(const Progress& progress) {
    constexpr int kScale = 1000;
    if (progress == m_shown)
        return;
    m_shown = progress;
    m_sinceMoved.start();
    m_stage->setFullText(stageWords(progress));
    showNodes(false);
    if (progress.total <= 0) {
        m_bar->setRange(0, 0);
        m_amount->setText({});
        m_patience.stop();
        return;
    }
    m_bar->setRange(0, kScale);
    m_bar->setValue(static_cast<int>(progress.done * kScale / progress.total));
    m_amount->setText(amountWords(progress));
    m_patience.start();
}

void LaunchProgress::showNodes(bool areStalled) {
    const QStringList lines = nodeLines(m_shown.nodes, areStalled);
    while (std::ssize(m_nodes) < lines.size()) {
        m_nodes.push_back(new ElidedLabel({}, "secondary"));
        body()->addWidget(m_nodes.back());
    }
    for (size_t at = 0; at < m_nodes.size(); ++at) {
        const bool isUsed = static_cast<qsizetype>(at) < lines.size();
        m_nodes[at]->setFullText(isUsed ? lines[static_cast<qsizetype>(at)] : QString());
        m_nodes[at]->setVisible(isUsed);
    }
}

// The rate that was reported last no longer holds.
void LaunchProgress::admitStall() {
    if (m_shown.done >= m_shown.total)
        return;
    showNodes(true);
    const double seconds = static_cast<double>(m_sinceMoved.elapsed()) / 1000;
    m_amount->setText(tr("%1 sent").arg(formatBytes(static_cast<double>(m_shown.sent))) +
                      kSeparator + tr("no progress for %1").arg(formatDuration(seconds)));
}

} // namespace rm
