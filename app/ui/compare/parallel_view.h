// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/compare/values_view.h"

class QComboBox;

namespace rm {

class KeyBox;
class ParallelPlot;

/// Parallel coordinates of runs: an axis for each chosen setting or metric, each with a button
/// above it that lays it out.
class ParallelView : public ValuesView {
    Q_OBJECT
public:
    static constexpr size_t kMostAxes = 12;

    ParallelView(const AppContext& context, std::shared_ptr<RunValues> values,
                 QWidget* parent = nullptr);

protected:
    std::vector<std::string> keys() const override;
    size_t mostKeys() const override { return 6; }
    void showTable(const RunTable& table, const std::vector<std::string>& offered) override;

private:
    struct Axis {
        std::string key;
        bool isLog = false, isFlipped = false;
    };
    void buildUi();
    void takeAxes(const std::vector<std::string>& keys);
    void addAxis(std::string key); ///< a copy, as the box that names it is emptied
    void moveAxis(size_t axis, int by);
    void removeAxis(size_t axis);
    void arrangeButtons();
    void fillMenu(size_t axis);
    void placeButtons();
    void draw();
    void nameKept();
    std::vector<QColor> lineColours(const std::vector<PlotScale>& axes) const;

    std::vector<Axis> m_axes;
    bool m_areChosen = false; ///< a person arranged the axes; else they are what tells most
    std::vector<QPushButton*> m_buttons; ///< by axis
    KeyBox* m_add;
    QComboBox* m_colours;
    QPushButton* m_clear;
    QLabel* m_kept;
    QWidget* m_heads;
    ParallelPlot* m_plot;
};

} // namespace rm
