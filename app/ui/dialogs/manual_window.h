// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/manual/manual.h"

#include <QDialog>

class QLineEdit;
class QListWidget;
class QTextBrowser;
class QUrl;

namespace rm {

/// The manual beside the window: its topics, or what of it has the words that are searched for, and
/// the text of the one that is chosen. It blocks nothing and deletes itself when it is closed.
class ManualWindow : public QDialog {
    Q_OBJECT
public:
    ManualWindow(Manual manual, QWidget* parent);

    /// Shows a topic from its begin, or from the heading that `anchor` names (see anchorOf()).
    void showTopic(const QString& topic, const QString& anchor = {});

private:
    void buildUi();
    void wire();
    void search(const QString& words);
    void choose();
    void showChosen();
    void follow(const QUrl& link);
    void scrollTo(const QString& anchor);
    void space();

    const Manual m_manual;
    QLineEdit* m_search;
    QListWidget* m_list; ///< of topics, or of paragraphs that were found
    QTextBrowser* m_page;
    QString m_topic; ///< the one that the page shows
};

} // namespace rm
