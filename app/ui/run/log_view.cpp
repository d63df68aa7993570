// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/log_view.h"

#include "app/core/store/export.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace rm {

namespace {

constexpr int kMostRows = 50'000;
constexpr int kTrimmedAtOnce = 5'000;
constexpr int kPlaceWidth = 12; ///< characters

QString timeWords(const LogLine& line) {
    const QDateTime when = QDateTime::fromMSecsSinceEpoch(line.wallNs / 1'000'000);
    return (line.isStamped ? QString() : QStringLiteral("~")) + when.toString("HH:mm:ss.zzz");
}

bool isEarlierLine(const LogLine& a, const LogLine& b) {
    return std::tie(a.wallNs, a.id) < std::tie(b.wallNs, b.id);
}

QColor colourOf(Severity severity) {
    switch (severity) {
    case Severity::kError:
        return colours().bad;
    case Severity::kWarning:
        return colours().warn;
    case Severity::kInfo:
        break;
    }
    return colours().text;
}

} // namespace

struct LogView::Entry {
    FoldedLine folded;
    bool isOpen = false;
    QTextBlock first = {}; ///< of its rows

    const LogLine& member(int at) const {
        return at <= 0 ? folded.line : folded.others[static_cast<size_t>(at) - 1];
    }
    int rows() const { return isOpen ? static_cast<int>(folded.others.size()) + 1 : 1; }
};

/// What a block of the text shows.
struct LogView::Row : QTextBlockUserData {
    Row(Entry& of, int characters)
        : entry(&of)
        , member(of.isOpen ? 0 : -1)
        , place(characters) {}

    Entry* entry;
    int member; ///< of an entry that is open; -1: all of it
    int place;  ///< characters in front of the text
};

LogView::LogView(QWidget* parent)
    : QPlainTextEdit(parent) {
    setReadOnly(true);
    setUndoRedoEnabled(false);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &LogView::markVisible);
    connect(&Theme::instance(), &Theme::changed, this, &LogView::rebuild);
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        const Row* row = rowOf(textCursor().block());
        Q_EMIT knownChosen(row ? knownErrorIn(row->entry->folded.line.text) : nullptr);
    });
}

/// What it hears of its own parts as they go would meet members that are gone. Others, such as the
/// style sheet, have to hear of its end.
LogView::~LogView() {
    disconnect(this, &QPlainTextEdit::cursorPositionChanged, this, nullptr);
    disconnect(verticalScrollBar(), nullptr, this, nullptr);
}

void LogView::clearLines() {
    m_mark = {};
    clear();
    m_entries.clear();
    m_newest.clear();
    m_rows = 0;
    setExtraSelections({});
    horizontalScrollBar()->setValue(0);
}

void LogView::add(std::vector<LogLine> lines, bool follows) {
    if (lines.empty())
        return;
    std::ranges::sort(lines, isEarlierLine);
    const bool isFirst = m_entries.empty();
    const int scrolled = verticalScrollBar()->value();
    const int across = horizontalScrollBar()->value();
    const int before = m_rows;
    const bool areEarlier = !isFirst && isEarlierLine(lines.back(), m_entries.front()->folded.line);
    QTextCursor edit(document());
    edit.beginEditBlock();
    for (LogLine& line : lines)
        if (!m_folds || !fold(line))
            insert(std::move(line));
    edit.endEditBlock();
    if (follows || m_rows > 2 * kMostRows)
        trim();
    if (isFirst) { // or Qt scrolls to the end of the last line once the text is shown
        const QSignalBlocker nobodyChoseIt(this);
        moveCursor(QTextCursor::Start);
    }
    const int shown = scrolled + (areEarlier ? m_rows - before : 0);
    verticalScrollBar()->setValue(follows ? verticalScrollBar()->maximum() : shown);
    horizontalScrollBar()->setValue(across);
    markVisible();
}

/// Puts the line to the same one of other ranks; false: there is none.
bool LogView::fold(const LogLine& line) {
    const auto newest = m_newest.constFind(QString::fromStdString(line.text));
    if (newest == m_newest.constEnd() || !(*newest)->folded.takes(line))
        return false;
    Entry& entry = **newest;
    entry.folded.others.push_back(line);
    if (entry.isOpen) { // its rows are known by their number
        QTextCursor cursor(entry.first);
        cursor.movePosition(QTextCursor::NextBlock, QTextCursor::MoveAnchor, entry.rows() - 2);
        cursor.movePosition(QTextCursor::EndOfBlock);
        appendRow(cursor, entry, entry.rows() - 1);
        ++m_rows;
    } else {
        rewrite(entry);
    }
    return true;
}

