// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/step_samples.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"

#include <QWidget>

class QLabel;
class QListWidget;
class QPlainTextEdit;
class QStackedWidget;

namespace rm {

/// Text generated at each validation, newest first.
class SamplesTab : public QWidget {
    Q_OBJECT
public:
    explicit SamplesTab(const AppContext& context, QWidget* parent = nullptr);
    void setRun(const QString& run);
    void refresh();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    void wire();
    void pull();
    void apply(const std::vector<StepSample>& samples);
    void showChosen(int row);

    AppContext m_context;
    QString m_run;
    static constexpr int kPullMs = 300;
    Puller m_puller;
    std::vector<StepSample> m_samples;
    QListWidget* m_list;
    QLabel* m_title;
    QPlainTextEdit* m_text;
    QStackedWidget* m_stack;
};

} // namespace rm
