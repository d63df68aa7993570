// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/logs_tab.h"

#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kLinesAtOnce = 5000;
constexpr int kMostLines = 50000;
constexpr int kRankWidth = 140;
constexpr int64_t kLinesBefore = 100; ///< the time that is to be shown

/// When a line came.
struct LineTime : QTextBlockUserData {
    explicit LineTime(int64_t ns)
        : wallNs(ns) {}
    int64_t wallNs;
};
} // namespace

LogsTab::LogsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
}

void LogsTab::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* card = new Card;
    auto* head = new QHBoxLayout;
    head->setSpacing(2 * size::kGrid);
    m_rank = new QComboBox;
    m_rank->setObjectName("logRank");
    m_rank->setAccessibleName(tr("Rank"));
    m_rank->setFixedWidth(kRankWidth);
    m_rank->addItem(tr("all ranks"), -1);
    m_filter = new QLineEdit;
    m_filter->setObjectName("logFilter");
    m_filter->setAccessibleName(tr("Filter the log"));
    m_filter->setPlaceholderText(tr("Filter the lines   Ctrl+F"));
    m_filter->setClearButtonEnabled(true);
    m_follow = new QCheckBox(tr("follow the end"));
    m_follow->setObjectName("logFollow");
    m_follow->setAccessibleName(m_follow->text());
    m_follow->setChecked(true);
    m_wrap = new QCheckBox(tr("wrap long lines"));
    m_wrap->setObjectName("logWrap");
    m_wrap->setAccessibleName(m_wrap->text());
    m_export = makeButton(tr("Export"), "quiet", "logExport");
    m_export->setToolTip(tr("Write these lines to a file, all of them"));
    head->addWidget(m_rank);
    head->addWidget(m_filter, 1);
    head->addWidget(m_wrap);
    head->addWidget(m_follow);
    head->addWidget(m_export);
    card->body()->addLayout(head);
    m_empty = makeText(tr("No line yet."), "bodySecondary");
    card->body()->addWidget(m_empty);
    m_text = new QPlainTextEdit;
    m_text->setProperty("role", "bare");
    m_text->setObjectName("logText");
    m_text->setAccessibleName(tr("Log"));
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setMaximumBlockCount(kMostLines);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    card->body()->addWidget(m_text, 1);
    column->addWidget(card);
}

void LogsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &LogsTab::pull);
    connect(m_rank, &QComboBox::currentIndexChanged, this, &LogsTab::restart);
    connect(m_filter, &QLineEdit::textChanged, this, &LogsTab::restart);
    connect(m_wrap, &QCheckBox::toggled, this, [this](bool wraps) {
        m_text->setLineWrapMode(wraps ? QPlainTextEdit::WidgetWidth : QPlainTextEdit::NoWrap);
    });
    connect(m_export, &QPushButton::clicked, this, &LogsTab::askWhere);
    m_text->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_text, &QWidget::customContextMenuRequested, this, &LogsTab::showMenu);
    auto* bar = m_text->verticalScrollBar();
    connect(bar, &QScrollBar::rangeChanged, this, [this, bar](int, int end) {
        if (m_follow->isChecked())
            bar->setValue(end); // also in a window that became lower
    });
}

void LogsTab::askWhere() {
    askExport(m_context, window(),
              {tr("Export the log"), "logExportDialog", m_run + ".log",
               [run = m_run, choice = choice()](StoreReader& reader, const QString& path) {
                   return exportLog(reader, run, choice, path);
               },
               [](int64_t lines) { return counted(lines, tr("1 line"), tr("%1 lines")); }});
}

LogChoice LogsTab::choice() const {
    return {m_rank->currentData().toInt(), m_filter->text()};
}

void LogsTab::setRun(const QString& run) {
    m_run = run;
    m_ranks = 0;
    restart();
}

void LogsTab::show(const RunDetail& detail) {
    if (!detail.run || detail.run->ranks == m_ranks)
        return;
    m_ranks = detail.run->ranks;
    const QSignalBlocker quiet(m_rank);
    const int chosen = m_rank->currentData().toInt();
    m_rank->clear();
    m_rank->addItem(tr("all ranks"), -1);
    for (int rank = 0; rank < m_ranks; ++rank)
        m_rank->addItem(tr("rank %1").arg(rank), rank);
    m_rank->setCurrentIndex(std::max(0, m_rank->findData(chosen)));
}

void LogsTab::chooseRank(int rank) {
    m_rank->setCurrentIndex(std::max(0, m_rank->findData(rank)));
}

