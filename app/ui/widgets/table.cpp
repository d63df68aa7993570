// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/table.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QFocusEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QScopedValueRollback>

#include <algorithm>
#include <utility>

namespace rm {

namespace {
constexpr int kLeastLeft = 110; ///< for the column that takes what is left, if nobody says more
constexpr double kNarrowest = 0.6;
constexpr double kComfortable = 0.8;
constexpr double kFarLess = 0.75; ///< a column keeps its width while it needs more of it
constexpr int kLeastRows = 3;
constexpr int kRowsMeasured = 64; ///< for fitToContents(), besides those in sight
constexpr int kFigure = 80; ///< so narrow a column has a figure, which is of no use when it is cut
} // namespace

Table::Table(const char* objectName, const QString& accessibleName, QWidget* parent)
    : QTableView(parent)
    , m_leastLeft(kLeastLeft) {
    setObjectName(objectName);
    setAccessibleName(accessibleName);
    setItemDelegate(new CellDelegate(this));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setFrameShape(QFrame::NoFrame);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(size::kRowHeight);
    horizontalHeader()->setDefaultAlignment(Qt::AlignVCenter | Qt::AlignLeft);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setResizeContentsPrecision(kRowsMeasured);
    connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (!(index.flags() & Qt::ItemIsEditable) && !index.data(kHeaderRole).isValid())
            Q_EMIT opened(index.row());
    });
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, &Table::onSectionResized);
}

void Table::setColumnWidths(const std::vector<int>& widths) {
    m_widths = widths;
    m_least = widths;
    m_whole.clear();
    for (size_t column = 0; column < widths.size(); ++column)
        if (widths[column] == 0)
            horizontalHeader()->setSectionResizeMode(static_cast<int>(column),
                                                     QHeaderView::Stretch);
    fitColumns();
}

void Table::fitToContents(const std::map<int, int>& most) {
    const auto before = std::pair(m_widths, std::exchange(m_whole, {}));
    for (const auto& [column, limit] : most) {
        int& width = m_widths[static_cast<size_t>(column)];
        const int hint =
            std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
        if (isColumnHidden(column))
            continue;
        const int wanted = std::max(m_least[static_cast<size_t>(column)], std::min(limit, hint));
        if (wanted > width || wanted < kFarLess * width)
            width = wanted;
        if (hint > width)
            m_whole[column] = hint;
    }
    if (std::pair(m_widths, m_whole) != before)
        fitColumns();
}

void Table::showWhole(int least, int most) {
    m_widths.clear();
    m_kept.clear();
    for (int column = 0; column < model()->columnCount(); ++column) {
        const int hint =
            std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
        m_widths.push_back(std::clamp(hint, least, most));
        m_kept.insert(column);
    }
    fitColumns();
}

void Table::setDrawnWidths(const std::map<int, int>& widths) {
    m_drawn = widths;
    fitColumns();
}

void Table::setNarrowing(const std::vector<int>& leftOut, const std::set<int>& kept) {
    m_leftOut = leftOut;
    m_kept = kept;
    fitColumns();
}

void Table::setEmptyColumns(const std::vector<int>& columns) {
    if (columns == m_empty)
        return;
    const QScopedValueRollback fitting(m_isFitting, true);
    for (const int column : m_empty)
        setColumnHidden(column, m_unwanted.contains(column));
    m_empty = columns;
    fitColumns();
}

void Table::setLeastLeft(int width) {
    m_leastLeft = width;
    fitColumns();
}

void Table::setColumnWanted(int column, bool isWanted) {
    if (isWanted == !m_unwanted.contains(column))
        return;
    if (isWanted)
        m_unwanted.erase(column);
    else
        m_unwanted.insert(column);
    const QScopedValueRollback fitting(m_isFitting, true);
    setColumnHidden(column, !isWanted);
    fitColumns();
}

