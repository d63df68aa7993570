// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/contrast.h"

#include "app/ui/plot/chart_legend.h"

#include <QAbstractButton>
#include <QAbstractItemModel>
#include <QAbstractItemView>
#include <QComboBox>
#include <QHash>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPixmap>
#include <QPlainTextEdit>
#include <QStyle>
#include <QStyleOptionButton>
#include <QTableView>

#include <algorithm>
#include <cmath>

namespace rm::test {

namespace {

constexpr double kLeast = 4.5;
constexpr int kScale = 3;       ///< strokes of letters are then wider than what smooths their edges
constexpr int kLeastPixels = 6; ///< of a colour that is a text's, and not an edge's

double luminance(const QColor& colour) {
    const auto linear = [](double part) {
        return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

/// The most contrast that the most frequent colour of a part of the picture has to another one.
double contrastIn(const QImage& picture, const QRect& logical) {
    const QRect part = QRect(logical.topLeft() * kScale, logical.size() * kScale) & picture.rect();
    QHash<QRgb, int> counts;
    for (int y = part.top(); y <= part.bottom(); ++y)
        for (int x = part.left(); x <= part.right(); ++x)
            ++counts[picture.pixel(x, y)];
    const auto back = std::max_element(counts.cbegin(), counts.cend());
    double most = 1;
    for (auto each = counts.cbegin(); each != counts.cend(); ++each)
        if (each.value() >= kLeastPixels)
            most = std::max(most, contrastOf(QColor(each.key()), QColor(back.key())));
    return most;
}

/// Collects what is too faint in one window.
class Look {
public:
    explicit Look(QWidget& window)
        : m_window(window)
        , m_picture(window.size() * kScale, QImage::Format_RGB32) {
        m_picture.setDevicePixelRatio(kScale);
        QPainter painter(&m_picture);
        window.render(&painter);
    }

    void at(const QWidget& widget, const QRect& within, const QString& text) {
        const QRect seen = visible(widget, within);
        if (text.trimmed().isEmpty() || seen.width() < 4 || seen.height() < 8)
            return;
        const double found = contrastIn(m_picture, seen);
        if (found < kLeast)
            m_faint << QString("%1 %2 \"%3\": %4:1")
                           .arg(widget.metaObject()->className(), widget.objectName(),
                                text.left(40), QString::number(found, 'f', 2));
    }

    QStringList faint() const { return m_faint; }

private:
    /// What of a widget's part is not scrolled out of sight.
    QRect visible(const QWidget& widget, const QRect& within) const {
        const QRegion shown = widget.visibleRegion() & within;
        const QRect rect = shown.boundingRect();
        return rect.height() < within.height() / 2
                   ? QRect()
                   : QRect(widget.mapTo(&m_window, rect.topLeft()), rect.size());
    }

    QWidget& m_window;
    QImage m_picture;
    QStringList m_faint;
};

/// Without the frame, which may stand out more than the text.
QRect inside(const QWidget& widget) {
    constexpr int kFrame = 3;
    return widget.rect().adjusted(kFrame, kFrame, -kFrame, -kFrame);
}

QRect textOf(const QAbstractButton& button) {
    if (!button.inherits("QCheckBox"))
        return inside(button);
    QStyleOptionButton option;
    option.initFrom(&button);
    option.text = button.text();
    return button.style()->subElementRect(QStyle::SE_CheckBoxContents, &option, &button);
}

void lookAtCells(Look& look, const QAbstractItemView& view) {
    const QAbstractItemModel* model = view.model();
    for (int row = 0; model && row < model->rowCount(); ++row)
        for (int column = 0; column < model->columnCount(); ++column) {
            const QModelIndex index = model->index(row, column);
            const QRect cell = view.visualRect(index) & view.viewport()->rect();
            if (cell.isValid() && (index.flags() & Qt::ItemIsEnabled))
                look.at(*view.viewport(), cell.adjusted(3, 3, -3, -3), index.data().toString());
        }
}

void lookAtSections(Look& look, const QHeaderView& header) {
    const QAbstractItemModel* model = header.model();
    for (int at = 0; model && at < header.count(); ++at)
        if (!header.isSectionHidden(at))
            look.at(*header.viewport(),
                    QRect(header.sectionViewportPosition(at), 0, header.sectionSize(at),
                          header.height())
                        .adjusted(3, 3, -3, -3),
                    model->headerData(at, header.orientation()).toString());
}

/// The labels below and beside a plot.
void lookAtPlot(Look& look, const QWidget& plot) {
    constexpr int kTicks = 16;
    if (!plot.accessibleDescription().isEmpty())
        look.at(plot, QRect(0, plot.height() - kTicks, plot.width(), kTicks), "labels of the axis");
}

void lookAt(Look& look, const QWidget& widget) {
    if (const auto* label = qobject_cast<const QLabel*>(&widget))
        look.at(*label, label->rect(), label->text());
    else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        look.at(*button, textOf(*button), button->text());
    else if (const auto* line = qobject_cast<const QLineEdit*>(&widget))
        look.at(*line, inside(*line),
                line->text().isEmpty() ? line->placeholderText() : line->text());
    else if (const auto* box = qobject_cast<const QComboBox*>(&widget))
        look.at(*box, inside(*box), box->currentText());
    else if (const auto* text = qobject_cast<const QPlainTextEdit*>(&widget))
        look.at(*text->viewport(), text->viewport()->rect(), text->toPlainText());
    else if (const auto* header = qobject_cast<const QHeaderView*>(&widget))
        lookAtSections(look, *header);
    else if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget))
        lookAtCells(look, *view);
    else if (const auto* legend = qobject_cast<const ChartLegend*>(&widget))
        look.at(*legend, legend->rect(), legend->shownTexts().join(' '));
    else if (widget.objectName() == "plot")
        lookAtPlot(look, widget);
}

} // namespace

double contrastOf(const QColor& one, const QColor& other) {
    const auto [low, high] = std::minmax({luminance(one), luminance(other)});
    return (high + 0.05) / (low + 0.05);
}

QStringList faintTexts(QWidget& window) {
    Look look(window);
    for (const QWidget* widget : window.findChildren<QWidget*>())
        if (widget->isVisible() && widget->isEnabled() && widget->window() == &window)
            lookAt(look, *widget);
    return look.faint();
}

} // namespace rm::test
