// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/node_words.h"

#include "app/core/fleet/check_rows.h"
#include "app/core/node/chosen_gpus.h"
#include "app/ui/look/format.h"
#include "shared/io/clock.h"
#include "shared/spec/toml_fields.h"

#include <QCoreApplication>
#include <QMap>

#include <algorithm>

namespace rm {

namespace {

/// For this long a successful check counts as the current state of the node.
constexpr int64_t kFreshNs = 3600 * 1'000'000'000LL;

struct NodeWords {
    Q_DECLARE_TR_FUNCTIONS(NodeWords)
};

int countOf(const NodeCheck& check, CheckRow::State state) {
    return static_cast<int>(std::ranges::count(checkRows(check), state, &CheckRow::state));
}

int problemsOf(const NodeCheck& check) {
    return countOf(check, CheckRow::State::kBad);
}

QString gpuWords(const NodeReport& report) {
    if (report.gpus.empty())
        return NodeWords::tr("no GPU: trains on the CPU");
    QMap<QString, int> kinds;
    for (const GpuReport& gpu : report.gpus)
        ++kinds[QString::fromStdString(gpu.name).remove("NVIDIA ") + ' ' +
                formatMemory(gpu.memoryBytes)];
    QStringList parts;
    for (auto kind = kinds.begin(); kind != kinds.end(); ++kind)
        parts << QString("%1 × %2").arg(kind.value()).arg(kind.key());
    parts << NodeWords::tr("driver %1").arg(QString::fromStdString(report.driver));
    return parts.join(kSeparator);
}

QString systemWords(const NodeReport& report) {
    // "Debian GNU/Linux 12 (bookworm)" -> "Debian GNU/Linux 12"
    const QString os = QString::fromStdString(report.os).section(" (", 0, 0);
    return counted(report.cores, NodeWords::tr("1 core"), NodeWords::tr("%1 cores")) + kSeparator +
           formatMemory(report.memoryBytes) + kSeparator + os;
}

QString diskWords(const NodeReport& report) {
    const auto room = roomOfHome(report);
    return room ? NodeWords::tr("%1 free on %2")
                      .arg(formatBytes(static_cast<double>(room->freeBytes)),
                           QString::fromStdString(room->path))
                : QString();
}

} // namespace

StateWords checkWords(const std::optional<NodeCheck>& check, bool checking) {
    if (checking)
        return {NodeWords::tr("Checking"), Tone::kAccent};
    if (!check)
        return {NodeWords::tr("Not checked"), Tone::kNeutral};
    const int problems = problemsOf(*check);
    if (check->failure && check->failure->need == ConnectFailure::Need::kTrustHostKey)
        return {NodeWords::tr("New host key"), Tone::kWarn};
    if (check->failure && check->failure->need == ConnectFailure::Need::kPassword)
        return {NodeWords::tr("Needs a password"), Tone::kWarn};
    if (check->failure && check->failure->need == ConnectFailure::Need::kPassphrase)
        return {NodeWords::tr("Needs a passphrase"), Tone::kWarn};
    if (problems > 0 || !check->ready)
        return {counted(std::max(1, problems), NodeWords::tr("1 problem"),
                        NodeWords::tr("%1 problems")),
                Tone::kBad};
    if (wallNowNs() - check->checkedNs > kFreshNs)
        return {NodeWords::tr("Checked %1").arg(formatRelative(check->checkedNs, wallNowNs())),
                Tone::kNeutral};
    const int warnings = countOf(*check, CheckRow::State::kWarning);
    if (isReadyOnItsCpu(*check))
        return {warnings == 1 ? NodeWords::tr("Ready on its CPU")
                              : NodeWords::tr("Ready on its CPU, %1 warnings").arg(warnings),
                Tone::kWarn};
    if (warnings > 0)
        return {counted(warnings, NodeWords::tr("Ready, 1 warning"),
                        NodeWords::tr("Ready, %1 warnings")),
                Tone::kWarn};
    return {NodeWords::tr("Ready"), Tone::kGood};
}

std::optional<StateWords> unreachableWords(const Node& node, const std::optional<NodeCheck>& check,
                                           const std::vector<RunSummary>& runs) {
    for (const RunSummary& run : runs)
        for (const LostNode& lost : run.lostNodes)
            if (lost.nodeName == node.name && (!check || check->checkedNs < lost.sinceNs))
                return StateWords{
                    NodeWords::tr("Unreachable since %1").arg(formatClock(lost.sinceNs)),
                    Tone::kBad};
    return std::nullopt;
}

QString addressWords(const Node& node, const std::optional<NodeCheck>& check) {
    const QString slurm = node.isSlurm ? kSeparator + NodeWords::tr("Slurm") : QString();
    if (node.isLocal)
        return NodeWords::tr("no SSH") + slurm;
    QString address = QString::fromStdString(node.sshHost);
    if (!node.user.empty())
        address.prepend(QString::fromStdString(node.user) + '@');
    if (node.port > 0)
        address += ':' + QString::number(node.port);
    if (check && check->roundTripUs >= 0)
        address += kSeparator + formatMilliseconds(static_cast<double>(check->roundTripUs) / 1000);
    return address + slurm;
}

QStringList groupsWords(const Node& node) {
    QStringList groups;
    for (const std::string& group : node.groups)
        groups << '@' + QString::fromStdString(group);
    return groups;
}

QString useWords(const Node& node) {
    const auto joined = [](const std::vector<std::string>& words) {
        QStringList list;
        for (const std::string& word : words)
            list << QString::fromStdString(word);
        return list.join(", ");
    };
    QStringList parts;
    if (!node.jumpHost.empty())
        parts << NodeWords::tr("through %1").arg(QString::fromStdString(node.jumpHost));
    parts << groupsWords(node);
    if (!node.gpus.empty())
        parts << NodeWords::tr("trains on GPU %1").arg(joined(node.gpus));
    if (!node.environment.empty())
        parts << joined(node.environment);
    if (node.pricePerHour > 0)
        parts << NodeWords::tr("%1 an hour")
                     .arg(QString::fromStdString(plainNumber(node.pricePerHour)));
    if (!node.notes.empty())
        parts << NodeWords::tr("notes: %1").arg(QString::fromStdString(node.notes));
    return parts.join(kSeparator);
}

QStringList reportWords(const NodeReport& report) {
    QStringList lines{gpuWords(report), systemWords(report)};
    if (const QString disk = diskWords(report); !disk.isEmpty())
        lines << disk;
    return lines;
}

QString fleetWords(const std::vector<Node>& nodes, const Fleet& fleet) {
    int gpus = 0, troubled = 0;
    for (const Node& node : nodes) {
        const auto check = fleet.lastCheck(QString::fromStdString(node.name));
        troubled += check && !check->ready;
        gpus += check && check->report
                    ? static_cast<int>(usedPart(node, *check->report).gpus.size())
                    : 0;
    }
    QStringList parts{counted(static_cast<int64_t>(nodes.size()), NodeWords::tr("1 machine"),
                              NodeWords::tr("%1 machines"))};
    if (troubled > 0) // not last, where a narrow window cuts
        parts << counted(troubled, NodeWords::tr("1 needs attention"),
                         NodeWords::tr("%1 need attention"));
    if (gpus > 0)
        parts << counted(gpus, NodeWords::tr("1 GPU"), NodeWords::tr("%1 GPUs"));
    return parts.join(kSeparator);
}

Tone rowTone(const CheckRow& row) {
    switch (row.state) {
    case CheckRow::State::kGood:
        return Tone::kGood;
    case CheckRow::State::kWarning:
        return Tone::kWarn;
    case CheckRow::State::kBad:
        return Tone::kBad;
    }
    Q_UNREACHABLE();
}

QString rowWords(const CheckRow& row) {
    QString words = QString::fromStdString(row.title + ": " + row.evidence);
    if (!row.cause.empty())
        words += ". " + capitalized(row.cause);
    if (!row.fix.empty())
        words += ". " + NodeWords::tr("What to do: %1").arg(QString::fromStdString(row.fix));
    return words;
}

std::vector<CheckRow> checkRows(const NodeCheck& check) {
    std::vector<CheckRow> rows = check.rows;
    const bool isReported = std::ranges::any_of(
        rows, [](const CheckRow& row) { return row.state != CheckRow::State::kGood; });
    if (check.failure && !isReported)
        rows.insert(rows.begin(), refusedRow(*check.failure, check.node));
    return rows;
}

} // namespace rm
