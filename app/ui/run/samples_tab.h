// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/sample_rows.h"
#include "app/core/runs/step_span.h"
#include "app/core/store/step_samples.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"

#include <QWidget>

#include <optional>
#include <vector>

class QComboBox;
class QListWidget;
class QPlainTextEdit;
class QStackedWidget;

namespace rm {

class BesideView;
class ElidedLabel;
class PictureView;

/// What the model made of its inputs at each validation, newest first: of one step, or of several
/// steps and of another run side by side.
class SamplesTab : public QWidget {
    Q_OBJECT
public:
    explicit SamplesTab(const AppContext& context, QWidget* parent = nullptr);
    void setRun(const QString& run);
    void refresh();
    /// Shows the newest sample of these steps, if they have one, otherwise the newest of all;
    /// unless a person has chosen others.
    void setSpan(const std::optional<StepSpan>& span);

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// A validation that is shown.
    struct Column {
        QString run; ///< id
        QString title;
        int attempt = 0;
        int64_t step = 0;
    };
    /// What the store has of the columns.
    struct Shown {
        qsizetype steps = 0; ///< that are chosen, of which kMostColumns at most are shown
        QStringList titles;
        std::vector<SampleRow> rows;
        std::optional<ConfusionMatrix> confusion; ///< of the first column
    };

    void buildUi();
    QWidget* buildList();
    QWidget* buildViews();
    void wire();
    void pull();
    void apply(const std::vector<StepSample>& samples);
    int rowOfSpan() const;
    bool showsNewest() const;
    void offerRuns();
    std::vector<Column> chosen() const;
    void showChosen();
    void show(const Shown& shown);
    using QWidget::show;

    AppContext m_context;
    QString m_run;
    static constexpr int kPullMs = 300;
    Puller m_puller;
    std::optional<StepSpan> m_span; ///< nullopt: all
    int m_requests = 0; ///< questions for what is chosen; only the last one's answer counts
    std::vector<StepSample> m_samples;
    QListWidget* m_list;
    QComboBox* m_other; ///< another run, whose samples stand beside
    ElidedLabel* m_title;
    QPlainTextEdit* m_text;
    BesideView* m_beside;
    PictureView* m_pictures;
    QStackedWidget* m_views;
    QStackedWidget* m_stack;
};

} // namespace rm
