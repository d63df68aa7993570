// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/run_table.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/plot/plot_scale.h"

#include <QStringList>
#include <QWidget>

#include <memory>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rm {

/// What any number of runs have for some keys, drawn by a class that derives from this one: it says
/// the keys and shows their table, which also opens as a table of text.
class ValuesView : public QWidget {
    Q_OBJECT
public:
    /// `values`: the store thread's.
    ValuesView(const AppContext& context, std::shared_ptr<RunValues> values,
               QWidget* parent = nullptr);

    /// Those that are shown: `runs` by id, or, if a filter is set, all for which it holds. Neither:
    /// all that are not put away.
    void setRuns(const QStringList& runs, const RunFilter& filter);
    void refresh(); ///< what is stored has changed
    const RunTable& table() const { return m_table; }

Q_SIGNALS:
    void runChosen(const QString& run);
    void runsCounted(size_t runs); ///< that are shown
    void failed(const QString& why);

protected:
    /// Empty: what tells most of the runs, at most mostKeys() of them.
    virtual std::vector<std::string> keys() const = 0;
    virtual size_t mostKeys() const = 0;
    /// `offered`: all keys that can be chosen.
    virtual void showTable(const RunTable& table, const std::vector<std::string>& offered) = 0;

    void showEvent(QShowEvent* event) override;
    QHBoxLayout* controls() const { return m_controls; } ///< in front of the button Table
    QVBoxLayout* column() const { return m_column; }
    PlotScale scaleOfKey(size_t key, bool isLog, bool isFlipped) const;
    std::vector<PlottedRun> plottedRuns() const;
    /// Why nothing is drawn.
    QString emptyText() const;

private:
    void pull();
    void openTable();

    struct Answer {
        std::optional<RunTable> table;
        QString problem;
        std::vector<std::string> offered;
    };
    static Answer read(StoreReader& reader, RunValues& values, const QStringList& ids,
                       const RunFilter& filter, std::vector<std::string> keys, size_t mostKeys);
    void apply(const Answer& answer);

    AppContext m_context;
    std::shared_ptr<RunValues> m_values;
    QStringList m_runs;
    RunFilter m_filter;
    RunTable m_table;
    static constexpr int kPullMs = 300;
    Puller m_puller;
    QVBoxLayout* m_column;
    QHBoxLayout* m_controls;
    QPushButton* m_asTable;
};

} // namespace rm
