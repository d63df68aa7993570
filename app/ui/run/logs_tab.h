// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/export.h"
#include "app/core/store/series.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/run/run_detail.h"

#include <QWidget>

#include <optional>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace rm {

/// The ranks' logs: of one rank or all merged; can be filtered, followed and exported to a file.
class LogsTab : public QWidget {
    Q_OBJECT
public:
    explicit LogsTab(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    void show(const RunDetail& detail);
    using QWidget::show;
    void refresh();
    void chooseRank(int rank);
    void focusFilter();
    /// Shows the lines that came at that time, and some before them; no longer follows the end.
    void showTime(int64_t wallNs);

Q_SIGNALS:
    void chartsRequested(qint64 wallNs); ///< for the time of a line

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    void wire();
    void restart();
    void restartAfter(int64_t id);
    void pull();
    void append(const std::vector<LogLine>& lines);
    void stampLines(const std::vector<LogLine>& lines);
    void pointAtTime();
    void showMenu(const QPoint& at);
    void askWhere();
    LogChoice choice() const;

    AppContext m_context;
    QString m_run;
    int m_ranks = 0;
    int64_t m_lastId = 0;
    std::optional<int64_t> m_time; ///< to be shown, until a line of it is there
    static constexpr int kPullMs = 120;
    Puller m_puller;
    QComboBox* m_rank;
    QLineEdit* m_filter;
    QCheckBox* m_wrap;
    QCheckBox* m_follow;
    QPushButton* m_export;
    QPlainTextEdit* m_text;
    QLabel* m_empty;
};

} // namespace rm
