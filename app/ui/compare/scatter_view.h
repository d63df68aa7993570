// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/compare/values_view.h"

namespace rm {

class KeyBox;
class ScatterPlot;

/// Any setting or metric of runs against any other one.
class ScatterView : public ValuesView {
    Q_OBJECT
public:
    ScatterView(const AppContext& context, std::shared_ptr<RunValues> values,
                QWidget* parent = nullptr);

protected:
    std::vector<std::string> keys() const override;
    size_t mostKeys() const override { return 2; }
    void showTable(const RunTable& table, const std::vector<std::string>& offered) override;

private:
    QPushButton* addLog(const QString& name, const char* objectName);
    void draw();

    KeyBox* m_x;
    KeyBox* m_y;
    QPushButton* m_logX;
    QPushButton* m_logY;
    ScatterPlot* m_plot;
};

} // namespace rm
