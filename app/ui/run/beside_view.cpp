// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/beside_view.h"

#include "app/core/compare/word_diff.h"
#include "app/ui/look/theme.h"

#include <QTextCursor>
#include <QTextTable>

namespace rm {

namespace {

constexpr int kCellPadding = 6;

QTextCharFormat formatOf(FontRole role, const QColor& colour) {
    QTextCharFormat format;
    format.setFont(Theme::instance().font(role));
    format.setForeground(colour);
    return format;
}

/// The words of one column, those marked that the first column does not have.
void insertWords(QTextCursor cursor, const SampleRow& row, size_t column) {
    const QTextCharFormat plain = formatOf(FontRole::kBody, colours().text);
    const auto& sample = row.of[column];
    if (!sample)
        return cursor.insertText(BesideView::tr("no such sample"),
                                 formatOf(FontRole::kBody, colours().faint));
    if (column == 0 || !row.of.front())
        return cursor.insertText(QString::fromStdString(sample->text), plain);
    QTextCharFormat own = plain;
    own.setBackground(colours().accentBack);
    own.setFontUnderline(true); // colour alone does not tell
    for (const WordSpan& span : wordDiff(row.of.front()->text, sample->text).b)
        cursor.insertText(QString::fromStdString(span.text), span.isOwn ? own : plain);
}

void insertLine(QTextCursor& cursor, const QString& label, const std::string& text) {
    cursor.insertText(label, formatOf(FontRole::kSecondary, colours().secondary));
    cursor.insertText(QString::fromStdString(text) + '\n',
                      formatOf(FontRole::kBody, colours().text));
}

QString headOf(const SampleRow& row, size_t column, const QStringList& titles) {
    const std::string score = row.of[column] ? scoreWords(*row.of[column]) : std::string();
    const QString title = titles.value(static_cast<int>(column));
    return score.empty() ? title
                         : BesideView::tr("%1, %2").arg(title, QString::fromStdString(score));
}

} // namespace

BesideView::BesideView(QWidget* parent)
    : QTextEdit(parent) {
    setReadOnly(true);
    setAcceptRichText(false);
    setFrameShape(QFrame::NoFrame);
    setProperty("role", "bare");
    setObjectName("samplesBeside");
    setAccessibleName(tr("Samples side by side"));
    connect(&Theme::instance(), &Theme::changed, this, &BesideView::rebuild);
}

void BesideView::show(const std::vector<SampleRow>& rows, const QStringList& titles) {
    m_rows = rows;
    m_titles = titles;
    rebuild();
}

void BesideView::rebuild() {
    clear();
    QTextCursor cursor(document());
    for (const SampleRow& row : m_rows) {
        const bool isTranslation = row.kind == SampleKind::kTranslation;
        insertLine(cursor, isTranslation ? tr("Source: ") : tr("Prompt: "), row.prompt);
        QTextTableFormat look;
        look.setBorder(0);
        look.setCellPadding(kCellPadding);
        look.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        const auto columns = static_cast<int>(row.of.size());
        look.setColumnWidthConstraints(QVector<QTextLength>(
            columns, QTextLength(QTextLength::PercentageLength, 100.0 / columns)));
        QTextTable* table = cursor.insertTable(2, columns, look);
        for (int column = 0; column < columns; ++column) {
            table->cellAt(0, column).firstCursorPosition().insertText(
                headOf(row, static_cast<size_t>(column), m_titles),
                formatOf(FontRole::kSecondary, colours().secondary));
            insertWords(table->cellAt(1, column).firstCursorPosition(), row,
                        static_cast<size_t>(column));
        }
        cursor.movePosition(QTextCursor::End);
        if (isTranslation)
            insertLine(cursor, tr("Reference: "), row.reference);
        cursor.insertText("\n");
    }
    moveCursor(QTextCursor::Start);
}

} // namespace rm
