// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_legend.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QDialog>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kLine = 12;
constexpr int kDot = 6; ///< in place of a line where there are many
constexpr int kGap = 4;
constexpr int kBetween = 7;
constexpr size_t kMany = 4;
constexpr int kHeight = 18; ///< of the button for the rest

QFont legendFont() {
    return Theme::instance().font(FontRole::kCaption);
}

void paintKey(QPainter& painter, const ChartLegend::Part& part, const QRectF& room) {
    const double middle = room.center().y();
    if (room.width() <= kDot) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(part.colour);
        painter.drawEllipse(QRectF(room.left(), middle - kDot / 2.0, kDot, kDot));
        return;
    }
    painter.setPen(QPen(part.colour, 2, part.dash));
    painter.drawLine(QPointF(room.left(), middle), QPointF(room.left() + kLine, middle));
}

/// The piece of a line before its name in the list of all.
class LegendKey : public QWidget {
public:
    explicit LegendKey(ChartLegend::Part part)
        : m_part(std::move(part)) {
        setFixedSize(kLine, kHeight);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        if (!m_part.colour.isValid())
            return;
        QPainter painter(this);
        paintKey(painter, m_part, rect());
    }

private:
    ChartLegend::Part m_part;
};

} // namespace

ChartLegend::ChartLegend(QWidget* parent)
    : QWidget(parent)
    , m_rest(makeButton({}, "more", "legendRest", this)) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(std::max(kHeight, QFontMetrics(legendFont()).height() + 2));
    m_rest->setAccessibleName(tr("All values of the legend"));
    m_rest->hide();
    connect(m_rest, &QPushButton::clicked, this, &ChartLegend::openAll);
}

void ChartLegend::setParts(std::vector<Part> parts, const QString& where,
                           const QStringList& notes) {
    m_parts = std::move(parts);
    m_notes = notes;
    QStringList texts;
    if (!where.isEmpty())
        texts << where;
    for (const Part& part : m_parts)
        texts << part.text;
    texts << notes;
    setAccessibleName(texts.join(", "));
    setToolTip(asPlain(texts.join("\n")));
    m_rest->setToolTip(toolTip());
    fold();
    if (m_all)
        fillAll(*static_cast<QVBoxLayout*>(m_all->layout()));
}

QStringList ChartLegend::shownTexts() const {
    QStringList texts;
    for (const Part& part : m_shown)
        texts << part.text;
    return texts;
}

int ChartLegend::keyWidth() const {
    return m_parts.size() > kMany ? kDot : kLine;
}

int ChartLegend::widthOf(const Part& part) const {
    return QFontMetrics(legendFont()).horizontalAdvance(part.text) +
           (part.colour.isValid() ? keyWidth() + kGap : 0);
}

int ChartLegend::widthOf(const std::vector<Part>& parts) const {
    int all = -kBetween;
    for (const Part& part : parts)
        all += kBetween + widthOf(part);
    return all;
}

/// As many parts as there is room for. Of the others those of the run's past go first, then the
/// last ones, and the button says how many they are.
void ChartLegend::fold() {
    m_shown = m_parts;
    size_t left = 0;
    int room = width();
    while (!m_shown.empty() && widthOf(m_shown) > room) {
        const auto past = std::ranges::find_if(m_shown, &Part::isPast);
        m_shown.erase(past != m_shown.end() ? past : m_shown.end() - 1);
        showRest(++left);
        room = width() - m_rest->width() - kBetween;
    }
    m_rest->setVisible(left > 0);
    update();
}

void ChartLegend::showRest(size_t left) {
    m_rest->setText('+' + QString::number(left));
    m_rest->setAccessibleName(
        counted(static_cast<int64_t>(left), tr("1 more value"), tr("%1 more values")));
    m_rest->ensurePolished();
    const QSize size(m_rest->sizeHint().width(), std::min(height(), m_rest->sizeHint().height()));
    m_rest->setGeometry(width() - size.width(), (height() - size.height()) / 2, size.width(),
                        size.height());
}

void ChartLegend::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fold();
}

void ChartLegend::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (m_all)
        m_all->reject();
}

/// A list over the page that follows the values, until Esc or a click elsewhere.
void ChartLegend::openAll() {
    m_all = new QDialog(this, Qt::Popup | Qt::FramelessWindowHint);
    m_all->setObjectName("legendValues");
    m_all->setAccessibleName(tr("All values"));
    m_all->setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(m_all);
    column->setContentsMargins(size::kCardPad, 2 * size::kGrid, size::kCardPad, 2 * size::kGrid);
    column->setSpacing(0);
    column->setSizeConstraint(QLayout::SetFixedSize);
    fillAll(*column);
    m_all->adjustSize();
    QPoint corner = mapToGlobal(rect().bottomRight()) - QPoint(m_all->width(), 0);
    const QRect room = screen()->availableGeometry();
    corner.setX(
        std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() - m_all->width())));
    corner.setY(
        std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() - m_all->height())));
    m_all->move(corner);
    m_all->show();
}

void ChartLegend::fillAll(QVBoxLayout& column) const {
    while (QLayoutItem* item = column.takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    for (const Part& part : m_parts) {
        auto* line = new QWidget;
        auto* row = new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(2 * size::kGrid);
        row->addWidget(new LegendKey(part));
        row->addWidget(makeLabel(part.text, "legend"), 1);
        column.addWidget(line);
    }
    for (const QString& note : m_notes)
        column.addWidget(makeLabel(note, "secondary"));
}

void ChartLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(legendFont());
    int right = m_rest->isHidden() ? width() : m_rest->x() - kBetween;
    for (auto part = m_shown.rbegin(); part != m_shown.rend(); ++part) {
        const int left = right - widthOf(*part);
        painter.setPen(colours().secondary);
        painter.drawText(QRect(left, 0, right - left, height()), Qt::AlignRight | Qt::AlignVCenter,
                         part->text);
        if (part->colour.isValid())
            paintKey(painter, *part, QRectF(left, 0, keyWidth(), height()));
        right = left - kBetween;
    }
}

} // namespace rm
