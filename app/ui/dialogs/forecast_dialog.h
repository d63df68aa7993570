// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/trial.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/measures.h"

#include <functional>
#include <optional>

class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// Measures a step of the spec on the first of the nodes and the links between them, and tells what
/// a step would take on the first one, two, ... of them. Closing it ends what is measured.
class ForecastDialog : public Sheet {
    Q_OBJECT
public:
    ForecastDialog(const AppContext& context, const RunSpec& spec,
                   const std::vector<Placement>& nodes, QWidget* parent);

private:
    void measure();
    void tryOut(const NodeTrial& trial, std::function<void(const Result<QString>&)> take);
    void stop();
    void sayWhy(const Error& error);
    void takeProfile(const Result<QString>& answer);
    void takeLinks(const StepProfile& profile, const Result<QString>& answer);
    void say(const QString& text, bool isMeasuring);

    AppContext m_context;
    RunSpec m_spec;
    std::vector<Placement> m_nodes;
    std::optional<NodeTrial> m_running;
    QString m_doing; ///< what it measures
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_text;
    QPushButton* m_measure;
    QPushButton* m_close; ///< or cancels while it measures
    bool m_isCancelled = false;
};

} // namespace rm
