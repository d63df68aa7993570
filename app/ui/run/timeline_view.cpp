// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/timeline_view.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/runs_model.h"

#include <QItemSelectionModel>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace rm {

namespace {

constexpr int kLine = 22;
constexpr int kPad = 14;
constexpr int kTimeWidth = 42;
constexpr int kRemovedRole = Qt::UserRole + 100; ///< whether it is of what was removed
constexpr int kFaintRole = kRemovedRole + 1;     ///< whether it is outside of what is looked at
constexpr int kMostHeight = 400;                 ///< of a moment whose text is shown whole

/// One line a moment, and all of its text of the one that is chosen.
class MomentDelegate : public QStyledItemDelegate {
public:
    explicit MomentDelegate(QListView* view)
        : QStyledItemDelegate(view)
        , m_view(view) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        if (index != m_view->currentIndex())
            return {0, kLine};
        const QFontMetrics metrics(Theme::instance().font(FontRole::kSecondary));
        const int width = m_view->viewport()->width() - 3 * kPad - kTimeWidth;
        const QRect whole = metrics.boundingRect(QRect(0, 0, std::max(width, 1), kMostHeight),
                                                 Qt::TextWordWrap, index.data().toString());
        return {0, whole.height() + kLine - metrics.height()};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, colours().accentBack);
        QRect rest = option.rect.adjusted(kPad, 0, -kPad, 0);
        const bool isWhole = rest.height() > kLine;
        const QRect firstLine(rest.left(), rest.top(), rest.width(), kLine);
        painter->setFont(theme.font(FontRole::kMono));
        painter->setPen(colours().secondary);
        painter->drawText(firstLine, Qt::AlignVCenter | Qt::AlignLeft,
                          index.data(kSortRole).toString());
        rest.setLeft(rest.left() + kTimeWidth);
        const QColor tone = toneColour(static_cast<Tone>(index.data(kToneRole).toInt()));
        const bool isHollow = index.data(kRemovedRole).toBool();
        painter->setPen(isHollow ? QPen(tone, 1) : QPen(Qt::NoPen));
        painter->setBrush(isHollow ? QBrush(Qt::NoBrush) : QBrush(tone));
        painter->drawEllipse(QRectF(rest.left(), firstLine.center().y() - 3.0, 7, 7));
        rest.setLeft(rest.left() + kPad);
        painter->setFont(theme.font(FontRole::kSecondary));
        painter->setPen(index.data(kFaintRole).toBool() ? colours().faint : colours().text);
        const QString text = index.data().toString();
        const QString shown =
            isWhole ? text : painter->fontMetrics().elidedText(text, Qt::ElideRight, rest.width());
        painter->drawText(rest, Qt::AlignVCenter | Qt::AlignLeft | (isWhole ? Qt::TextWordWrap : 0),
                          shown);
        painter->restore();
    }

private:
    QListView* m_view;
};

} // namespace

void TimelineModel::setMoments(std::vector<Moment> moments) {
    if (moments == m_moments)
        return;
    beginResetModel();
    m_moments = std::move(moments);
    endResetModel();
}

void TimelineModel::setSpan(const std::optional<TimedSpan>& span) {
    m_span = span;
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {kFaintRole});
}

/// What a step has led to, a checkpoint say, is of it though it is later.
bool TimelineModel::isInSpan(const Moment& moment) const {
    return !m_span || m_span->times.holds(moment.wallNs) ||
           (moment.step >= 0 && m_span->steps.holds(moment.step));
}

const Moment* TimelineModel::at(int row) const {
    return row >= 0 && row < rowCount() ? &m_moments[static_cast<size_t>(row)] : nullptr;
}

int TimelineModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_moments.size());
}

QVariant TimelineModel::data(const QModelIndex& index, int role) const {
    const Moment* moment = at(index.row());
    if (!moment)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return moment->text;
    case Qt::AccessibleTextRole:
        return formatClock(moment->wallNs) + ' ' + moment->text;
    case Qt::ToolTipRole:
        return asPlain(formatExact(moment->wallNs) + '\n' + moment->text);
    case kSortRole:
        return formatClock(moment->wallNs);
    case kToneRole:
        return static_cast<int>(moment->tone);
    case kRemovedRole:
        return moment->removed;
    case kFaintRole:
        return !isInSpan(*moment);
    }
    return {};
}

TimelineView::TimelineView(QWidget* parent)
    : QListView(parent)
    , m_model(new TimelineModel(this)) {
    setObjectName("events");
    setAccessibleName(tr("Events"));
    setModel(m_model);
    setItemDelegate(new MomentDelegate(this));
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setResizeMode(QListView::Adjust);
    connect(selectionModel(), &QItemSelectionModel::currentChanged, this,
            &TimelineView::scheduleDelayedItemsLayout);
    connect(this, &QListView::clicked, this, &TimelineView::choose);
    connect(this, &QListView::activated, this, &TimelineView::choose);
}

void TimelineView::setMoments(std::vector<Moment> moments) {
    const Moment* chosen = m_model->at(currentIndex().row());
    const std::optional<Moment> before = chosen ? std::optional(*chosen) : std::nullopt;
    m_model->setMoments(std::move(moments));
    for (int row = 0; before && row < m_model->rowCount(); ++row)
        if (*m_model->at(row) == *before)
            setCurrentIndex(m_model->index(row));
}

void TimelineView::setSpan(const std::optional<TimedSpan>& span) {
    m_model->setSpan(span);
}

void TimelineView::select(int64_t step) {
    for (int row = 0; row < m_model->rowCount(); ++row)
        if (m_model->at(row)->step == step) {
            setCurrentIndex(m_model->index(row));
            scrollTo(currentIndex());
            return;
        }
}

const Moment* TimelineView::momentAt(const QPoint& point) const {
    return m_model->at(indexAt(point).row());
}

void TimelineView::choose(const QModelIndex& index) {
    if (const Moment* moment = m_model->at(index.row()))
        Q_EMIT momentChosen(Moment(*moment));
}

} // namespace rm