void Table::setRowsInSight(int rows) {
    m_rowsInSight = rows;
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    for (const auto change : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(model(), change, this, &QWidget::updateGeometry);
    connect(model(), &QAbstractItemModel::modelReset, this, &QWidget::updateGeometry);
}

int Table::heightOf(int rows) const {
    return horizontalHeader()->sizeHint().height() +
           std::clamp(model()->rowCount(), 1, rows) * size::kRowHeight;
}

QSize Table::sizeHint() const {
    const QSize usual = QTableView::sizeHint();
    return m_rowsInSight == 0 ? usual : QSize(usual.width(), heightOf(m_rowsInSight));
}

QSize Table::minimumSizeHint() const {
    const QSize usual = QTableView::minimumSizeHint();
    return m_rowsInSight == 0 ? usual
                              : QSize(usual.width(), heightOf(std::min(m_rowsInSight, kLeastRows)));
}

bool Table::isKept(int column) const {
    return m_widths[static_cast<size_t>(column)] <= kFigure || m_kept.contains(column) ||
           m_drawn.contains(column);
}

int Table::wantedWidth(int column) const {
    if (const auto drawn = m_drawn.find(column); drawn != m_drawn.end())
        return drawn->second;
    const int width = m_widths[static_cast<size_t>(column)];
    return m_kept.contains(column) ? std::max(width, horizontalHeader()->sectionSizeHint(column))
                                   : width;
}

int Table::wholeWidth(int column) const {
    const auto whole = m_whole.find(column);
    const int width = wantedWidth(column);
    return whole == m_whole.end() || m_drawn.contains(column) ? width
                                                              : std::max(width, whole->second);
}

/// Beside all that is in sight; below 0: something is cut.
int Table::roomToSpare() const {
    int room = viewport()->width();
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column) {
        const int width = wholeWidth(column);
        if (!isColumnHidden(column))
            room -= width == 0 ? m_leastLeft : width;
    }
    return room;
}

/// How much of its width each column can have that is not kept.
double Table::shareOfRoom() const {
    int wanted = 0, kept = 0;
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column) {
        const int width = wantedWidth(column);
        if (!isColumnHidden(column))
            (isKept(column) ? kept : wanted) += width == 0 ? m_leastLeft : width;
    }
    return static_cast<double>(viewport()->width() - kept) / std::max(1, wanted);
}

void Table::leaveOut() {
    for (const std::vector<int>* columns : {&m_empty, &m_leftOut})
        for (const int column : *columns)
            setColumnHidden(column, m_unwanted.contains(column));
    for (const int column : m_empty)
        if (roomToSpare() < 0)
            setColumnHidden(column, true);
    for (const int column : m_leftOut)
        if (shareOfRoom() < kComfortable)
            setColumnHidden(column, true);
}

QStringList Table::leftOutTitles() const {
    QStringList titles;
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column)
        if (isColumnHidden(column) && !m_unwanted.contains(column))
            titles << model()->headerData(column, Qt::Horizontal).toString();
    return titles;
}

void Table::fitColumns() {
    const QScopedValueRollback fitting(m_isFitting, true);
    leaveOut();
    resizeColumns();
    Q_EMIT columnsFitted();
}

/// Whether something of use is left for the columns that take what others leave.
bool Table::fitsWith(double share) const {
    double room = viewport()->width();
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column) {
        const int width = wantedWidth(column);
        if (!isColumnHidden(column))
            room -=
                width == 0 ? std::min(m_leastLeft, kFigure) : (isKept(column) ? 1 : share) * width;
    }
    return room >= 0;
}

void Table::resizeColumns() {
    const double share = std::clamp(shareOfRoom(), kNarrowest, 1.0);
    const bool fits = fitsWith(share); // else it is scrolled
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column) {
        const int width = wantedWidth(column);
        if (m_widths[static_cast<size_t>(column)] == 0)
            horizontalHeader()->setSectionResizeMode(column, fits ? QHeaderView::Stretch
                                                                  : QHeaderView::Interactive);
        if (width == 0 && !fits && !isColumnHidden(column))
            horizontalHeader()->resizeSection(column, m_leastLeft);
        if (width != 0 && !isColumnHidden(column))
            horizontalHeader()->resizeSection(
                column, static_cast<int>((isKept(column) ? 1 : share) * width));
    }
    if (share >= 1)
        spreadRoom();
}

