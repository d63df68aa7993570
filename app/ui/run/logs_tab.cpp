// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/logs_tab.h"

#include "app/core/findings/log_errors.h"
#include "app/core/store/log_search.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/run/log_view.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QShortcut>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kLinesAtOnce = 5000;
constexpr int kMostMatches = 10'000;
constexpr int kRankWidth = 120;
constexpr int kSeverityWidth = 172;
constexpr int kLinesBefore = 100; ///< the time that is to be shown
} // namespace

LogsTab::LogsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this)
    , m_matchPuller(kMatchesMs, this) {
    buildUi();
    wire();
}

void LogsTab::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* card = new Card;
    card->body()->addLayout(buildSearch());
    card->body()->addLayout(buildOptions());
    m_empty = makeText(tr("No line yet."), "bodySecondary");
    card->body()->addWidget(m_empty);
    m_text = new LogView;
    m_text->setProperty("role", "bare");
    m_text->setObjectName("logText");
    m_text->setAccessibleName(tr("Log"));
    card->body()->addWidget(m_text, 1);
    m_explain = new Banner("logExplain");
    QPushButton* close = makeButton(tr("Close"), "quiet", "closeLogExplain");
    m_explain->addAction(close);
    connect(close, &QPushButton::clicked, m_explain, &QWidget::hide);
    card->body()->addWidget(m_explain);
    column->addWidget(card);
}

QLayout* LogsTab::buildSearch() {
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * size::kGrid);
    m_rank = new QComboBox;
    m_rank->setObjectName("logRank");
    m_rank->setAccessibleName(tr("Rank"));
    m_rank->setFixedWidth(kRankWidth);
    m_rank->addItem(tr("all ranks"), -1);
    m_severity = new QComboBox;
    m_severity->setObjectName("logSeverity");
    m_severity->setAccessibleName(tr("Severity"));
    m_severity->setFixedWidth(kSeverityWidth);
    m_severity->addItem(tr("all lines"), static_cast<int>(Severity::kInfo));
    m_severity->addItem(tr("warnings, errors"), static_cast<int>(Severity::kWarning));
    m_severity->addItem(tr("errors"), static_cast<int>(Severity::kError));
    m_filter = new QLineEdit;
    m_filter->setObjectName("logFilter");
    m_filter->setAccessibleName(tr("Search the log"));
    m_filter->setPlaceholderText(tr("Search the lines   Ctrl+F"));
    m_filter->setToolTip(tr("Words that a line has, the last one as a beginning; what is in "
                            "\"quotes\" stands anywhere as it is. Return goes to the next line, "
                            "Shift+Return to the one before."));
    m_filter->setClearButtonEnabled(true);
    m_found = makeLabel({}, "secondary");
    m_found->setObjectName("logFound");
    m_previous = makeButton(tr("Previous"), "quiet", "logPrevious");
    m_previous->setToolTip(tr("The match before (Shift+F3)"));
    m_following = makeButton(tr("Next"), "quiet", "logNext");
    m_following->setToolTip(tr("The next match (F3)"));
    row->addWidget(m_rank);
    row->addWidget(m_severity);
    row->addWidget(m_filter, 1);
    row->addWidget(m_found);
    row->addWidget(m_previous);
    row->addWidget(m_following);
    return row;
}

QLayout* LogsTab::buildOptions() {
    const auto box = [](const QString& text, const char* name, bool isChecked) {
        auto* made = new QCheckBox(text);
        made->setObjectName(name);
        made->setAccessibleName(text);
        made->setChecked(isChecked);
        return made;
    };
    auto* row = new QHBoxLayout;
    row->setSpacing(3 * size::kGrid);
    m_only = box(tr("only matches"), "logOnly", true);
    m_fold = box(tr("fold ranks"), "logFold", true);
    m_fold->setToolTip(tr("Show the same line of several ranks once; a click in front of it shows "
                          "each"));
    m_wrap = box(tr("wrap long lines"), "logWrap", false);
    m_follow = box(tr("follow the end"), "logFollow", true);
    m_export = makeButton(tr("Export"), "quiet", "logExport");
    m_export->setToolTip(tr("Write these lines to a file, all of them"));
    for (QCheckBox* each : {m_only, m_fold, m_wrap, m_follow})
        row->addWidget(each);
    row->addStretch(1);
    row->addWidget(m_export);
    return row;
}

void LogsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &LogsTab::pull);
    connect(&m_matchPuller, &Puller::pull, this, &LogsTab::pullMatches);
    connect(m_rank, &QComboBox::currentIndexChanged, this, &LogsTab::restart);
    connect(m_severity, &QComboBox::currentIndexChanged, this, &LogsTab::restart);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_text->setSearch(LogSearch(text));
        restart();
    });
    connect(m_only, &QCheckBox::toggled, this, &LogsTab::restart);
    connect(m_fold, &QCheckBox::toggled, m_text, &LogView::setFolds);
    connect(m_wrap, &QCheckBox::toggled, this, [this](bool wraps) {
        m_text->setLineWrapMode(wraps ? QPlainTextEdit::WidgetWidth : QPlainTextEdit::NoWrap);
    });
    connect(m_follow, &QCheckBox::toggled, this, [this](bool follows) {
        if (follows && m_next == Next::kFrom)
            restart();
    });
    connect(m_export, &QPushButton::clicked, this, &LogsTab::askWhere);
    connect(m_previous, &QPushButton::clicked, this, [this] { goToMatch(-1); });
    connect(m_following, &QPushButton::clicked, this, [this] { goToMatch(1); });
    const auto key = [this](QWidget* where, const QKeySequence& keys, int step) {
        auto* shortcut = new QShortcut(keys, where);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this, step] { goToMatch(step); });
    };
    key(this, Qt::Key_F3, 1);
    key(this, Qt::SHIFT | Qt::Key_F3, -1);
    for (const Qt::Key enter : {Qt::Key_Return, Qt::Key_Enter}) {
        key(m_filter, enter, 1);
        key(m_filter, Qt::SHIFT | enter, -1);
    }
    m_text->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_text, &QWidget::customContextMenuRequested, this, &LogsTab::showMenu);
    connect(m_text, &LogView::knownChosen, this, &LogsTab::explain);
    auto* bar = m_text->verticalScrollBar();
    connect(bar, &QScrollBar::rangeChanged, this, [this, bar](int, int end) {
        if (m_follow->isChecked())
            bar->setValue(end); // also in a window that became lower
    });
    connect(bar, &QScrollBar::valueChanged, this, [this, bar](int value) {
        if (m_next == Next::kFrom && value == bar->maximum())
            m_puller.request();
        if (value == bar->minimum() && bar->maximum() > bar->minimum())
            pullEarlier();
    });
    showMatches();
}

void LogsTab::askWhere() {
    askExport(m_context, window(),
              {tr("Export the log"), "logExportDialog", m_run + ".log",
               [run = m_run, choice = choice()](StoreReader& reader, const QString& path) {
                   return exportLog(reader, run, choice, path);
               },
               [](int64_t lines) { return counted(lines, tr("1 line"), tr("%1 lines")); }});
}

/// The lines that are shown.
LogChoice LogsTab::choice() const {
    LogChoice choice = searched();
    if (!m_only->isChecked())
        choice.search.clear();
    return choice;
}

/// The lines that match.
LogChoice LogsTab::searched() const {
    LogChoice choice;
    choice.rank = m_rank->currentData().toInt();
    choice.search = m_filter->text();
    choice.least = static_cast<Severity>(m_severity->currentData().toInt());
    if (m_span) {
        choice.sinceNs = m_span->firstNs;
        choice.untilNs = m_span->lastNs;
    }
    return choice;
}

