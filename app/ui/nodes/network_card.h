// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/network/network_matrix.h"
#include "app/ui/data/app_context.h"
#include "app/ui/widgets/card.h"

#include <QDateTime>

class QComboBox;
class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// Which node reaches which by which interface, as it was measured last, and a button that measures
/// again. Only where there is more than one of measuredNodes().
class NetworkCard : public Card {
    Q_OBJECT
public:
    explicit NetworkCard(const AppContext& context, QWidget* parent = nullptr);

    void show(const NetworkMatrix& matrix);
    using QWidget::show;
    QPushButton* measureButton() const { return m_measure; }
    void refresh(); ///< its age, and all of it where another process has measured since

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    void wire();
    void offerGroups();
    void measure();
    void onMeasured(const Result<void>& answer);
    void readKept();
    void showProblem(const Error& error);
    void draw();
    void fillTable(const NetworkMatrix& matrix);
    void showMeasuring(bool isMeasuring);
    bool isWorthMeasuring() const;

    AppContext m_context;
    QLabel* m_age;
    QComboBox* m_which; ///< a group, or all
    QPushButton* m_measure;
    QPushButton* m_cancel;
    QStandardItemModel* m_cells;
    Table* m_table;
    QLabel* m_text;
    QLabel* m_problem;         ///< of the last attempt to measure
    qsizetype m_measuring = 0; ///< nodes that this window has measured at the moment
    QDateTime m_readOf;        ///< when the file was written that was read last
    NetworkMatrix m_kept;      ///< as it was read
    NetworkMatrix m_shown;     ///< that of it between nodes of the list
};

} // namespace rm
