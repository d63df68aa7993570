// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/picture_view.h"

#include "app/core/compare/class_figures.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QImage>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int kPictureSide = 64;
constexpr int kCellSide = 34;
constexpr int kWidestName = 130;
constexpr int kFigureRows = 8;
constexpr int kShareRole = Qt::UserRole + 1; ///< of its row's pictures, 0 to 1
constexpr int kWrongRole = Qt::UserRole + 2; ///< true: it is not the class of its picture

/// A cell of the heat map: the more of a class's pictures, the darker.
class HeatDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const double share = index.data(kShareRole).toDouble();
        const bool isRight = index.row() == index.column();
        const Colours& look = colours();
        QColor colour = isRight ? look.accent : look.bad;
        colour.setAlphaF(static_cast<float>(std::clamp(share, 0.0, 1.0)));
        painter->fillRect(option.rect, look.card);
        painter->fillRect(option.rect.adjusted(0, 0, -1, -1), colour);
        const bool isDark = share > 0.6;
        painter->setPen(isDark ? look.onAccent : share > 0 ? look.text : look.faint);
        painter->setFont(Theme::instance().font(FontRole::kSecondary));
        painter->drawText(option.rect, Qt::AlignCenter, index.data().toString());
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(look.text);
            painter->drawRect(option.rect.adjusted(0, 0, -2, -2));
        }
    }
};

QStandardItem* cell(const QString& text) {
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    item->setToolTip(asPlain(text));
    return item;
}

QString shareText(double share) {
    return std::isnan(share) ? QString(kAbsent) : formatPercent(share);
}

/// The picture in the first column that has it.
QImage imageOf(const SampleRow& row) {
    for (const auto& sample : row.of)
        if (sample && !sample->picture.empty())
            return QImage::fromData(reinterpret_cast<const uchar*>(sample->picture.data()),
                                    static_cast<int>(sample->picture.size()), "JPG");
    return {};
}

} // namespace

PictureView::PictureView(QWidget* parent)
    : QWidget(parent) {
    buildUi();
    connect(&Theme::instance(), &Theme::changed, this, &PictureView::colourWrong);
}

void PictureView::buildUi() {
    m_pictureRows = new QStandardItemModel(this);
    m_pictures = new Table("samplePictures", tr("Pictures and what they were taken for"));
    m_pictures->setModel(m_pictureRows);
    m_pictures->setIconSize({kPictureSide, kPictureSide});
    m_pictures->verticalHeader()->setDefaultSectionSize(kPictureSide + 2 * size::kGrid);
    auto* left = new Card;
    left->body()->setContentsMargins(1, 1, 1, 1);
    left->body()->addWidget(m_pictures);
    m_title = makeLabel(tr("Class by what it was taken for"), "cardTitle");
    m_cells = new QStandardItemModel(this);
    m_heat = new QTableView;
    m_heat->setObjectName("confusionHeat");
    m_heat->setAccessibleName(tr("How often classes were taken for others"));
    m_heat->setModel(m_cells);
    m_heat->setItemDelegate(new HeatDelegate(m_heat));
    m_heat->setShowGrid(false);
    m_heat->setFrameShape(QFrame::NoFrame);
    m_heat->setSelectionMode(QAbstractItemView::NoSelection);
    m_heat->horizontalHeader()->setDefaultSectionSize(kCellSide + 2 * size::kGrid);
    m_heat->verticalHeader()->setDefaultSectionSize(kCellSide);
    m_heat->verticalHeader()->setMaximumWidth(kWidestName);
    m_figureRows = new QStandardItemModel(this);
    m_figures = new Table("classFigures", tr("Figures by class"));
    m_figures->setModel(m_figureRows);
    m_figures->setRowsInSight(kFigureRows);
    auto* card = new Card;
    card->body()->addWidget(m_title);
    card->body()->addWidget(m_heat, 2);
    card->body()->addWidget(makeLine());
    card->body()->addWidget(m_figures, 1);
    m_right = card;
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kCardGap);
    row->addWidget(left, 1);
    row->addWidget(m_right, 1);
}