void LogsTab::setRun(const QString& run) {
    m_run = run;
    m_ranks = 0;
    m_follow->setChecked(true); // a look at one time was of the run before
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

void LogsTab::setSpan(const std::optional<SpanTimes>& span) {
    if (std::exchange(m_span, span) == m_span)
        return;
    const auto first = m_text->firstTime();
    const bool isRead = m_next == Next::kFrom || !m_follow->isChecked(); // a place by itself
    if (isRead && first && (!span || span->holds(*first)))
        restartAt(*first, 0);
    else
        restart();
}

void LogsTab::chooseRank(int rank) {
    m_rank->setCurrentIndex(std::max(0, m_rank->findData(rank)));
}

void LogsTab::focusFilter() {
    m_filter->setFocus();
    m_filter->selectAll();
}

void LogsTab::refresh() {
    if (!isVisible())
        return;
    if (m_next != Next::kFrom)
        m_puller.request();
    if (!m_filter->text().isEmpty())
        m_matchPuller.request();
}

void LogsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
}

void LogsTab::showTime(int64_t wallNs) {
    m_follow->setChecked(false);
    m_filter->clear();
    m_severity->setCurrentIndex(0);
    restartAt(wallNs, 0);
}

void LogsTab::showMenu(const QPoint& at) {
    QMenu* menu = m_text->createStandardContextMenu();
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const FoldedLine* line = m_text->lineAt(at);
    menu->addSeparator();
    if (const KnownError* known = m_text->knownAt(at))
        menu->addAction(tr("What is this?"), this, [this, known] { explain(known); })
            ->setObjectName("explainLine");
    if (m_text->canFoldAt(at))
        menu->addAction(tr("Show or fold each rank"), this, [this, at] { m_text->toggleAt(at); })
            ->setObjectName("foldLine");
    QAction* charts = menu->addAction(
        tr("Show in the charts"), this,
        [this, time = line ? line->line.wallNs : 0] { Q_EMIT chartsRequested(time); });
    charts->setObjectName("showInCharts");
    charts->setEnabled(line != nullptr);
    menu->popup(m_text->viewport()->mapToGlobal(at));
}

/// Says what a known error means; nullptr: nothing is to be said.
void LogsTab::explain(const KnownError* error) {
    if (error)
        m_explain->show(Tone::kNeutral, QString::fromStdString(meaningOf(*error)),
                        QString::fromStdString(fixOf(*error)));
    else
        m_explain->hide();
}

/// Reads the last lines anew.
void LogsTab::restart() {
    ++m_reading;
    m_time.reset();
    m_next = Next::kTail;
    m_isEarlierThere = true;
    m_isEarlierPulled = false;
    m_match = -1;
    m_matches = {};
    m_text->clearLines();
    m_explain->hide();
    m_puller.restart();
    if (!m_filter->text().isEmpty())
        m_matchPuller.restart();
    showMatches();
}

/// Reads the lines around a time; `id`: the one to be pointed at, 0: the first one of that time.
void LogsTab::restartAt(int64_t wallNs, int64_t id) {
    ++m_reading;
    m_time = wallNs;
    m_wanted = id;
    m_next = Next::kFrom;
    m_fromNs = wallNs;
    m_fromId = 0;
    m_isEarlierThere = true;
    m_isEarlierPulled = false;
    m_text->clearLines();
    m_puller.restart();
}

void LogsTab::pull() {
    if (m_run.isEmpty())
        return;
    const bool isFirst = m_time.has_value();
    m_puller.await(
        m_context.store.ask([run = m_run, choice = choice(), next = m_next, id = m_lastId,
                             fromNs = m_fromNs, fromId = m_fromId, isFirst](StoreReader& reader) {
            if (next == Next::kTail)
                return reader.logTail(run, choice, kLinesAtOnce);
            if (next == Next::kAfter)
                return reader.logAfter(run, choice, id, kLinesAtOnce);
            LogPage page = reader.logFrom(run, choice, fromNs, fromId, kLinesAtOnce);
            if (isFirst) {
                LogPage before = reader.logBefore(run, choice, fromNs, 0, kLinesBefore);
                page.lines.insert(page.lines.begin(), before.lines.begin(), before.lines.end());
            }
            return page;
        }),
        this, [this](const LogPage& page) { use(page); });
}

