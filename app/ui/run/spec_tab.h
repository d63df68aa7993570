// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"

#include <QWidget>

class QPlainTextEdit;

namespace rm {

/// The spec that the run was started with.
class SpecTab : public QWidget {
    Q_OBJECT
public:
    explicit SpecTab(const AppContext& context, QWidget* parent = nullptr);
    void setRun(const QString& run);
    void refresh(); ///< if the run was not stored yet at setRun()
    QString toml() const;

private:
    void buildUi();
    void pull();

    AppContext m_context;
    QString m_run;
    static constexpr int kPullMs = 300;
    Puller m_puller;
    QPlainTextEdit* m_text;
};

} // namespace rm
