// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <deque>
#include <memory>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QTextEdit;

namespace rm {

/// What was asked of checkpoints of a run since the window was opened, and what they answered.
struct TriedInput {
    QString input; ///< the text, or the name of the file
    QString answer;
    QString step;  ///< of the checkpoint, as it was chosen
    QString where; ///< "node-a, CPU, 2 threads, 0.4 s"
};
using TriedInputs = std::vector<TriedInput>;

/// Lets the model of a checkpoint, or of two, answer one input, on the nodes where they lie. What
/// was tried before stays in sight. Closing it ends what is under way.
class TryDialog : public Sheet {
    Q_OBJECT
public:
    /// `checkpoints`: those of the run, newest first, of which `chosen` (a path; empty: the newest)
    /// is tried. `tried` outlives the dialog.
    TryDialog(const AppContext& context, const QString& run, const RunSpec& spec,
              const std::vector<StoredCheckpoint>& checkpoints, const std::string& chosen,
              std::shared_ptr<TriedInputs> tried, QWidget* parent);

private:
    struct Waiting {
        QString checkpoint; ///< its name
        QString step;
        QString id;
    };

    void buildInput();
    void buildSettings();
    void offer(const std::vector<StoredCheckpoint>& checkpoints, const std::string& chosen);
    void wire();
    void chooseFile();
    TryOrder order() const;
    void begin();
    void askNext();
    void take(const Result<TriedCheckpoint>& tried);
    void stop();
    void say(const QString& text, bool isTrying);
    void showTried();
    bool isOfPictures() const;
    bool isOfPairs() const;

    AppContext m_context;
    QString m_run;
    RunSpec m_spec;
    std::shared_ptr<TriedInputs> m_tried;
    std::deque<Waiting> m_waiting; ///< the first is under way
    TryOrder m_order;              ///< of what is under way
    bool m_isCancelled = false;
    QComboBox* m_checkpoint;
    QComboBox* m_second; ///< compared with it; without data: none
    QCheckBox* m_onCpu;
    QPlainTextEdit* m_prompt = nullptr;
    QLineEdit* m_file = nullptr;
    QPushButton* m_browse = nullptr;
    QSpinBox* m_maxTokens = nullptr;
    QDoubleSpinBox* m_temperature = nullptr;
    QSpinBox* m_topK = nullptr;
    QSpinBox* m_beams = nullptr;
    QSpinBox* m_seed = nullptr; ///< of what draws tokens
    QLabel* m_state;
    QTextEdit* m_answers;
    QPushButton* m_try;
    QPushButton* m_close; ///< or cancels while something is tried
};

} // namespace rm
