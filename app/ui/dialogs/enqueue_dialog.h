// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <QTimer>

#include <vector>

class QCheckBox;
class QLabel;
class QPlainTextEdit;
class QSpinBox;

namespace rm {

/// Puts a prepared run into the queue, or a sweep: runs that differ in some settings, all of them
/// or the better ones to their end. Nothing starts before its nodes are free.
class EnqueueDialog : public Sheet {
    Q_OBJECT
public:
    EnqueueDialog(const AppContext& context, RunSpec spec, std::vector<Placement> nodes,
                  QWidget* parent);

Q_SIGNALS:
    void enqueued(const QStringList& runs);

private:
    void buildFields();
    void refresh();
    void expand();
    void show(const Result<std::vector<CheckedSpec>>& runs);
    Result<SweepPlan> plan() const;
    void submit();

    const AppContext& m_context;
    const RunSpec m_spec;
    const std::vector<Placement> m_nodes;
    QSpinBox* m_take;
    QPlainTextEdit* m_axes;
    QSpinBox* m_samples;
    QSpinBox* m_seed;
    QSpinBox* m_firstRung;
    QSpinBox* m_eta;
    QCheckBox* m_anyway;
    QLabel* m_preview;
    QTimer m_pause; ///< since the last change
    int m_expansion = 0;
    QPushButton* m_confirm;
    std::vector<CheckedSpec> m_runs; ///< that there will be; empty: the fields are wrong
};

} // namespace rm
