// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/run_words.h"

#include <QAbstractTableModel>

#include <map>
#include <set>
#include <vector>

namespace rm {

/// The checkpoints that still exist or can be brought back, newest first; those of abandoned lines
/// in a fainter colour.
class CheckpointsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        kStep,
        kAttempt,
        kValidation,
        kSize,
        kWhere,
        kBecause,
        kSaved,
        kVerified,
        kColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// `untilNs`: see broughtBackUntil().
    void show(const std::vector<StoredCheckpoint>& checkpoints,
              const std::map<std::string, int64_t>& untilNs = {});
    bool canBeBroughtBack(const StoredCheckpoint& checkpoint) const;
    /// Sets what verifying says of the checkpoints with these paths.
    void setVerdicts(const std::map<std::string, StateWords>& verdicts);
    /// Paths of those that retention removes next.
    void setRemovedNext(const std::set<std::string>& paths);
    bool showsVerified() const; ///< kVerified has any text
    const StoredCheckpoint* at(int row) const;
    int rowOfStep(int64_t step) const;            ///< of the living line before any other; -1: none
    int rowOfPath(const std::string& path) const; ///< -1: none
    int rowOfNewest() const;                      ///< of the living line, if it has any
    int rowOfNewest(const StepSpan& span) const;  ///< of the living line in these steps; -1: none

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    StateWords verdict(const StoredCheckpoint& checkpoint) const;
    QString text(const StoredCheckpoint& checkpoint, int column) const;
    QVariant toolTip(const StoredCheckpoint& checkpoint, int column) const;

    QString places(const StoredCheckpoint& checkpoint) const;

    std::vector<StoredCheckpoint> m_checkpoints;
    std::map<std::string, int64_t> m_untilNs;
    std::map<std::string, StateWords> m_verdicts;
    std::set<std::string> m_removedNext;
};

} // namespace rm