void LogView::insert(LogLine line) {
    auto entry = std::make_unique<Entry>();
    entry->folded.line = std::move(line);
    const LogLine& its = entry->folded.line;
    auto before = m_entries.end();
    if (!m_entries.empty() && isEarlierLine(its, m_entries.back()->folded.line))
        before = std::ranges::upper_bound(
            m_entries, its, isEarlierLine,
            [](const auto& each) -> const LogLine& { return each->folded.line; });
    m_newest[QString::fromStdString(its.text)] = entry.get();
    Entry& inserted = *entry;
    before = m_entries.insert(before, std::move(entry));
    insertRows(inserted, before);
}

/// The rows of an entry that is in its place among the others.
void LogView::insertRows(Entry& entry, Entries::iterator at) {
    QTextCursor cursor(document());
    if (m_rows == 0) {
        entry.first = document()->firstBlock();
        write(cursor, entry, entry.isOpen ? 0 : -1);
    } else if (at != m_entries.begin()) {
        const Entry& previous = **std::prev(at);
        cursor = QTextCursor(previous.first);
        cursor.movePosition(QTextCursor::NextBlock, QTextCursor::MoveAnchor, previous.rows() - 1);
        cursor.movePosition(QTextCursor::EndOfBlock);
        appendRow(cursor, entry, entry.isOpen ? 0 : -1);
    } else {
        // Qt gives the first block, with what is known of it, to what is put in front.
        Entry& next = **std::next(at);
        const int place = rowOf(next.first)->place;
        cursor.insertBlock();
        next.first = cursor.block();
        next.first.setUserData(new Row(next, place));
        entry.first = document()->firstBlock();
        cursor = QTextCursor(entry.first);
        write(cursor, entry, entry.isOpen ? 0 : -1);
    }
    for (int member = 1; member < entry.rows(); ++member)
        appendRow(cursor, entry, member);
    m_rows += entry.rows();
}

/// Behind the block of the cursor, which is at its end, and at the end of the new one then.
void LogView::appendRow(QTextCursor& cursor, Entry& entry, int member) {
    cursor.insertBlock();
    if (member <= 0)
        entry.first = cursor.block();
    write(cursor, entry, member);
}

/// Into an empty block.
void LogView::write(QTextCursor& cursor, Entry& entry, int member) {
    const LogLine& line = entry.member(member);
    const bool isFolded = member < 0 && !entry.folded.others.empty();
    const QString place =
        QString::fromStdString(isFolded ? placeText(entry.folded) : placeText(line));
    const QString mark = isFolded      ? QStringLiteral("▸ ")
                         : member == 0 ? QStringLiteral("▾ ")
                                       : QString();
    const QString head = timeWords(line) + "  " + (mark + place).leftJustified(kPlaceWidth) + "  ";
    QTextCharFormat quiet;
    quiet.setForeground(colours().secondary);
    cursor.insertText(head, quiet);
    QTextCharFormat loud;
    loud.setForeground(colourOf(line.severity));
    if (knownErrorIn(line.text))
        loud.setUnderlineStyle(QTextCharFormat::DotLine);
    cursor.insertText(QString::fromStdString(line.text), loud);
    auto* row = new Row(entry, static_cast<int>(head.size()));
    row->member = member;
    cursor.block().setUserData(row);
}

void LogView::rewrite(Entry& entry) {
    QTextCursor cursor(entry.first);
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    cursor.removeSelectedText();
    write(cursor, entry, entry.isOpen ? 0 : -1);
}

