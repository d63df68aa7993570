// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/timeline.h"

#include <QAbstractListModel>
#include <QListView>

namespace rm {

/// Moments as lines "11:02 ● rank 5 slow": newest first.
class TimelineModel : public QAbstractListModel {
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;
    void setMoments(std::vector<Moment> moments);
    const Moment* at(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<Moment> m_moments;
};

class TimelineView : public QListView {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);
    void setMoments(std::vector<Moment> moments); ///< the chosen one stays chosen
    /// Shows the newest moment at that step as the chosen one; momentChosen() is not emitted.
    void select(int64_t step);

Q_SIGNALS:
    void momentChosen(const rm::Moment& moment); ///< clicked, or Return

private:
    void choose(const QModelIndex& index);

    TimelineModel* m_model;
};

} // namespace rm