void LogsTab::use(const LogPage& page) {
    const bool isAfter = m_next == Next::kAfter;
    if (m_next == Next::kTail)
        m_isEarlierThere = !page.isAll;
    if (m_next == Next::kFrom && !page.lines.empty()) {
        m_fromNs = page.lines.back().wallNs;
        m_fromId = page.lines.back().id;
    }
    if (m_next != Next::kFrom || page.isAll) {
        m_lastId = page.lastId;
        m_next = Next::kAfter;
    }
    m_text->add(page.lines, m_follow->isChecked());
    if (m_time) {
        const int64_t id = m_wanted != 0 ? m_wanted : m_text->idAt(*m_time);
        if (id != 0 && m_text->pointAt(id))
            m_time.reset();
    }
    const bool none = m_text->document()->isEmpty();
    m_empty->setVisible(none);
    m_empty->setText(!m_filter->text().isEmpty() || m_severity->currentIndex() != 0
                         ? tr("No line holds these words.")
                     : m_span ? tr("No line was written in these steps.")
                              : tr("No line yet."));
    if (isAfter && !page.isAll)
        m_puller.request();
}

/// What is before the first line, once that is scrolled to.
void LogsTab::pullEarlier() {
    const auto first = m_text->firstTime();
    if (!first || !m_isEarlierThere || m_isEarlierPulled || m_follow->isChecked())
        return;
    m_isEarlierPulled = true;
    const auto page = m_context.store.ask([run = m_run, choice = choice(), ns = *first,
                                           id = m_text->idAt(*first)](StoreReader& reader) {
        return reader.logBefore(run, choice, ns, id, kLinesAtOnce);
    });
    whenAnswered(page, this, [this, reading = m_reading](const LogPage& earlier) {
        if (reading != m_reading)
            return;
        m_isEarlierPulled = false;
        m_isEarlierThere = !earlier.isAll;
        m_text->add(earlier.lines, false);
    });
}

void LogsTab::pullMatches() {
    if (m_run.isEmpty() || m_filter->text().isEmpty())
        return;
    m_matchPuller.await(
        m_context.store.ask([run = m_run, choice = searched()](StoreReader& reader) {
            Matches found;
            const LogPage page = reader.logTail(run, choice, kMostMatches);
            for (const LogLine& line : page.lines)
                found.all.push_back({line.wallNs, line.id});
            found.isAll = page.isAll;
            return found;
        }),
        this, [this](const Matches& found) {
            m_matches = found;
            showMatches();
        });
}

void LogsTab::showMatches() {
    const auto count = static_cast<int64_t>(m_matches.all.size());
    const bool searches = !m_filter->text().isEmpty();
    m_found->setVisible(searches);
    m_previous->setVisible(searches);
    m_following->setVisible(searches);
    m_previous->setEnabled(count > 0);
    m_following->setEnabled(count > 0);
    const QString all =
        m_matches.isAll ? formatCount(count) : tr("more than %1").arg(formatCount(count));
    m_found->setText(m_match >= 0      ? tr("%1 of %2").arg(formatCount(m_match + 1), all)
                     : m_matches.isAll ? counted(count, tr("1 match"), tr("%1 matches"))
                                       : all);
}

/// The next match for 1, the one before for -1; from the last one on it begins anew.
void LogsTab::goToMatch(int step) {
    const auto count = static_cast<int>(m_matches.all.size());
    if (count == 0)
        return;
    if (m_match < 0)
        m_match = step > 0 ? 0 : count - 1;
    else
        m_match = (m_match + step + count) % count;
    m_follow->setChecked(false);
    const Match& match = m_matches.all[static_cast<size_t>(m_match)];
    if (!m_text->pointAt(match.id))
        restartAt(match.wallNs, match.id);
    showMatches();
}

} // namespace rm
