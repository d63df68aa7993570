// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/log_errors.h"
#include "app/core/runs/log_fold.h"
#include "app/core/store/log_search.h"

#include <QHash>
#include <QPlainTextEdit>
#include <QTextBlock>

#include <memory>
#include <optional>
#include <vector>

namespace rm {

/// Lines of a run's log by time, each with where it comes from. The same line of several ranks is
/// one row until it is unfolded; warnings, errors, known errors and what is looked for are marked.
/// GUI thread.
class LogView : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit LogView(QWidget* parent = nullptr);
    ~LogView() override;

    void clearLines();
    /// In any order, each once. Those that came before stay where they are in sight.
    void add(std::vector<LogLine> lines, bool follows);
    void setFolds(bool folds); ///< of lines that are added from now on, and of those that are there
    void setSearch(const LogSearch& search);
    /// Marks and shows the row of that line; false: it is not there.
    bool pointAt(int64_t id);
    /// The first line of that time or later; 0: there is none.
    int64_t idAt(int64_t wallNs) const;

    /// Of the row at a place of the viewport; nullptr: none.
    const FoldedLine* lineAt(const QPoint& place) const;
    const KnownError* knownAt(const QPoint& place) const;
    bool canFoldAt(const QPoint& place) const;
    void toggleAt(const QPoint& place);
    std::optional<int64_t> firstTime() const;

Q_SIGNALS:
    /// The cursor is in a row with that known error; nullptr: with none.
    void knownChosen(const rm::KnownError* error);

protected:
    bool viewportEvent(QEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Entry;
    struct Row;
    using Entries = std::vector<std::unique_ptr<Entry>>;

    bool fold(const LogLine& line);
    void insert(LogLine line);
    void insertRows(Entry& entry, Entries::iterator before);
    void appendRow(QTextCursor& cursor, Entry& entry, int member);
    void write(QTextCursor& cursor, Entry& entry, int member);
    void rewrite(Entry& entry);
    void toggle(Entry& entry);
    void rebuild();
    QTextCursor cursorAt(int64_t id) const;
    void trim();
    void markVisible();
    Row* rowOf(const QTextBlock& block) const;
    Row* rowAt(const QPoint& place) const;
    QString hintOf(const Row& row) const;

    Entries m_entries;               ///< by time
    QHash<QString, Entry*> m_newest; ///< of each text
    int m_rows = 0;
    bool m_folds = true;
    LogSearch m_search;
    QTextCursor m_mark; ///< of the row that is pointed at
};

} // namespace rm
