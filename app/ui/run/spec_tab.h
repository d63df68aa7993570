// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "shared/spec/live_settings.h"

#include <QElapsedTimer>
#include <QWidget>

#include <string>

class QLabel;
class QPlainTextEdit;

namespace rm {

/// The spec that the run was started with, what it is run by, and what it has used.
class SpecTab : public QWidget {
    Q_OBJECT
public:
    explicit SpecTab(const AppContext& context, QWidget* parent = nullptr);
    void setRun(const QString& run);
    /// Reads the spec if the run was not stored yet at setRun(), and now and then what the run has
    /// used. `settings`: what is set otherwise now. `runtime`: StoredAttempt::runtime of the newest
    /// attempt.
    void refresh(const LiveSettings& settings, const std::string& runtime);
    QString toml() const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    void pull();

    AppContext m_context;
    QString m_run;
    static constexpr int kPullMs = 300;
    static constexpr int kReadEveryMs = 5000; ///< what a run has used grows slowly
    Puller m_puller;
    QElapsedTimer m_sinceRead;
    QPlainTextEdit* m_text;
    QLabel* m_settings;
    QLabel* m_runtime;
    QLabel* m_used;
};

} // namespace rm
