// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <QWidget>

class QCheckBox;
class QLineEdit;

namespace rm {

/// Which GPUs of a node to train on: a tick for each that its last check found, else a text.
class GpuChoice : public QWidget {
    Q_OBJECT
public:
    /// `report`: what the last check found; nullptr: there was none.
    GpuChoice(const std::vector<std::string>& chosen, const NodeReport* report,
              QWidget* parent = nullptr);

    /// As Node::gpus. kInvalid: all ticks were taken away.
    Result<std::vector<std::string>> gpus() const;

Q_SIGNALS:
    void changed();

private:
    void addTicks(const std::vector<std::string>& chosen, const NodeReport& report);
    void addText(const std::vector<std::string>& chosen);

    struct Tick {
        QCheckBox* box;
        std::string gpu; ///< its number, or as it was chosen before
    };
    std::vector<std::string> m_chosen; ///< before
    std::vector<Tick> m_ticks;
    QLineEdit* m_text = nullptr;
};

} // namespace rm