void PictureView::show(const std::vector<SampleRow>& rows, const QStringList& titles,
                       const std::optional<ConfusionMatrix>& confusion) {
    showPictures(rows, titles);
    m_right->setVisible(confusion.has_value());
    if (confusion == m_confusion)
        return;
    m_confusion = confusion;
    if (!m_confusion)
        return;
    m_title->setText(
        tr("Class by what it was taken for, step %1").arg(formatCount(m_confusion->step)));
    showConfusion();
    showFigures();
}

void PictureView::showPictures(const std::vector<SampleRow>& rows, const QStringList& titles) {
    m_pictureRows->clear();
    QStringList heads{tr("Picture"), tr("Class")};
    std::vector<int> widths{0, 96};
    for (const QString& title : titles) {
        heads << (titles.size() == 1 ? tr("Taken for") : tr("Taken for, %1").arg(title))
              << tr("Certainty");
        widths.insert(widths.end(), {120, 80});
    }
    m_pictureRows->setHorizontalHeaderLabels(heads);
    for (const SampleRow& row : rows) {
        auto* picture = cell(QString::fromStdString(row.prompt));
        if (const QImage image = imageOf(row); !image.isNull())
            picture->setIcon(QPixmap::fromImage(image));
        QList<QStandardItem*> items{picture, cell(QString::fromStdString(row.reference))};
        for (const auto& sample : row.of) {
            const bool isWrong = sample && sample->text != sample->reference;
            const QString guess = sample ? QString::fromStdString(sample->text) : QString(kAbsent);
            items << cell(isWrong ? tr("%1, wrong").arg(guess) : guess)
                  << cell(sample ? QString::fromStdString(scoreWords(*sample)) : QString(kAbsent));
            if (isWrong)
                items[items.size() - 2]->setData(true, kWrongRole);
        }
        m_pictureRows->appendRow(items);
    }
    colourWrong();
    m_pictures->setColumnWidths(widths);
}

void PictureView::colourWrong() {
    for (int row = 0; row < m_pictureRows->rowCount(); ++row)
        for (int column = 0; column < m_pictureRows->columnCount(); ++column)
            if (QStandardItem* item = m_pictureRows->item(row, column);
                item && item->data(kWrongRole).toBool())
                item->setForeground(colours().bad);
}

void PictureView::showConfusion() {
    const ConfusionMatrix& matrix = *m_confusion;
    const auto side = static_cast<int>(matrix.side());
    m_cells->clear();
    m_cells->setRowCount(side);
    m_cells->setColumnCount(side);
    QStringList names;
    for (size_t row = 0; row < matrix.side(); ++row)
        names << QString::fromStdString(rowName(matrix, row));
    m_cells->setVerticalHeaderLabels(names);
    m_cells->setHorizontalHeaderLabels(names);
    for (int row = 0; row < side; ++row) {
        double all = 0;
        for (int column = 0; column < side; ++column)
            all += matrix.at(static_cast<size_t>(row), static_cast<size_t>(column));
        for (int column = 0; column < side; ++column) {
            const uint32_t count = matrix.at(static_cast<size_t>(row), static_cast<size_t>(column));
            auto* item = cell(formatCount(count));
            item->setData(all > 0 ? count / all : 0, kShareRole);
            const QString words = tr("%1 of class %2, taken for %3")
                                      .arg(formatCount(count), names[row], names[column]);
            item->setToolTip(asPlain(words));
            item->setData(words, Qt::AccessibleTextRole);
            m_cells->setItem(row, column, item);
        }
    }
}

void PictureView::showFigures() {
    m_figureRows->clear();
    m_figureRows->setHorizontalHeaderLabels(
        {tr("Class"), tr("Pictures"), tr("Recall"), tr("Precision"), tr("Most often taken for")});
    for (const ClassFigures& each : classFigures(*m_confusion)) {
        const QString confused =
            each.confusions == 0
                ? QString(kAbsent)
                : tr("%1 (%2)").arg(QString::fromStdString(each.confusedWith),
                                    formatCount(static_cast<qint64>(each.confusions)));
        m_figureRows->appendRow({cell(QString::fromStdString(each.name)),
                                 cell(formatCount(static_cast<qint64>(each.pictures))),
                                 cell(shareText(each.recall)), cell(shareText(each.precision)),
                                 cell(confused)});
    }
    m_figures->setColumnWidths({120, 76, 70, 80, 0});
}

} // namespace rm
