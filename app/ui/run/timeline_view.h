// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/ui/data/timeline.h"

#include <QAbstractListModel>
#include <QListView>

#include <optional>

namespace rm {

/// Moments as lines "11:02 ● rank 5 slow": newest first.
class TimelineModel : public QAbstractListModel {
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;
    void setMoments(std::vector<Moment> moments);
    void setSpan(const std::optional<TimedSpan>& span);
    const Moment* at(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    bool isInSpan(const Moment& moment) const;

    std::vector<Moment> m_moments;
    std::optional<TimedSpan> m_span;
};

class TimelineView : public QListView {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);
    void setMoments(std::vector<Moment> moments); ///< the chosen one stays chosen
    /// What lies outside is fainter; nullopt: nothing is.
    void setSpan(const std::optional<TimedSpan>& span);
    /// Shows the newest moment at that step as the chosen one; momentChosen() is not emitted.
    void select(int64_t step);
    /// The moment at a point of the viewport; nullptr: there is none.
    const Moment* momentAt(const QPoint& point) const;

Q_SIGNALS:
    void momentChosen(const rm::Moment& moment); ///< clicked, or Return

private:
    void choose(const QModelIndex& index);

    TimelineModel* m_model;
};

} // namespace rm
