// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/node_card.h"

#include "app/core/fleet/checks_file.h"
#include "app/ui/data/node_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QKeyEvent>
#include <QVBoxLayout>

namespace rm {

namespace {

/// The first sentence of the cause in "attempt object: cause. advice"; the row below the cards
/// shows all of it.
QString causeOf(const CheckRow& row) {
    if (row.id == "connection" && row.title != causeTitle(ConnectFailure::Cause::kOther))
        return QString::fromStdString(row.title); // which is a cause itself
    const QString detail = QString::fromStdString(row.evidence);
    const QString cause = detail.contains(": ") ? detail.section(": ", 1) : detail;
    return QString::fromStdString(row.title) + ": " + cause.section(". ", 0, 0).section("; ", 0, 0);
}

/// The lines of the card: the report, or what is shown while there is none, and failed checks.
QStringList linesOf(const std::optional<NodeCheck>& check, const QString& progress) {
    if (!progress.isEmpty())
        return (check && check->report ? reportWords(*check->report).mid(0, 2) : QStringList())
               << progress;
    if (!check)
        return {NodeCard::tr("check it to see what it has")};
    QStringList lines;
    if (check->report)
        lines = reportWords(*check->report);
    for (const CheckRow& row : checkRows(*check))
        if (row.state == CheckRow::State::kBad && lines.size() < 4)
            lines << causeOf(row);
        else if (waitsForAPerson(*check))
            lines << QString::fromStdString(row.cause);
    return lines;
}

bool isBad(const std::optional<NodeCheck>& check, qsizetype line) {
    return check && !waitsForAPerson(*check) &&
           line >= (check->report ? reportWords(*check->report).size() : 0);
}

} // namespace

NodeCard::NodeCard(const Node& node, QWidget* parent)
    : QFrame(parent)
    , m_node(node) {
    buildUi();
    show(std::nullopt, {}, {});
}

void NodeCard::buildUi() {
    setObjectName("nodeCard");
    setProperty("role", "card");
    setProperty("node", QString::fromStdString(m_node.name));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(size::kGrid);
    auto* head = new QHBoxLayout;
    head->addWidget(new ElidedLabel(nodeTitle(m_node.name), "cardTitle"), 1);
    m_chip = new Chip;
    head->addWidget(m_chip);
    column->addLayout(head);
    m_address = new ElidedLabel({}, "mono");
    column->addWidget(m_address);
    for (ElidedLabel*& line : m_lines) {
        line = new ElidedLabel({}, "body");
        column->addWidget(line);
    }
}

void NodeCard::show(const std::optional<NodeCheck>& check, const QString& progress,
                    const std::vector<RunSummary>& runs) {
    StateWords words = checkWords(check, !progress.isEmpty());
    if (progress.isEmpty())
        words = unreachableWords(m_node, check, runs).value_or(words);
    m_chip->show(words.text, words.tone);
    const QStringList groups = groupsWords(m_node);
    m_address->setFullText((QStringList{addressWords(m_node, check)} + groups).join(kSeparator));
    QStringList lines = linesOf(check, progress);
    const bool endsBad = words.tone == Tone::kBad && isBad(check, lines.size() - 1);
    // The last line is the one that matters when something is wrong.
    while (lines.size() > static_cast<qsizetype>(m_lines.size()))
        lines.removeAt(static_cast<qsizetype>(m_lines.size()) - 1);
    for (size_t at = 0; at < m_lines.size(); ++at) {
        const auto line = static_cast<qsizetype>(at);
        m_lines[at]->setFullText(lines.value(line));
        const bool bad = endsBad && line == lines.size() - 1;
        setStyleProperty(m_lines[at], "role",
                         bad ? "bad" : (check && check->report ? "body" : "bodySecondary"));
    }
    setAccessibleName(nodeTitle(m_node.name) + ", " + words.text);
    setAccessibleDescription(lines.join("; "));
}

void NodeCard::setSelected(bool selected) {
    setStyleProperty(this, "selected", selected);
}

void NodeCard::mousePressEvent(QMouseEvent*) {
    Q_EMIT selected();
}

void NodeCard::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)
        Q_EMIT selected();
    else if (event->key() >= Qt::Key_Home && event->key() <= Qt::Key_Down)
        Q_EMIT moveRequested(event->key()); // Home, End and the arrows stand in a row
    else
        QFrame::keyPressEvent(event);
}

} // namespace rm