void LogsTab::focusFilter() {
    m_filter->setFocus();
    m_filter->selectAll();
}

void LogsTab::refresh() {
    if (isVisible())
        m_puller.request();
}

void LogsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
}

void LogsTab::showTime(int64_t wallNs) {
    m_follow->setChecked(false);
    m_filter->clear();
    const auto before = m_context.store.ask(
        [run = m_run, wallNs](StoreReader& reader) { return reader.logIdBefore(run, wallNs); });
    whenAnswered(before, this, [this, run = m_run, wallNs](int64_t id) {
        if (run != m_run)
            return;
        m_time = wallNs;
        restartAfter(id > kLinesBefore ? id - kLinesBefore : -1);
    });
}

void LogsTab::showMenu(const QPoint& at) {
    QMenu* menu = m_text->createStandardContextMenu();
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto* line =
        static_cast<const LineTime*>(m_text->cursorForPosition(at).block().userData());
    menu->addSeparator();
    QAction* charts =
        menu->addAction(tr("Show in the charts"), this,
                        [this, time = line ? line->wallNs : 0] { Q_EMIT chartsRequested(time); });
    charts->setObjectName("showInCharts");
    charts->setEnabled(line != nullptr);
    menu->popup(m_text->viewport()->mapToGlobal(at));
}

/// The times of the lines at the end of the text.
void LogsTab::stampLines(const std::vector<LogLine>& lines) {
    QTextBlock block = m_text->document()->lastBlock();
    for (auto line = lines.rbegin(); line != lines.rend() && block.isValid(); ++line) {
        block.setUserData(new LineTime(line->wallNs));
        block = block.previous();
    }
}

/// Marks the first line that came at the wanted time, once it is there.
void LogsTab::pointAtTime() {
    QTextBlock block = m_text->document()->firstBlock();
    for (; m_time && block.isValid(); block = block.next()) {
        const auto* line = static_cast<const LineTime*>(block.userData());
        if (!line || line->wallNs < *m_time)
            continue;
        m_time.reset();
        const QTextCursor cursor(block);
        m_text->setTextCursor(cursor);
        m_text->centerCursor();
        QTextEdit::ExtraSelection mark;
        mark.cursor = cursor;
        mark.format.setBackground(colours().accentBack);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        m_text->setExtraSelections({mark});
    }
}

void LogsTab::restart() {
    m_time.reset();
    restartAfter(0);
}

/// Reads anew behind that line; 0: the last lines, -1: all.
void LogsTab::restartAfter(int64_t id) {
    m_lastId = id;
    m_text->setExtraSelections({});
    m_text->clear();
    m_text->horizontalScrollBar()->setValue(0);
    m_puller.restart();
}

void LogsTab::pull() {
    if (m_run.isEmpty())
        return;
    m_puller.await(m_context.store.ask([run = m_run, choice = choice(),
                                        after = m_lastId](StoreReader& reader) {
        return reader.log(run, choice.rank, after, kLinesAtOnce, choice.contains);
    }),
                   this, [this](const std::vector<LogLine>& lines) { append(lines); });
}

void LogsTab::append(const std::vector<LogLine>& lines) {
    QStringList texts;
    for (const LogLine& line : lines) {
        texts << QString("%1  r%2  %3")
                     .arg(formatTime(line.wallNs))
                     .arg(line.rank, -3)
                     .arg(QString::fromStdString(line.text));
        m_lastId = std::max(m_lastId, line.id);
    }
    const int scrolled = m_text->verticalScrollBar()->value();
    const int across = m_text->horizontalScrollBar()->value();
    const bool isFirst = m_text->document()->isEmpty();
    if (!texts.isEmpty())
        m_text->appendPlainText(texts.join('\n'));
    stampLines(lines);
    if (isFirst) // or Qt scrolls to the end of the last line once the text is shown
        m_text->moveCursor(QTextCursor::StartOfBlock);
    m_text->verticalScrollBar()->setValue(
        m_follow->isChecked() ? m_text->verticalScrollBar()->maximum() : scrolled);
    m_text->horizontalScrollBar()->setValue(across);
    if (m_time)
        pointAtTime();
    const bool none = m_text->document()->isEmpty();
    m_empty->setVisible(none);
    m_empty->setText(m_filter->text().isEmpty() ? tr("No line yet.")
                                                : tr("No line holds these words."));
    if (lines.size() == static_cast<size_t>(kLinesAtOnce))
        m_puller.request();
}

} // namespace rm
