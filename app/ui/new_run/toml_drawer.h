// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/widgets/card.h"

class QLabel;

namespace rm {

class ElidedLabel;
class NumberedText;

/// The run spec as the file that it is, over the right side of the page.
class TomlDrawer : public Card {
    Q_OBJECT
public:
    explicit TomlDrawer(QWidget* page);

    QString text() const;
    void setText(const QString& toml); ///< forgets what could be undone
    /// Changes only what differs, without a signal, so that it can be undone and the view does not
    /// scroll.
    void amend(const QString& toml);
    /// Why the text cannot be read, empty: it can; the lines that it names are marked.
    void setProblem(const QString& problem);
    void setReadOnly(bool readOnly);

Q_SIGNALS:
    void edited();
    void closeRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    ElidedLabel* m_hint; ///< whether the form follows
    NumberedText* m_text;
    QLabel* m_problem;
};

} // namespace rm