/// Gives room that would stay empty to columns whose texts are cut, from the first one on.
void Table::spreadRoom() {
    int room = viewport()->width();
    for (int column = 0; column < static_cast<int>(m_widths.size()); ++column)
        if (!isColumnHidden(column))
            room -= m_widths[static_cast<size_t>(column)] == 0 ? m_leastLeft : columnWidth(column);
    for (const auto& [column, whole] : m_whole) {
        const int more = std::min(room, wholeWidth(column) - columnWidth(column));
        if (isColumnHidden(column) || more <= 0)
            continue;
        horizontalHeader()->resizeSection(column, columnWidth(column) + more);
        room -= more;
    }
}

void Table::onSectionResized(int section, int before, int now) {
    const bool isOurs =
        m_isFitting || horizontalHeader()->sectionResizeMode(section) == QHeaderView::Stretch;
    if (isOurs)
        return;
    if (before == 0 || now == 0)
        return;
    m_drawn[section] = now;
    Q_EMIT columnDrawn();
}

void Table::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitColumns();
}

int Table::currentRow() const {
    const std::vector<int> rows = selectedRows();
    return rows.empty() ? -1 : rows.front();
}

void Table::allowSeveral() {
    setSelectionMode(QAbstractItemView::ExtendedSelection);
}

std::vector<int> Table::selectedRows() const {
    std::vector<int> rows;
    if (selectionModel())
        for (const QModelIndex& index : selectionModel()->selectedRows())
            rows.push_back(index.row());
    std::ranges::sort(rows);
    return rows;
}

void Table::selectRows(const std::vector<int>& rows) {
    QItemSelection selection;
    for (size_t first = 0, next = 0; first < rows.size(); first = next) {
        for (next = first + 1; next < rows.size() && rows[next] == rows[next - 1] + 1;)
            ++next; // rows that touch are one range
        selection.select(model()->index(rows[first], 0),
                         model()->index(rows[next - 1], model()->columnCount() - 1));
    }
    if (!rows.empty())
        selectionModel()->setCurrentIndex(model()->index(rows.front(), 0),
                                          QItemSelectionModel::NoUpdate);
    selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
}

void Table::keyPressEvent(QKeyEvent* event) {
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    const bool edits = event->key() == Qt::Key_F2 && !(currentIndex().flags() & Qt::ItemIsEditable);
    const bool opens = isReturn && state() != EditingState;
    if (opens && currentRow() >= 0)
        Q_EMIT opened(currentRow());
    else if (edits && currentRow() >= 0)
        Q_EMIT editRequested(currentRow());
    else if (!opens) // or a dialog would press its default button
        QTableView::keyPressEvent(event);
}

void Table::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (!hasFocus() || !currentIndex().isValid())
        return;
    const int row = currentIndex().row();
    QPainter painter(viewport());
    painter.setPen(colours().accent);
    painter.drawRect(0, rowViewportPosition(row), viewport()->width() - 1, rowHeight(row) - 2);
}

/// Selects a row for a person who gets here by the keyboard, so that the focus is seen.
void Table::focusInEvent(QFocusEvent* event) {
    const bool isByKey =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (isByKey && currentRow() < 0 && model() && model()->rowCount() > 0)
        selectRow(0);
    QTableView::focusInEvent(event);
}

/// The whole row, of which Qt would draw one cell anew.
void Table::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTableView::currentChanged(current, previous);
    viewport()->update();
}

void Table::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
    QTableView::selectionChanged(selected, deselected);
    Q_EMIT rowChosen(currentRow());
}

} // namespace rm
