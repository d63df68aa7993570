// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/core/store/export.h"
#include "app/core/store/log_choice.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/run/run_detail.h"

#include <QWidget>

#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace rm {

class Banner;
class LogView;
struct KnownError;

/// The ranks' logs: of one rank or all merged by time; can be searched, filtered, followed and
/// exported to a file.
class LogsTab : public QWidget {
    Q_OBJECT
public:
    explicit LogsTab(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    void show(const RunDetail& detail);
    using QWidget::show;
    void refresh();
    void setSpan(const std::optional<SpanTimes>& span); ///< only lines of then; nullopt: all
    void chooseRank(int rank);
    void focusFilter();
    /// Shows the lines that were written at that time, and some before them; no longer follows the
    /// end.
    void showTime(int64_t wallNs);

Q_SIGNALS:
    void chartsRequested(qint64 wallNs); ///< for the time of a line

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// A line that the search has found.
    struct Match {
        int64_t wallNs = 0;
        int64_t id = 0;
    };
    struct Matches {
        std::vector<Match> all; ///< by time
        bool isAll = true;      ///< there are no more
    };
    /// Which lines come next.
    enum class Next {
        kTail,  ///< the last ones
        kFrom,  ///< by time, behind a place
        kAfter, ///< what is stored from now on
    };

    void buildUi();
    QLayout* buildSearch();
    QLayout* buildOptions();
    void wire();
    void restart();
    void restartAt(int64_t wallNs, int64_t id);
    void pull();
    void use(const LogPage& page);
    void pullMatches();
    void showMatches();
    void goToMatch(int step);
    void showMenu(const QPoint& at);
    void explain(const KnownError* error);
    void askWhere();
    void pullEarlier();
    LogChoice choice() const;
    LogChoice searched() const;

    AppContext m_context;
    QString m_run;
    int m_ranks = 0;
    std::optional<SpanTimes> m_span;
    Next m_next = Next::kTail;
    int64_t m_lastId = 0;         ///< kAfter
    int64_t m_fromNs = 0;         ///< kFrom
    int64_t m_fromId = 0;         ///< of that time only later ids
    bool m_isEarlierThere = true; ///< there may be lines before the first one
    bool m_isEarlierPulled = false;
    int m_reading = 0;             ///< raised when the lines are read anew
    std::optional<int64_t> m_time; ///< to be shown, until a line of it is there
    int64_t m_wanted = 0;          ///< the id of the line to be shown likewise; 0: by the time
    Matches m_matches;
    int m_match = -1; ///< which of them is shown
    static constexpr int kPullMs = 120;
    static constexpr int kMatchesMs = 300;
    Puller m_puller;
    Puller m_matchPuller;
    QComboBox* m_rank;
    QComboBox* m_severity;
    QLineEdit* m_filter;
    QLabel* m_found;
    QPushButton* m_previous;
    QPushButton* m_following;
    QCheckBox* m_only;
    QCheckBox* m_fold;
    QCheckBox* m_wrap;
    QCheckBox* m_follow;
    QPushButton* m_export;
    LogView* m_text;
    QLabel* m_empty;
    Banner* m_explain;
};

} // namespace rm
