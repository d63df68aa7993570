// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/sample_rows.h"
#include "shared/journal/records.h"

#include <QWidget>

#include <optional>

class QLabel;
class QStandardItemModel;
class QTableView;

namespace rm {

class Table;

/// Pictures of validations with their class and what they were taken for, misclassified ones first,
/// beside a heat map of which classes were confused and a table of the figures of each class.
class PictureView : public QWidget {
    Q_OBJECT
public:
    explicit PictureView(QWidget* parent = nullptr);
    /// `titles`: of the columns of `rows`; `confusion`: of the first of them.
    void show(const std::vector<SampleRow>& rows, const QStringList& titles,
              const std::optional<ConfusionMatrix>& confusion);
    using QWidget::show;

private:
    void buildUi();
    void showPictures(const std::vector<SampleRow>& rows, const QStringList& titles);
    void colourWrong(); ///< as the theme has it
    void showConfusion();
    void showFigures();

    std::optional<ConfusionMatrix> m_confusion;
    QStandardItemModel* m_pictureRows;
    Table* m_pictures;
    QLabel* m_title;
    QStandardItemModel* m_cells;
    QTableView* m_heat;
    QStandardItemModel* m_figureRows;
    Table* m_figures;
    QWidget* m_right;
};

} // namespace rm