void LogView::toggle(Entry& entry) {
    if (entry.folded.others.empty())
        return;
    QTextCursor cursor(entry.first);
    cursor.beginEditBlock();
    cursor.movePosition(QTextCursor::NextBlock, QTextCursor::MoveAnchor, entry.rows() - 1);
    cursor.movePosition(QTextCursor::EndOfBlock);
    m_rows -= entry.rows();
    cursor.setPosition(entry.first.position(), QTextCursor::KeepAnchor);
    cursor.removeSelectedText();
    entry.isOpen = !entry.isOpen;
    entry.first = cursor.block();
    write(cursor, entry, entry.isOpen ? 0 : -1);
    for (int member = 1; member < entry.rows(); ++member)
        appendRow(cursor, entry, member);
    m_rows += entry.rows();
    cursor.endEditBlock();
    setTextCursor(QTextCursor(entry.first));
    markVisible();
}

void LogView::setFolds(bool folds) {
    if (folds == m_folds)
        return;
    m_folds = folds;
    rebuild();
}

/// Writes the lines anew, for other colours or folds. What is in sight, the mark and the cursor
/// stay.
void LogView::rebuild() {
    const QSignalBlocker nobodyChoseIt(this);
    const auto idIn = [this](const QTextBlock& block) {
        const Row* row = rowOf(block);
        return row ? row->entry->member(row->member).id : 0;
    };
    const int64_t top = idIn(firstVisibleBlock()), chosen = idIn(textCursor().block());
    const int64_t marked = m_mark.isNull() ? 0 : idIn(m_mark.block());
    const int across = horizontalScrollBar()->value();
    const bool wasAtEnd = verticalScrollBar()->value() == verticalScrollBar()->maximum();
    std::vector<LogLine> lines;
    for (const auto& entry : m_entries) {
        lines.push_back(entry->folded.line);
        lines.insert(lines.end(), entry->folded.others.begin(), entry->folded.others.end());
    }
    clearLines();
    add(std::move(lines), wasAtEnd);
    if (const QTextCursor cursor = cursorAt(chosen); !cursor.isNull())
        setTextCursor(cursor);
    m_mark = cursorAt(marked);
    verticalScrollBar()->setValue(wasAtEnd ? verticalScrollBar()->maximum()
                                           : cursorAt(top).block().firstLineNumber());
    horizontalScrollBar()->setValue(across);
    markVisible();
}

void LogView::trim() {
    if (m_rows <= kMostRows + kTrimmedAtOnce)
        return;
    auto kept = m_entries.begin();
    for (int rows = m_rows; rows > kMostRows && std::next(kept) != m_entries.end(); ++kept)
        rows -= (*kept)->rows();
    QTextCursor cursor(document());
    cursor.setPosition((*kept)->first.position(), QTextCursor::KeepAnchor);
    const int place = rowOf((*kept)->first)->place;
    cursor.removeSelectedText();
    // Qt may keep the first block, with what was known of it.
    (*kept)->first = document()->firstBlock();
    (*kept)->first.setUserData(new Row(**kept, place));
    std::unordered_set<const Entry*> gone;
    for (auto at = m_entries.begin(); at != kept; ++at) {
        m_rows -= (*at)->rows();
        gone.insert(at->get());
    }
    m_newest.removeIf([&](const auto& newest) { return gone.contains(newest.value()); });
    m_entries.erase(m_entries.begin(), kept);
}

void LogView::setSearch(const LogSearch& search) {
    m_search = search;
    markVisible();
}

/// Marks what is looked for in the rows that are in sight, and the row that is pointed at.
void LogView::markVisible() {
    QList<QTextEdit::ExtraSelection> marks;
    const auto mark = [&](const QTextCursor& cursor, const QColor& back, bool isWhole) {
        QTextEdit::ExtraSelection selection;
        selection.cursor = cursor;
        selection.format.setBackground(back);
        selection.format.setProperty(QTextFormat::FullWidthSelection, isWhole);
        marks.push_back(selection);
    };
    if (!m_mark.isNull())
        mark(m_mark, colours().accentBack, true);
    QTextBlock block = firstVisibleBlock();
    int height = static_cast<int>(contentOffset().y());
    for (; !m_search.isEmpty() && block.isValid() && height < viewport()->height();
         block = block.next()) {
        height += static_cast<int>(blockBoundingRect(block).height());
        const Row* row = rowOf(block);
        if (!row)
            continue;
        const std::string text = block.text().mid(row->place).toStdString();
        for (const auto& [begin, length] : m_search.hits(text)) {
            const auto chars = [&](size_t from, size_t count) {
                return static_cast<int>(
                    QString::fromUtf8(text.data() + from, static_cast<qsizetype>(count)).size());
            };
            QTextCursor cursor(block);
            cursor.setPosition(block.position() + row->place + chars(0, begin));
            cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor,
                                chars(begin, length));
            mark(cursor, colours().warnBack, false);
        }
    }
    setExtraSelections(marks);
}

/// The row of that line; null: it is not there.
QTextCursor LogView::cursorAt(int64_t id) const {
    for (const auto& entry : m_entries) {
        const FoldedLine& folded = entry->folded;
        const auto other = std::ranges::find(folded.others, id, &LogLine::id);
        if (folded.line.id != id && other == folded.others.end())
            continue;
        QTextCursor cursor(entry->first);
        if (entry->isOpen && folded.line.id != id)
            cursor.movePosition(QTextCursor::NextBlock, QTextCursor::MoveAnchor,
                                static_cast<int>(other - folded.others.begin()) + 1);
        return cursor;
    }
    return {};
}

bool LogView::pointAt(int64_t id) {
    const QTextCursor cursor = cursorAt(id);
    if (cursor.isNull())
        return false;
    m_mark = cursor;
    setTextCursor(cursor);
    centerCursor();
    horizontalScrollBar()->setValue(0);
    markVisible();
    return true;
}

int64_t LogView::idAt(int64_t wallNs) const {
    const auto found = std::ranges::find_if(
        m_entries, [&](const auto& entry) { return entry->folded.line.wallNs >= wallNs; });
    return found == m_entries.end() ? 0 : (*found)->folded.line.id;
}

std::optional<int64_t> LogView::firstTime() const {
    return m_entries.empty() ? std::nullopt : std::optional(m_entries.front()->folded.line.wallNs);
}

LogView::Row* LogView::rowOf(const QTextBlock& block) const {
    return static_cast<Row*>(block.userData());
}

LogView::Row* LogView::rowAt(const QPoint& place) const {
    return rowOf(cursorForPosition(place).block());
}

const FoldedLine* LogView::lineAt(const QPoint& place) const {
    const Row* row = rowAt(place);
    return row ? &row->entry->folded : nullptr;
}

const KnownError* LogView::knownAt(const QPoint& place) const {
    const Row* row = rowAt(place);
    return row ? knownErrorIn(row->entry->folded.line.text) : nullptr;
}

bool LogView::canFoldAt(const QPoint& place) const {
    const Row* row = rowAt(place);
    return row && !row->entry->folded.others.empty();
}

void LogView::toggleAt(const QPoint& place) {
    if (const Row* row = rowAt(place))
        toggle(*row->entry);
}

QString LogView::hintOf(const Row& row) const {
    QStringList words;
    if (const KnownError* known = knownErrorIn(row.entry->folded.line.text))
        words << QString::fromStdString(meaningOf(*known)) << QString::fromStdString(fixOf(*known));
    if (row.member < 0 && !row.entry->folded.others.empty())
        words << tr("The same line of several ranks: a click in front of it shows each.");
    if (!row.entry->folded.line.isStamped)
        words << tr("The time is when the line came here, as nobody noted when it was written.");
    return words.join('\n');
}

bool LogView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QPlainTextEdit::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const Row* row = rowAt(help->pos());
    const QString hint = row ? hintOf(*row) : QString();
    QToolTip::showText(help->globalPos(), hint.isEmpty() ? QString() : asHtml(hint), viewport());
    return true;
}

/// A click in front of a folded line, or in front of the first row of one that was unfolded.
void LogView::mouseReleaseEvent(QMouseEvent* event) {
    QPlainTextEdit::mouseReleaseEvent(event);
    const QTextCursor cursor = cursorForPosition(event->pos());
    const Row* row = rowOf(cursor.block());
    if (event->button() == Qt::LeftButton && !textCursor().hasSelection() && row &&
        row->member <= 0 && cursor.positionInBlock() < row->place)
        toggle(*row->entry);
}

void LogView::keyPressEvent(QKeyEvent* event) {
    const Row* row = rowOf(textCursor().block());
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (isEnter && row && !row->entry->folded.others.empty())
        return toggle(*row->entry);
    QPlainTextEdit::keyPressEvent(event);
}

} // namespace rm
